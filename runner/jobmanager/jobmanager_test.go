package jobmanager

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newTest(t *testing.T, send func(rpc.Envelope)) *JobManager {
	jm := New(Config{Leader: "l", Send: send, Now: time.Now, HeartbeatTimeoutMs: -1})
	t.Cleanup(jm.Close)
	return jm
}

func submit(jm *JobManager, g jobgraph.Graph) <-chan jobmaster.Snapshot {
	done := jm.Wait("j")
	jm.Deliver(rpc.Envelope{From: "client", To: rpc.Dispatcher, Leader: "l", Body: rpc.SubmitJob{Job: "j", Run: "r", Graph: g}})
	return done
}

// A job whose source nobody knows fails with the reason; messages of another leader are dropped.
func TestUnknownSource(t *testing.T) {
	jm := newTest(t, func(rpc.Envelope) {})
	done := submit(jm, jobgraph.Graph{Name: "g", Mode: "batch", Vertices: []jobgraph.Vertex{{
		ID: "v", Name: "Source: s[1]", SharingGroup: "default",
		Operators: []jobgraph.Operator{{Kind: jobgraph.SourceOp, ID: 1, Label: "Source: s[1]", Node: "s", Component: "nowhere", Source: &jobgraph.Source{}}},
	}}})
	jm.Deliver(rpc.Envelope{From: "tm", To: rpc.ResourceManager, Leader: "another", Body: rpc.RegisterTaskManager{ID: "x", Slots: 1}})
	jm.Deliver(rpc.Envelope{From: "tm", To: rpc.ResourceManager, Leader: "l", Body: rpc.RegisterTaskManager{ID: "tm", Slots: 1}})
	s := <-done
	if s.State != rpc.JobFailed || s.Failure == nil || s.Failure.RootCause == nil || s.Failure.RootCause.Message != "there is no source nowhere" {
		t.Errorf("%s %+v", s.State, s.Failure)
	}
}

// A machine that panics ends its jobs with a reason, not the process.
func TestBrokenMachine(t *testing.T) {
	jm := newTest(t, func(e rpc.Envelope) {
		if _, ok := e.Body.(rpc.TaskManagerRegistered); ok {
			panic("a fault while a command is carried out")
		}
	})
	done := submit(jm, jobgraph.Graph{Name: "g", Mode: "batch", Vertices: []jobgraph.Vertex{{
		ID: "v", Name: "Values[1]", SharingGroup: "default", Operators: []jobgraph.Operator{{Kind: jobgraph.TransformOp, ID: 1, Label: "Values[1]"}},
	}}})
	if s, ok := jm.Snapshot("j"); !ok || s.Job != "j" {
		t.Errorf("%v %+v", ok, s)
	}
	jm.Deliver(rpc.Envelope{From: "tm", To: rpc.ResourceManager, Leader: "l", Body: rpc.RegisterTaskManager{ID: "tm", Slots: 1}})
	s := <-done
	if s.State != rpc.JobFailed || s.Failure == nil || s.Failure.RootCause.Class != "Internal" {
		t.Errorf("%s %+v", s.State, s.Failure)
	}
	if _, ok := jm.Snapshot("j"); ok {
		t.Error("the job is still there")
	}
}

// The queue keeps its order and ends.
func TestQueue(t *testing.T) {
	q := newQueue()
	for i := range 100 {
		q.put(step{at: rpc.Address(rune('a' + i%26))})
	}
	for i := range 100 {
		if s, ok := q.take(); !ok || s.at != rpc.Address(rune('a'+i%26)) {
			t.Fatalf("%d: %v %v", i, s, ok)
		}
	}
	q.close()
	q.put(step{})
	if _, ok := q.take(); ok {
		t.Error("a closed queue gave something")
	}
}
