package jobmaster

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// TestNonsense gives a JobMaster events at random, most of them wrong: nothing panics, no commit comes before
// every subtask has finished, at most one end comes and nothing after it.
func TestNonsense(t *testing.T) {
	ends := map[rpc.JobState]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		g := bigGraph(1+r.IntN(3), 1+r.IntN(3))
		if r.IntN(3) == 0 {
			g.Edges[0].Blocking = false
		}
		j := New(Config{Leader: "l", Job: "j", Graph: g, Seed: seed})
		n := &nonsense{t: t, r: r, j: j}
		n.step(Started{})
		for range 300 {
			n.step(n.event())
		}
		if n.ended {
			ends[j.Snapshot().State]++
		}
	}
	if len(ends) == 0 {
		t.Error("no job ever ended")
	}
}

type nonsense struct {
	t     *testing.T
	r     *rand.Rand
	j     *JobMaster
	now   int64
	ended bool
	timer []string
}

func (n *nonsense) step(ev rpc.Event) {
	n.now += n.r.Int64N(100)
	for _, c := range n.j.Step(n.now, ev) {
		if n.ended {
			n.t.Fatalf("%T after the end", c)
		}
		switch c := c.(type) {
		case Finished:
			n.ended = true
		case rpc.StartTimer:
			n.timer = append(n.timer, c.ID)
		case Commit:
			for i := range n.j.exec.Vertices {
				if !n.j.exec.Vertices[i].Finished() {
					n.t.Fatal("a commit before all subtasks finished")
				}
			}
		}
	}
}

func (n *nonsense) task() (rpc.TaskID, rpc.Address) {
	id := rpc.TaskID{Job: "j", Vertex: []string{"a", "b", "c"}[n.r.IntN(20)%3], Subtask: n.r.IntN(5) - 1}
	a := n.j.exec.Attempt(n.j.exec.Index(id.Vertex), id.Subtask)
	if a == nil {
		return id, "taskmanager/t0"
	}
	id.Attempt = a.Number
	if n.r.IntN(8) == 0 {
		id.Attempt += n.r.IntN(3) - 1
	}
	if n.r.IntN(15) == 0 {
		return id, "taskmanager/elsewhere"
	}
	return id, rpc.TaskManager(a.Slot.TaskManager)
}

func (n *nonsense) event() rpc.Event {
	id, from := n.task()
	result := exchange.ResultID{Job: "j", Edge: []string{"a-b", "x"}[n.r.IntN(2)], Producer: n.r.IntN(4) - 1, Attempt: n.r.IntN(3)}
	tm := fmt.Sprintf("t%d", n.r.IntN(3))
	cause := []failure.Cause{{Class: "Internal", Message: "m"}}
	say := func(from rpc.Address, m rpc.Message) rpc.Event {
		return rpc.Received{Envelope: rpc.Envelope{From: from, Leader: "l", Body: m}}
	}
	switch k := n.r.IntN(40); {
	case k < 3:
		return SplitsFound{Vertex: id.Vertex, Done: n.r.IntN(2) == 0, Splits: []connectors.Split{{ID: fmt.Sprint(n.r.IntN(9)), Order: [2]int64{1, n.r.Int64N(9)}}}}
	case k == 3:
		return DiscoverFailed{Vertex: id.Vertex}
	case k < 8:
		return say(rpc.ResourceManager, rpc.SlotsGranted{Job: "j", Slots: []rpc.SlotID{{TaskManager: tm, Index: n.r.IntN(4)}}})
	case k < 12:
		return say(from, rpc.RequestSplit{Task: id, Done: []string{fmt.Sprint(n.r.IntN(9)), "x"}})
	case k < 26:
		states := []rpc.TaskState{rpc.Initializing, rpc.Running, rpc.Finished, rpc.Finished, rpc.Finished, rpc.Finished, rpc.Canceled, "ASLEEP", rpc.Scheduled}
		return say(from, rpc.TaskUpdate{Task: id, State: states[n.r.IntN(len(states))], Results: []rpc.ResultInfo{{ID: result, Bytes: make([]int64, n.r.IntN(9))}}})
	case k == 26:
		f := &rpc.TaskFailure{Causes: cause, HasOrder: n.r.IntN(2) == 0, Order: [3]int64{1, n.r.Int64N(9), 0}, Key: []string{"", "k"}[n.r.IntN(2)]}
		if n.r.IntN(3) == 0 {
			f.Lost = &result
		}
		return say(from, rpc.TaskUpdate{Task: id, State: rpc.Failed, Failure: f})
	case k == 27 && n.r.IntN(3) == 0:
		return say(rpc.ResourceManager, rpc.TaskManagerLost{TaskManager: tm})
	case k == 28:
		return say(rpc.ResourceManager, rpc.SlotsWanted{Job: "j", Share: n.r.IntN(3)})
	case k == 29 && n.r.IntN(10) == 0:
		return say(rpc.Dispatcher, rpc.CancelJob{Job: "j"})
	case k < 33:
		return Committed{Causes: cause[:n.r.IntN(2)]}
	case k < 35:
		return SinksAborted{}
	case k < 37 && len(n.timer) > 0:
		return rpc.TimerFired{ID: n.timer[n.r.IntN(len(n.timer))]}
	case k == 38:
		return say(from, rpc.TaskProgress{Tasks: []rpc.TaskMetricsOf{{Task: id}}})
	}
	return Started{}
}
