package jobmaster

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// TestScripts runs the scripts of testdata: each command is an event, the output is what the JobMaster
// wants done. `new` takes lines
//
//	option NAME = VALUE
//	vertex ID [node=N] [group=NAME] [sink]
//	file VERTEX BYTES [partitioned] [unbounded]
//	edge FROM TO EXCHANGE [pipelined]
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			return s.run(d)
		})
	})
}

type script struct {
	t      *testing.T
	j      *JobMaster
	now    int64
	end    *Snapshot
	timers map[string]string // the last timer of each kind
}

func (s *script) run(d *datadriven.TestData) string {
	args := make([]string, len(d.CmdArgs))
	for i, a := range d.CmdArgs {
		if args[i] = a.Key; len(a.Vals) > 0 {
			args[i] += "=" + strings.Join(a.Vals, ",")
		}
	}
	rest, pairs := words(strings.Join(args, " "))
	if at := pairs["at"]; at != "" {
		s.now = int64(s.atoi(at))
	}
	switch d.Cmd {
	case "new":
		s.build(d, pairs)
		return "ok\n"
	case "start":
		return s.step(Started{})
	case "splits":
		return s.step(s.splits(rest))
	case "not-found":
		return s.step(DiscoverFailed{Vertex: rest[0], Causes: causes("MissingFile", strings.Join(rest[1:], " "))})
	case "grant":
		return s.receive(rpc.ResourceManager, rpc.SlotsGranted{Job: "j", Slots: s.slots(rest), Total: 4})
	case "share":
		return s.receive(rpc.ResourceManager, rpc.SlotsWanted{Job: "j", Share: s.atoi(rest[0])})
	case "lose":
		return s.receive(rpc.ResourceManager, rpc.TaskManagerLost{TaskManager: rest[0], Reason: "TaskManager with id " + rest[0] + " is no longer reachable."})
	case "request":
		id, from := s.task(rest[0])
		return s.receive(from, rpc.RequestSplit{Task: id, Done: rest[1:]})
	case "running", "finish", "fail", "canceled":
		return s.update(d.Cmd, rest, pairs)
	case "passed":
		id, from := s.task(rest[0])
		return s.receive(from, rpc.AcknowledgeBarrier{Task: id, Barrier: int64(s.atoi(rest[1])), AlignedMs: 3})
	case "cancel":
		return s.receive(rpc.Dispatcher, rpc.CancelJob{Job: "j"})
	case "timer":
		return s.step(rpc.TimerFired{ID: s.timers[rest[0]]})
	case "committed":
		if len(rest) > 0 {
			return s.step(Committed{Causes: causes("DiskFull", strings.Join(rest, " "))})
		}
		return s.step(Committed{Files: map[string][]string{"b": {"out/part-0"}}})
	case "aborted":
		return s.step(SinksAborted{})
	case "snapshot":
		return s.snapshot()
	case "failure":
		return s.failure()
	}
	s.t.Fatalf("unknown command %q", d.Cmd)
	return ""
}

func words(line string) (plain []string, pairs map[string]string) {
	pairs = map[string]string{}
	for _, w := range strings.Fields(line) {
		if k, v, ok := strings.Cut(w, "="); ok && k != "" {
			pairs[k] = v
			continue
		}
		plain = append(plain, w)
	}
	return plain, pairs
}

