package sim

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "replay one seed; 0 runs many")
	traceFlag = flag.Bool("trace", false, "print every message")
)

// seeds are those to run: one with -seed, as many as RUNNER_SIM_SEEDS says, else a few hundred.
func seeds(t *testing.T, ordinary int) (from, to uint64) {
	if *seedFlag != 0 {
		return *seedFlag, *seedFlag + 1
	}
	if text := os.Getenv("RUNNER_SIM_SEEDS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("RUNNER_SIM_SEEDS: %v", err)
		}
		return 1, n + 1
	}
	return 1, uint64(ordinary) + 1
}

func tracer(t *testing.T) func(string) {
	if !*traceFlag {
		return nil
	}
	return func(s string) { t.Log(s) }
}

// TestHappy holds that without faults every job finishes, whatever the delays and the number of slots.
func TestHappy(t *testing.T) {
	from, to := seeds(t, 100)
	for seed := from; seed < to; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		s := Setup{Schedule: seed, Managers: 1 + r.IntN(3), Slots: 6 + r.IntN(10), Trace: tracer(t)}
		if seed%3 == 0 {
			s.Slots += 36 // streams need slots for all their vertices, up to 12 for each of three jobs
		}
		for i := range 1 + r.IntN(3) {
			s.Jobs = append(s.Jobs, NewJob(fmt.Sprintf("job%d", i), seed*10+uint64(i), Shape{Streaming: seed%3 == 0}))
		}
		results, err := Run(s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for id, res := range results {
			if res.State != rpc.JobFinished {
				t.Fatalf("seed %d: job %s ended %s: %+v", seed, id, res.State, res.Failure)
			}
			if res.Anomalies.Illegal+res.Anomalies.Late > 0 {
				t.Fatalf("seed %d: job %s: %+v", seed, id, res.Anomalies)
			}
		}
	}
}

// TestFaults holds safety and liveness under everything that can go wrong.
func TestFaults(t *testing.T) {
	from, to := seeds(t, 300)
	ends := map[rpc.JobState]int{}
	for seed := from; seed < to; seed++ {
		r := rand.New(rand.NewPCG(seed, 4))
		s := Setup{Schedule: seed, Managers: 1 + r.IntN(3), Slots: 1 + r.IntN(6), Trace: tracer(t), Faults: Faults{
			TaskFails: r.IntN(60), Doubled: r.IntN(100), Late: r.IntN(100), Kill: r.IntN(60), Hang: r.IntN(60), Drop: r.IntN(60),
			CommitFails: r.IntN(300), MaxDelayMs: r.Int64N(400), Until: 120_000,
		}}
		for i := range 1 + r.IntN(3) {
			shape := Shape{Pipelined: r.IntN(2) == 0, Streaming: r.IntN(3) == 0, Bad: r.IntN(3), Discover: r.IntN(20)}
			if r.IntN(4) > 0 {
				shape.Restart = "fixed-delay"
				shape.Options = []string{"restart-strategy.fixed-delay.attempts", strconv.Itoa(r.IntN(30)), "restart-strategy.fixed-delay.delay", "200 ms"}
			}
			j := NewJob(fmt.Sprintf("job%d", i), seed*10+uint64(i), shape)
			if r.IntN(6) == 0 {
				j.cancelMs = r.Int64N(5000)
			}
			s.Jobs = append(s.Jobs, j)
		}
		results, err := Run(s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, res := range results {
			ends[res.State]++
		}
	}
	t.Logf("jobs ended: %v", ends)
	if *seedFlag == 0 && (ends[rpc.JobFinished] == 0 || ends[rpc.JobFailed] == 0 || ends[rpc.JobCanceled] == 0) {
		t.Errorf("the seeds do not reach every end: %v", ends)
	}
}

// TestSameRootCause holds that the same data failures give the same root cause, whatever the schedule, the
// slots and the parallelism.
func TestSameRootCause(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("streaming=%v", streaming), func(t *testing.T) { sameRootCause(t, streaming) })
	}
}

// sameRootCause runs jobs under several schedules. A stream needs slots for all of it.
func sameRootCause(t *testing.T, streaming bool) {
	from, to := seeds(t, 100)
	failed := 0
	for seed := from; seed < to; seed++ {
		want := ""
		for k := range uint64(6) {
			r := rand.New(rand.NewPCG(seed*100+k, 5))
			shape := Shape{Bad: 1 + int(seed%40), Discover: int(seed % 7 * 20), Default: 1 + r.IntN(6), Streaming: streaming}
			job := NewJob("job", seed, shape)
			slots := 1 + r.IntN(8)
			if streaming {
				slots += 12
			}
			results, err := Run(Setup{
				Schedule: seed*100 + k, Managers: 1 + r.IntN(2), Slots: slots, Jobs: []*Job{job},
				Faults: Faults{MaxDelayMs: 1 + r.Int64N(300)}, Trace: tracer(t),
			})
			if err != nil {
				t.Fatalf("seed %d, schedule %d: %v", seed, k, err)
			}
			got := causeOf(t, results["job"])
			if k == 0 {
				want = got
			} else if got != want {
				t.Fatalf("seed %d, schedule %d: %s, first it was %s\n%s", seed, k, got, want, job)
			}
		}
		if want != string(rpc.JobFinished) {
			failed++
		}
	}
	if *seedFlag == 0 && failed == 0 {
		t.Error("no job failed")
	}
}

// causeOf is the state and the root cause of a job.
func causeOf(t *testing.T, s *jobmaster.Snapshot) string {
	if s.Failure == nil || s.Failure.RootCause == nil {
		return string(s.State)
	}
	c := *s.Failure.RootCause
	c.Task, c.TaskManager = "", "" // which of how many subtasks is a matter of the parallelism
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(s.State) + " " + string(b)
}
