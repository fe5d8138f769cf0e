package dispatcher

import (
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

func send(d *Dispatcher, now int64, m rpc.Message) []rpc.Command {
	return d.Step(now, rpc.Received{Envelope: rpc.Envelope{From: "client/1", To: rpc.Dispatcher, Leader: "l", Body: m}})
}

func submit(d *Dispatcher, job string) []rpc.Command {
	return send(d, 1, rpc.SubmitJob{Job: job, Run: "r", Graph: jobgraph.Graph{Name: "n", Vertices: make([]jobgraph.Vertex, 1)}})
}

// body is the message of the only Send among commands.
func body(t *testing.T, cs []rpc.Command) rpc.Message {
	t.Helper()
	var m rpc.Message
	for _, c := range cs {
		if s, ok := c.(rpc.Send); ok {
			if m != nil {
				t.Fatalf("two messages: %v", cs)
			}
			m = s.Envelope.Body
		}
	}
	return m
}

func TestSubmitAndCancel(t *testing.T) {
	d := New(Config{Leader: "l"})
	cs := submit(d, "a")
	if start, ok := cs[0].(StartJobMaster); !ok || start.Job != "a" || start.Run != "r" || len(start.Graph.Vertices) != 1 {
		t.Fatalf("no JobMaster is started: %v", cs)
	}
	if r := body(t, cs).(rpc.SubmitResult); r.Refused != "" {
		t.Fatal(r.Refused)
	}
	if r := body(t, submit(d, "a")).(rpc.SubmitResult); !strings.Contains(r.Refused, "submitted before") {
		t.Errorf("a job is taken twice: %v", r)
	}
	if r := body(t, submit(d, "")).(rpc.SubmitResult); !strings.Contains(r.Refused, "no id") {
		t.Errorf("a job without an id is taken: %v", r)
	}
	if r := body(t, send(d, 1, rpc.SubmitJob{Job: "b"})).(rpc.SubmitResult); !strings.Contains(r.Refused, "no vertices") {
		t.Errorf("an empty graph is taken: %v", r)
	}
	cs = send(d, 2, rpc.CancelJob{Job: "a"})
	if s := cs[0].(rpc.Send); s.Envelope.To != "jobmaster/a" || s.Envelope.Leader != "l" {
		t.Errorf("the cancellation went to %s", s.Envelope.To)
	}
	if cs := send(d, 2, rpc.CancelJob{Job: "none"}); len(cs) != 0 {
		t.Errorf("a job that is not there is cancelled: %v", cs)
	}
	send(d, 3, rpc.JobStatus{Job: "a", Name: "n", State: rpc.JobFailed, AtMs: 3, Failure: &failure.Failure{Headline: "h"}})
	send(d, 4, rpc.JobStatus{Job: "a", State: rpc.JobRunning, AtMs: 4})
	send(d, 4, rpc.JobStatus{Job: "none", State: rpc.JobRunning, AtMs: 4})
	l := body(t, send(d, 5, rpc.ListJobs{})).(rpc.JobList)
	if len(l.Jobs) != 1 || l.Jobs[0].State != rpc.JobFailed || l.Jobs[0].StartMs != 1 || l.Jobs[0].Failure.Headline != "h" {
		t.Errorf("a final state did not stay: %+v", l.Jobs)
	}
	if cs := send(d, 6, rpc.CancelJob{Job: "a"}); len(cs) != 0 {
		t.Errorf("an ended job is cancelled: %v", cs)
	}
}

func TestOtherLeaderIsDropped(t *testing.T) {
	d := New(Config{Leader: "l"})
	e := rpc.Envelope{From: "client/1", To: rpc.Dispatcher, Leader: "old", Body: rpc.ListJobs{}}
	if cs := d.Step(1, rpc.Received{Envelope: e}); len(cs) != 0 {
		t.Errorf("a message to another leader is answered: %v", cs)
	}
	if cs := d.Step(1, rpc.TimerFired{}); len(cs) != 0 {
		t.Errorf("a timer is answered: %v", cs)
	}
}

func TestKeepsTheLatestEndedJobs(t *testing.T) {
	d := New(Config{Leader: "l", Keep: 2})
	for _, id := range []string{"a", "b", "c", "d"} {
		submit(d, id)
	}
	for _, id := range []string{"a", "c", "d"} {
		send(d, 2, rpc.JobStatus{Job: id, State: rpc.JobFinished})
	}
	got := ""
	for _, j := range d.Jobs() {
		got += j.Job
	}
	if got != "bcd" {
		t.Errorf("kept %s", got)
	}
	if r := body(t, send(d, 5, rpc.ListJobs{Job: "d"})).(rpc.JobList); len(r.Jobs) != 1 {
		t.Errorf("list of one: %+v", r)
	}
}