func (s *script) atoi(text string) int {
	s.t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func causes(class, message string) []failure.Cause {
	return []failure.Cause{{Class: class, Message: message}}
}

func (s *script) build(d *datadriven.TestData, args map[string]string) {
	g := &jobgraph.Graph{Name: "job", Mode: args["mode"]}
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		plain, pairs := words(line)
		switch plain[0] {
		case "option":
			g.Options = append(g.Options, jobgraph.Option{Name: plain[1], Value: strings.Join(plain[3:], " "), Source: "plan"})
		case "vertex":
			v := jobgraph.Vertex{ID: plain[1], Name: strings.ToUpper(plain[1]), SharingGroup: "default"}
			if pairs["group"] != "" {
				v.SharingGroup = pairs["group"]
			}
			if n := pairs["node"]; n != "" {
				v.Parallelism = jobgraph.Request{Value: s.atoi(n), Origin: "node"}
			}
			v.Operators = []jobgraph.Operator{{Kind: jobgraph.TransformOp, Label: "Op: " + plain[1]}}
			if plain[len(plain)-1] == "sink" {
				v.Operators[0] = jobgraph.Operator{Kind: jobgraph.SinkOp, Label: "Sink: " + plain[1], Node: plain[1]}
			}
			g.Vertices = append(g.Vertices, v)
		case "file":
			op := &g.Vertex(plain[1]).Operators[0]
			if op.Source == nil {
				op.Kind, op.Source, op.Label, op.Node = jobgraph.SourceOp, &jobgraph.Source{}, "Source: "+plain[1], plain[1]
			}
			for _, w := range plain[3:] {
				op.Source.Partitioned = true
				op.Source.Unbounded = op.Source.Unbounded || w == "unbounded"
			}
			op.Source.Inv.Files = append(op.Source.Inv.Files, connectors.File{Path: plain[1] + ".csv", Bytes: int64(s.atoi(plain[2])), Rows: -1, Splittable: true})
		case "edge":
			g.Edges = append(g.Edges, jobgraph.Edge{
				ID: plain[1] + "-" + plain[2], From: plain[1], To: plain[2], Exchange: jobgraph.ExchangeKind(plain[3]),
				Blocking: plain[len(plain)-1] != "pipelined",
			})
		}
	}
	fixed := 0
	if n := args["fixed-slots"]; n != "" {
		fixed = s.atoi(n)
	}
	s.now, s.end, s.timers = 0, nil, map[string]string{}
	s.j = New(Config{Leader: "l", Job: "j", Run: "r", Graph: g, FixedSlots: fixed})
}

// splits: VERTEX FILE:OFFSET … [done]
func (s *script) splits(rest []string) SplitsFound {
	e := SplitsFound{Vertex: rest[0]}
	for _, id := range rest[1:] {
		if id == "done" {
			e.Done = true
			continue
		}
		f, o, _ := strings.Cut(id, ":")
		e.Splits = append(e.Splits, connectors.Split{ID: id, Order: [2]int64{int64(s.atoi(f)), int64(s.atoi(o))}, Bytes: 4 << 20})
	}
	return e
}

func (s *script) slots(names []string) []rpc.SlotID {
	var ids []rpc.SlotID
	for _, n := range names {
		tm, i, _ := strings.Cut(n, "/")
		ids = append(ids, rpc.SlotID{TaskManager: tm, Index: s.atoi(i)})
	}
	return ids
}

// task: VERTEX/SUBTASK[#ATTEMPT], with the address of the TaskManager it runs on.
func (s *script) task(text string) (rpc.TaskID, rpc.Address) {
	v, rest, _ := strings.Cut(text, "/")
	n, attempt, given := strings.Cut(rest, "#")
	id := rpc.TaskID{Job: "j", Vertex: v, Subtask: s.atoi(n)}
	a := s.j.exec.Attempt(s.j.exec.Index(v), id.Subtask)
	if a == nil {
		return id, "taskmanager/none"
	}
	if id.Attempt = a.Number; given {
		id.Attempt = s.atoi(attempt)
	}
	return id, rpc.TaskManager(a.Slot.TaskManager)
}

// update: finish TASK [bytes=N] [in=N] [out=N], fail TASK [order=F:O:R] [key=K] [lost=EDGE/N] TEXT…
func (s *script) update(cmd string, rest []string, pairs map[string]string) string {
	id, from := s.task(rest[0])
	if tm := pairs["from"]; tm != "" {
		from = rpc.TaskManager(tm)
	}
	u := rpc.TaskUpdate{Task: id, State: map[string]rpc.TaskState{
		"running": rpc.Running, "finish": rpc.Finished, "fail": rpc.Failed, "canceled": rpc.Canceled,
	}[cmd]}
	v := s.j.graph.Vertex(id.Vertex)
	if cmd == "finish" && v != nil {
		s.finished(&u, v, pairs)
	}
	if cmd == "fail" {
		u.Failure = &rpc.TaskFailure{Causes: causes("CastError", strings.Join(rest[1:], " "))}
		u.Failure.Key = pairs["key"]
		if o := pairs["order"]; o != "" {
			u.Failure.HasOrder = true
			for i, p := range strings.Split(o, ":") {
				u.Failure.Order[i] = int64(s.atoi(p))
			}
		}
		if l := pairs["lost"]; l != "" {
			e, n, _ := strings.Cut(l, "/")
			u.Failure.Lost = &exchange.ResultID{Job: "j", Edge: e, Producer: s.atoi(n)}
		}
		if len(rest) == 1 {
			u.Failure = nil
		}
	}
	return s.receive(from, u)
}

