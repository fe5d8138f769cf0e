package sim

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A task is a simulated attempt: rows are ids that it passes on as they are.
type task struct {
	m      *manager
	j      *Job
	d      rpc.DeployTask
	id     rpc.TaskID
	over   bool
	rows   []string
	perIn  map[string]int64 // rows read by edge
	files  map[string]*connectors.Tally
	splits int
}

const rowBytes = 10

func (t *task) start() {
	t.perIn, t.files = map[string]int64{}, map[string]*connectors.Tally{}
	for _, in := range t.d.Inputs {
		for _, c := range in.Channels {
			t.checkReady(c)
			t.connect(c)
		}
	}
	w := t.m.w
	t.m.whenAwake(t, w.between(0, 20), func() {
		t.update(rpc.TaskUpdate{State: rpc.Initializing})
		t.m.whenAwake(t, w.between(0, 50), func() {
			t.update(rpc.TaskUpdate{State: rpc.Running})
			if w.chance(w.faults.TaskFails) {
				t.m.whenAwake(t, w.between(0, 2000), func() {
					t.fail(rpc.TaskFailure{}, failure.ConnectionError, "the connection was reset")
				})
			}
			if t.d.Operators[0].Kind == jobgraph.SourceOp {
				t.request(nil)
				return
			}
			t.m.whenAwake(t, w.between(1, 500), func() { t.read(0) })
		})
	})
}

// checkReady holds that a consumer does not start before its blocking producers have finished.
func (t *task) checkReady(c rpc.InputEdge) {
	if !c.Blocking {
		return
	}
	for _, id := range c.From {
		if !t.j.finished[keyOf(id)] {
			t.m.w.violate("%v starts before %v is finished", t.id, id)
		}
		if r := t.m.w.results[keyOf(id)]; r != nil && r.released && t.current() {
			t.m.w.violate("%v starts after %v was released", t.id, id)
		}
	}
}

func (t *task) update(u rpc.TaskUpdate) {
	u.Task = t.id
	to, w := rpc.JobMaster(t.id.Job), t.m.w
	t.m.send(to, u)
	if w.chance(w.faults.Doubled) {
		t.m.send(to, u)
	}
	if w.chance(w.faults.Late) {
		from := t.m.id
		w.after(w.between(100, 60_000), func() {
			if !t.m.dead && t.m.id == from {
				t.m.send(to, u)
			}
		})
	}
}

func (t *task) request(done []string) {
	t.m.send(rpc.JobMaster(t.id.Job), rpc.RequestSplit{Task: t.id, Done: done})
}

// assigned reads splits one after the other.
func (t *task) assigned(a rpc.AssignSplits) {
	var done []string
	var next func(i int)
	next = func(i int) {
		if i < len(a.Splits) {
			t.m.whenAwake(t, t.m.w.between(1, 300), func() {
				if t.readSplit(a.Splits[i]) {
					done = append(done, a.Splits[i].ID)
					next(i + 1)
				}
			})
			return
		}
		if a.NoMore {
			t.finish()
			return
		}
		if t.partitioned() {
			t.m.w.violate("%v was not given its whole share at once", t.id)
		}
		t.request(done)
	}
	next(0)
}

// readSplit takes the rows of a split, and reports false where a bad one ended the task.
func (t *task) readSplit(s connectors.Split) bool {
	t.splits++
	file := t.j.fileOf[s.ID]
	f := t.files[file]
	if f == nil {
		f = &connectors.Tally{File: file}
		t.files[file] = f
	}
	f.Bytes += s.Bytes
	for n, row := range t.j.rowsOf[s.ID] {
		if t.j.bad[t.id.Vertex][row] {
			t.fail(rpc.TaskFailure{HasOrder: true, Order: [3]int64{s.Order[0], s.Order[1], int64(n)}, Fatal: true},
				failure.CastError, "row "+row+" is bad")
			return false
		}
		t.rows = append(t.rows, row)
		f.Rows++
		f.Read++
	}
	return true
}

// read takes the rows of all inputs; a pipelined one has to be waited for.
func (t *task) read(tries int) {
	t.rows, t.perIn = nil, map[string]int64{}
	for _, in := range t.d.Inputs {
		for _, c := range in.Channels {
			for _, id := range c.From {
				r := t.m.w.results[keyOf(id)]
				if r == nil && !c.Blocking && !t.producerGone(id) && tries < 10_000 {
					t.m.whenAwake(t, 100, func() { t.read(tries + 1) })
					return
				}
				if r == nil || r.released {
					if r != nil && t.current() {
						t.m.w.violate("%v reads %v, which was released", t.id, id)
					}
					t.fail(rpc.TaskFailure{Lost: &id}, failure.PartitionLost, "a result partition is lost")
					return
				}
				for _, rows := range r.rows[c.Lo:c.Hi] {
					t.rows = append(t.rows, rows...)
					t.perIn[c.Edge] += int64(len(rows))
				}
			}
		}
	}
	t.failOnKeys()
}

