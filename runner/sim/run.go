package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Setup is a cluster and the jobs it runs.
type Setup struct {
	Schedule uint64 // seed of everything but graphs and data
	Managers int
	Slots    int
	Faults   Faults
	Jobs     []*Job
	Trace    func(string) // told every message, where set
}

// limitMs is the virtual time in which every job must have ended.
const limitMs = 4 * 3_600_000

// Run simulates a setup. The error lists what was violated.
func Run(s Setup) (map[string]*jobmaster.Snapshot, error) {
	if s.Faults.MaxDelayMs == 0 {
		s.Faults.MaxDelayMs = 30
	}
	w := &World{
		random: rand.New(rand.NewPCG(s.Schedule, 2)), faults: s.Faults, managers: map[string]*manager{},
		lastMs: map[pair]int64{}, results: map[resultKey]*result{}, trace: s.Trace,
	}
	w.jm = newJobManager(w)
	for range s.Managers {
		w.after(w.between(0, 1000), func() { w.addManager(s.Slots) })
	}
	for _, j := range s.Jobs {
		w.jm.jobs[j.ID] = j
		at := w.between(0, 500)
		w.after(at, func() { w.client(rpc.SubmitJob{Job: j.ID, Run: "run-" + j.ID, Graph: j.Graph}) })
		if j.cancelMs > 0 {
			w.after(at+j.cancelMs, func() { w.client(rpc.CancelJob{Job: j.ID}) })
		}
	}
	if !w.run(limitMs, w.jm.ended) && len(w.faulty) == 0 {
		w.violate("not all jobs ended: %s", w.stuck())
	}
	if len(w.faulty) == 0 {
		w.quiet()
	}
	results := map[string]*jobmaster.Snapshot{}
	for _, id := range w.jm.ids() {
		results[id] = w.jm.jobs[id].result
	}
	if len(w.faulty) > 0 {
		return results, fmt.Errorf("%s", strings.Join(w.faulty, "\n"))
	}
	return results, nil
}

func (w *World) client(m rpc.Message) {
	w.post(rpc.Envelope{From: "client/1", To: rpc.Dispatcher, Leader: leader, Body: m})
}

// stuck says how the jobs that have not ended look.
func (w *World) stuck() string {
	var b strings.Builder
	for _, id := range w.jm.ids() {
		m := w.jm.masters[id]
		if m == nil {
			continue
		}
		s := m.Snapshot()
		fmt.Fprintf(&b, "%s is %s;", id, s.State)
		for _, v := range s.Vertices {
			fmt.Fprintf(&b, " %s:", v.Name)
			for _, t := range v.Subtasks {
				fmt.Fprintf(&b, " %s/%d", t.State, t.Attempt)
			}
		}
	}
	return b.String()
}

// quiet lets messages arrive and checks that the ended jobs left nothing behind: no slot, no task, no
// result partition on a TaskManager that is well.
func (w *World) quiet() {
	w.faults = Faults{MaxDelayMs: w.faults.MaxDelayMs}
	w.run(w.now+400_000, func() bool { return false })
	if r := w.jm.resources; r.Free() != r.Total() {
		w.violate("all jobs ended, and only %d of %d slots are free", r.Free(), r.Total())
	}
	for _, s := range w.jm.dispatcher.Jobs() {
		if j := w.jm.jobs[s.Job]; j.result != nil && j.result.State != s.State {
			w.violate("the Dispatcher holds %s for %s, which ended %s", s.State, s.Job, j.result.State)
		}
	}
	for _, m := range w.alive {
		if m.dead {
			continue
		}
		for id := range m.tasks {
			w.violate("%v still runs on %s", id, m.id)
		}
		for k := range m.results {
			w.violate("result %v is still on %s", k, m.id)
		}
	}
}