func (s *script) finished(u *rpc.TaskUpdate, v *jobgraph.Vertex, pairs map[string]string) {
	num := func(key string) int64 {
		if pairs[key] == "" {
			return 0
		}
		return int64(s.atoi(pairs[key]))
	}
	for _, e := range s.j.graph.Out(v.ID) {
		info := rpc.ResultInfo{ID: exchange.ResultID{Job: "j", Edge: e.ID, Producer: u.Task.Subtask, Attempt: u.Task.Attempt}}
		subs := s.j.decider.Subpartitions(e)
		for range subs {
			info.Bytes = append(info.Bytes, num("bytes")/int64(subs))
		}
		u.Results = append(u.Results, info)
		u.Metrics.Edges = append(u.Metrics.Edges, rpc.EdgeBooks{Edge: e.ID, Out: num("out")})
	}
	for _, e := range s.j.graph.In(v.ID) {
		u.Metrics.Edges = append(u.Metrics.Edges, rpc.EdgeBooks{Edge: e.ID, In: num("in")})
	}
	u.Metrics.Operators = []rpc.OperatorBooks{{In: num("out"), Passed: num("out"), Out: num("out")}}
	if src := v.Operators[0].Source; src != nil && u.Task.Subtask == 0 { // one subtask stands for all that read
		for _, f := range src.Inv.Files {
			u.Metrics.Files = append(u.Metrics.Files, connectors.Tally{File: f.Path, Rows: num("out"), Read: num("out"), Bytes: f.Bytes - num("short")})
		}
	}
	if v.Operators[0].Kind == jobgraph.SinkOp {
		u.Metrics.Operators = []rpc.OperatorBooks{{In: num("in"), Absorbed: num("in")}}
		u.Committables = []connectors.Committable{{State: []byte(fmt.Sprintf("%s/%d#%d", v.ID, u.Task.Subtask, u.Task.Attempt)), Subtask: u.Task.Subtask}}
	}
}

func (s *script) receive(from rpc.Address, m rpc.Message) string {
	return s.step(rpc.Received{Envelope: rpc.Envelope{From: from, To: "jobmaster/j", Leader: "l", Body: m}})
}

func (s *script) step(ev rpc.Event) string {
	var b strings.Builder
	for _, c := range s.j.Step(s.now, ev) {
		b.WriteString(s.command(c))
	}
	return b.String()
}

func (s *script) command(c rpc.Command) string {
	switch c := c.(type) {
	case rpc.Send:
		return s.message(c.Envelope)
	case rpc.StartTimer:
		kind := strings.Split(c.ID, "/")[1]
		s.timers[kind] = c.ID
		return fmt.Sprintf("start timer %s at %d\n", kind, c.AtMs)
	case Discover:
		return "discover " + c.Vertex + "\n"
	case StopDiscover:
		return "stop discovering\n"
	case Commit:
		return "commit" + sinksText(c.Sinks) + "\n"
	case AbortSinks:
		return "abort" + sinksText(c.Sinks) + "\n"
	case Finished:
		s.end = &c.Result
		return fmt.Sprintf("ended %s\n", c.Result.State)
	}
	return fmt.Sprintf("%T\n", c)
}

func sinksText(sinks []SinkCommit) string {
	var b strings.Builder
	for _, k := range sinks {
		b.WriteString(" " + k.Vertex + ":")
		for _, c := range k.Committables {
			b.WriteString(" " + string(c.State))
		}
		for _, c := range k.Discarded {
			b.WriteString(" discard " + string(c.State))
		}
	}
	return b.String()
}

func taskText(id rpc.TaskID) string {
	return fmt.Sprintf("%s/%d#%d", id.Vertex, id.Subtask, id.Attempt)
}