// failOnKeys fails for the least bad row, if there is one, as an operator behind a shuffle does.
func (t *task) failOnKeys() {
	least := ""
	for _, row := range t.rows {
		if t.j.bad[t.id.Vertex][row] && (least == "" || row < least) {
			least = row
		}
	}
	if least != "" {
		t.fail(rpc.TaskFailure{Key: least, Fatal: true}, failure.Overflow, "key "+least+" overflows")
		return
	}
	t.finish()
}

// current reports whether the JobMaster still counts on the task. One on a TaskManager that was thought
// lost may go on for a while, and reads what it likes.
func (t *task) current() bool {
	m := t.m.w.jm.masters[t.id.Job]
	if m == nil {
		return false
	}
	for _, v := range m.Snapshot().Vertices {
		if v.ID == t.id.Vertex && t.id.Subtask < len(v.Subtasks) {
			s := v.Subtasks[t.id.Subtask]
			return s.Attempt == t.id.Attempt && !s.State.Final() && s.State != rpc.Canceling
		}
	}
	return false
}

func (t *task) producerGone(id exchange.ResultID) bool {
	owner, known := t.j.runsOn[rpc.TaskID{Job: id.Job, Vertex: t.j.edge(id.Edge).From, Subtask: id.Producer, Attempt: id.Attempt}]
	m := t.m.w.managers[string(rpc.TaskManager(owner))]
	return known && (m == nil || m.dead || m.id != owner)
}

func (t *task) fail(f rpc.TaskFailure, class failure.Class, message string) {
	f.Causes = []failure.Cause{{Class: string(class), Message: message}}
	t.end(rpc.TaskUpdate{State: rpc.Failed, Failure: &f})
}

// finish writes the results and says so. What flows can be written only once all its consumers are there.
func (t *task) finish() {
	if t.d.Streaming && !t.consumed() {
		t.m.whenAwake(t, 100, t.finish)
		return
	}
	u := rpc.TaskUpdate{State: rpc.Finished, Metrics: t.metrics()}
	for _, o := range t.d.Outputs {
		rows := make([][]string, o.Subpartitions)
		start := t.m.w.random.IntN(o.Subpartitions)
		for i, row := range t.rows {
			sub := 0
			switch o.Edge.Exchange {
			case jobgraph.HashBy:
				h := fnv.New32a()
				h.Write([]byte(row))
				sub = int(h.Sum32()) % o.Subpartitions
			case jobgraph.Rebalance:
				sub = (start + i) % o.Subpartitions
			case jobgraph.Broadcast:
				for other := 1; other < o.Subpartitions; other++ {
					rows[other] = append(rows[other], row) // what flows goes to each consumer by itself
				}
			case jobgraph.Forward, jobgraph.Global:
			}
			rows[sub] = append(rows[sub], row)
		}
		id := exchange.ResultID{Job: t.id.Job, Edge: o.Edge.ID, Producer: t.id.Subtask, Attempt: t.id.Attempt}
		t.m.w.results[keyOf(id)] = &result{owner: t.m.id, rows: rows}
		t.m.results[keyOf(id)] = true
		t.j.finished[keyOf(id)] = true
		info := rpc.ResultInfo{ID: id}
		for _, r := range rows {
			info.Bytes = append(info.Bytes, int64(len(r))*rowBytes)
			info.Rows = append(info.Rows, int64(len(r)))
		}
		u.Results = append(u.Results, info)
	}
	if last := t.d.Operators[len(t.d.Operators)-1]; last.Kind == jobgraph.SinkOp {
		state, err := json.Marshal(append([]string{}, t.rows...))
		if err != nil {
			t.m.w.violate("%v", err)
		}
		u.Committables = []connectors.Committable{{State: state, Subtask: t.id.Subtask, Rows: int64(len(t.rows))}}
	}
	t.end(u)
}

// metrics are honest books: every operator passes all rows on.
func (t *task) metrics() rpc.TaskMetrics {
	n := int64(len(t.rows))
	x := rpc.TaskMetrics{RecordsIn: n, RecordsOut: n, Splits: t.splits}
	for range t.d.Operators {
		x.Operators = append(x.Operators, rpc.OperatorBooks{In: n, Passed: n, Out: n})
	}
	for e, in := range t.perIn {
		x.Edges = append(x.Edges, rpc.EdgeBooks{Edge: e, In: in})
	}
	for _, o := range t.d.Outputs {
		x.Edges = append(x.Edges, rpc.EdgeBooks{Edge: o.Edge.ID, Out: n})
	}
	for _, f := range t.files {
		x.Files = append(x.Files, *f)
	}
	slices.SortFunc(x.Edges, func(a, b rpc.EdgeBooks) int { return compare(a.Edge, b.Edge) })
	slices.SortFunc(x.Files, func(a, b connectors.Tally) int { return compare(a.File, b.File) })
	return x
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (t *task) end(u rpc.TaskUpdate) {
	if t.over {
		return
	}
	t.over = true
	delete(t.m.tasks, t.id)
	t.update(u)
}

// String names the task.
func (t *task) String() string { return fmt.Sprintf("%v on %s", t.id, t.m.id) }
