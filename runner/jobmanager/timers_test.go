package jobmanager

import (
	"testing"
	"time"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A stream starts timers for as long as it runs: none is kept that has fired, and none of a job that has ended.
func TestTimersGo(t *testing.T) {
	jm := &JobManager{
		cfg: Config{Now: time.Now}, queue: newQueue(), timers: map[timerKey]*time.Timer{}, jobs: map[string]*job{},
		waiting: map[string]chan jobmaster.Snapshot{},
	}
	at := rpc.JobMaster("j")
	jm.jobs["j"] = &job{master: jobmaster.New(jobmaster.Config{Job: "j", Graph: &jobgraph.Graph{}}), stop: func() {}}
	far := time.Now().Add(time.Hour).UnixMilli()
	jm.startTimer(at, rpc.StartTimer{ID: "j/barrier/1", AtMs: far})
	jm.startTimer(at, rpc.StartTimer{ID: "j/barrier/2", AtMs: far})
	jm.startTimer(rpc.ResourceManager, rpc.StartTimer{ID: "heartbeat", AtMs: far})
	jm.step(step{at, rpc.TimerFired{ID: "j/barrier/1"}})
	if len(jm.timers) != 2 {
		t.Errorf("%d timers are kept", len(jm.timers))
	}
	jm.finished(jobmaster.Snapshot{Job: "j", State: rpc.JobFinished})
	if len(jm.timers) != 1 || jm.timers[timerKey{rpc.ResourceManager, "heartbeat"}] == nil {
		t.Errorf("%d timers are kept after the job", len(jm.timers))
	}
	jm.timers[timerKey{rpc.ResourceManager, "heartbeat"}].Stop()
}