func (s *script) message(e rpc.Envelope) string {
	switch m := e.Body.(type) {
	case rpc.DeployTask:
		out := fmt.Sprintf("deploy %s in %s/%d p %d", taskText(m.Task), m.Slot.TaskManager, m.Slot.Index, m.Parallelism)
		for _, g := range m.Inputs {
			for _, c := range g.Channels {
				out += fmt.Sprintf(", reads %s %d..%d of", c.Edge, c.Lo, c.Hi)
				for _, id := range c.From {
					out += fmt.Sprintf(" %d#%d", id.Producer, id.Attempt)
				}
			}
		}
		for _, o := range m.Outputs {
			out += fmt.Sprintf(", writes %s x %d", o.Edge.ID, o.Subpartitions)
		}
		return out + "\n"
	case rpc.CancelTask:
		return "cancel " + taskText(m.Task) + "\n"
	case rpc.AssignSplits:
		out := "give " + taskText(m.Task)
		for _, x := range m.Splits {
			out += " " + x.ID
		}
		if m.NoMore {
			out += " no more"
		}
		return out + "\n"
	case rpc.TriggerBarrier:
		return fmt.Sprintf("barrier %d to %s\n", m.Barrier, taskText(m.Task))
	case rpc.ReleasePartitions:
		out := "release on " + strings.TrimPrefix(string(e.To), "taskmanager/") + ":"
		for _, id := range m.Results {
			out += fmt.Sprintf(" %s/%d#%d", id.Edge, id.Producer, id.Attempt)
		}
		return out + "\n"
	case rpc.DeclareSlots:
		return fmt.Sprintf("declare %d slots\n", m.Needed)
	case rpc.ReleaseSlots:
		out := "give back"
		for _, id := range m.Slots {
			out += fmt.Sprintf(" %s/%d", id.TaskManager, id.Index)
		}
		return out + "\n"
	case rpc.JobStatus:
		return "state " + string(m.State) + "\n"
	}
	return fmt.Sprintf("%T\n", e.Body)
}

func (s *script) snapshot() string {
	x := s.j.Snapshot()
	var b strings.Builder
	fmt.Fprintf(&b, "%s, slots needed %d, available %d, waited %d ms\n", x.State, x.Slots.Needed, x.Slots.Available, x.Slots.WaitedMs)
	for _, w := range x.Slots.Waves {
		fmt.Fprintf(&b, "wave %s: %d slots needed, %d available, %d rounds, waited %d ms\n",
			strings.Join(w.Vertices, ", "), w.Needed, w.Available, w.Rounds, w.WaitedMs)
	}
	for _, v := range x.Vertices {
		fmt.Fprintf(&b, "%s:", v.ID)
		for _, t := range v.Subtasks {
			fmt.Fprintf(&b, " %s#%d", t.State, t.Attempt)
		}
		if v.Decision != nil {
			fmt.Fprintf(&b, " (%s)", v.Decision.Reason)
		}
		b.WriteString("\n")
	}
	for _, r := range x.Restarts {
		fmt.Fprintf(&b, "restart at %d ms, %s, %d tasks: %s\n", r.AtMs, r.Strategy, r.Tasks, r.Cause)
	}
	if k := x.Barriers; k != nil {
		fmt.Fprintf(&b, "barriers: %d triggered, %d passed, %d given up, longest %d ms, alignment %d ms\n", k.Triggered, k.Passed, k.GivenUp, k.LongestMs, k.LongestAlignmentMs)
	}
	if a := x.Anomalies; a.Late+a.Illegal > 0 {
		fmt.Fprintf(&b, "late %d, illegal %d: %s\n", a.Late, a.Illegal, strings.Join(a.Texts, "; "))
	}
	return b.String()
}

func (s *script) failure() string {
	f := s.j.Snapshot().Failure
	if f == nil {
		return "none\n"
	}
	out := fmt.Sprintf("%s: %s\ntask %s on %s\nstrategy %s, suppressed %v, %d restarts: %s\n", f.RootCause.Class, f.RootCause.Message,
		f.Task, f.TaskManager, f.RestartStrategy, f.RecoverySuppressed, f.Restart.Attempts, f.Restart.Text)
	for _, c := range f.Concurrent {
		out += "concurrent " + c.RootCause.Message + "\n"
	}
	return out
}

// TestSnapshotIsJSON holds that a snapshot can be written as it is.
func TestSnapshotIsJSON(t *testing.T) {
	g := bigGraph(2, 2)
	j := New(Config{Leader: "l", Job: "j", Graph: g})
	drive(t, j, g, 4)
	if _, err := json.Marshal(j.Snapshot()); err != nil {
		t.Fatal(err)
	}
}

// bigGraph is a source with a consumer behind a HASH exchange.
func bigGraph(sources, consumers int) *jobgraph.Graph {
	g := &jobgraph.Graph{Name: "big", Vertices: []jobgraph.Vertex{
		{ID: "a", Name: "a", Parallelism: jobgraph.Request{Value: sources, Origin: "node"}, Operators: []jobgraph.Operator{{Kind: jobgraph.SourceOp, Source: &jobgraph.Source{}}}},
		{ID: "b", Name: "b", Parallelism: jobgraph.Request{Value: consumers, Origin: "node"}, Operators: []jobgraph.Operator{{Kind: jobgraph.SinkOp, Sink: &jobgraph.Sink{}}}},
	}}
	g.Edges = []jobgraph.Edge{{ID: "a-b", From: "a", To: "b", Exchange: jobgraph.HashBy, Blocking: true}}
	return g
}

// drive runs a job to its end with TaskManagers that answer at once.
func drive(tb testing.TB, j *JobMaster, g *jobgraph.Graph, slots int) (steps int) {
	tb.Helper()
	volumes := make([]int64, 1)
	queue := []rpc.Event{Started{}}
	have := 0
	reply := func(from string, m rpc.Message) {
		queue = append(queue, rpc.Received{Envelope: rpc.Envelope{From: rpc.Address(from), Leader: "l", Body: m}})
	}
	for len(queue) > 0 {
		ev := queue[0]
		queue = queue[1:]
		steps++
		for _, c := range j.Step(int64(steps), ev) {
			switch c := c.(type) {
			case Discover:
				e := SplitsFound{Vertex: c.Vertex, Done: true}
				for i := range g.Vertices[0].Parallelism.Value {
					e.Splits = append(e.Splits, connectors.Split{ID: strconv.Itoa(i), Order: [2]int64{1, int64(i)}, Bytes: 1 << 20})
				}
				queue = append(queue, e)
			case Commit:
				queue = append(queue, Committed{})
			case AbortSinks:
				queue = append(queue, SinksAborted{})
			case Finished:
				if c.Result.State != rpc.JobFinished {
					tb.Fatalf("the job ended %s: %+v", c.Result.State, c.Result.Failure)
				}
				return steps
			case rpc.Send:
				to := string(c.Envelope.To)
				switch m := c.Envelope.Body.(type) {
				case rpc.DeclareSlots:
					var ids []rpc.SlotID
					for ; have < min(m.Needed, slots); have++ {
						ids = append(ids, rpc.SlotID{TaskManager: "tm", Index: have})
					}
					reply("resourcemanager", rpc.SlotsGranted{Job: "j", Slots: ids, Total: slots})
				case rpc.ReleaseSlots:
					have -= len(m.Slots)
				case rpc.DeployTask:
					if m.Task.Vertex == "a" {
						reply(to, rpc.RequestSplit{Task: m.Task})
						continue
					}
					reply(to, rpc.TaskUpdate{Task: m.Task, State: rpc.Finished})
				case rpc.AssignSplits:
					u := rpc.TaskUpdate{Task: m.Task, State: rpc.Finished}
					u.Results = []rpc.ResultInfo{{ID: exchange.ResultID{Job: "j", Edge: "a-b", Producer: m.Task.Subtask}, Bytes: volumes}}
					if !m.NoMore {
						var done []string
						for _, x := range m.Splits {
							done = append(done, x.ID)
						}
						reply(to, rpc.RequestSplit{Task: m.Task, Done: done})
						continue
					}
					reply(to, u)
				}
			}
		}
	}
	tb.Fatalf("the job did not end: %+v", j.Snapshot().State)
	return steps
}

// BenchmarkTenThousand schedules a job of 10,000 subtasks from its start to its end.
func BenchmarkTenThousand(b *testing.B) {
	for _, slots := range []int{8, 5000} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			for range b.N {
				g := bigGraph(5000, 5000)
				drive(b, New(Config{Leader: "l", Job: "j", Graph: g}), g, slots)
			}
		})
	}
	b.Run("stream", func(b *testing.B) {
		for range b.N {
			g := bigGraph(5000, 5000)
			g.Mode, g.Edges[0].Blocking = jobgraph.ModeStreaming, false
			drive(b, New(Config{Leader: "l", Job: "j", Graph: g}), g, 5000)
		}
	})
}
