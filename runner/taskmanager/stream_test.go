package taskmanager

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

var numbers = expr.SchemaOf(expr.Field{Name: "n", Type: expr.Of(expr.BigInt)})

func number(alloc memory.Allocator, n int64) arrow.Record {
	b := array.NewInt64Builder(alloc)
	defer b.Release()
	b.Append(n)
	a := b.NewArray()
	defer a.Release()
	return column.NewRecord(numbers.Fields, []arrow.Array{a}, 1)
}

// A probe passes rows on, and gives out a row for whatever else it is told: -1 for Flush, -2 for the end of
// its input, and a watermark as it is.
type probe struct{ alloc memory.Allocator }

func (p *probe) Open(t *operators.Task) error { p.alloc = t.Alloc; return nil }
func (p *probe) Process(_ int, b operators.Batch, out operators.Collector) error {
	return out.Emit(b)
}
func (p *probe) give(n int64, out operators.Collector) error {
	out.Count(operators.Released, 1)
	return out.Emit(operators.Batch{Rec: number(p.alloc, n)})
}
func (p *probe) Flush(out operators.Collector) error               { return p.give(-1, out) }
func (p *probe) EndInput(_ int, out operators.Collector) error     { return p.give(-2, out) }
func (p *probe) Watermark(ms int64, out operators.Collector) error { return p.give(ms, out) }
func (p *probe) Close() error                                      { return nil }

// A bench is a TaskManager with one task, whose two inputs and whose output the test holds.
type bench struct {
	t     *testing.T
	alloc *memory.CheckedAllocator
	local *exchange.Local
	tm    *TaskManager
	in    [2]exchange.Writer
	out   exchange.StreamGate
	sent  chan rpc.Message
}

func newBench(t *testing.T, slot int) *bench {
	b := &bench{t: t, alloc: memory.NewCheckedAllocator(memory.DefaultAllocator), sent: make(chan rpc.Message, 100)}
	b.local = exchange.NewLocal(b.alloc, t.TempDir(), 0)
	ops, err := operators.NewCatalog(operators.Erase(operators.Spec[struct{}]{
		Name: "probe", MinInputs: 1, MaxInputs: 1,
		Schema: func(_ struct{}, in []expr.Schema) (expr.Schema, error) { return in[0], nil },
		New:    func(struct{}, []expr.Schema) (operators.Operator, error) { return &probe{}, nil },
	}))
	if err != nil {
		t.Fatal(err)
	}
	b.tm = New(Config{
		ID: "tm", Leader: "l", Slots: 1, ManagedBytes: 1 << 20, SpillDir: t.TempDir(), Catalogs: jobgraph.Catalogs{Operators: ops},
		Exchange: b.local, Alloc: b.alloc, Now: time.Now, Send: func(e rpc.Envelope) { b.sent <- e.Body },
	})
	edge := func(name, from, to string) jobgraph.Edge {
		return jobgraph.Edge{ID: name, From: from, To: to, Exchange: jobgraph.Forward, Schema: numbers}
	}
	d := rpc.DeployTask{
		Task: rpc.TaskID{Job: "j", Vertex: "v"}, Slot: rpc.SlotID{TaskManager: "tm", Index: slot}, Name: "v", Parallelism: 1, MaxParallelism: 128, Streaming: true,
		Operators: []jobgraph.Operator{{Kind: jobgraph.TransformOp, Label: "Probe[1]", Component: "probe", Options: json.RawMessage("{}"), In: []expr.Schema{numbers}, Out: numbers}},
		Outputs:   []rpc.Output{{Edge: edge("o", "v", "w"), Subpartitions: 1, MaxParallelism: 128}},
		Inputs:    []rpc.InputGate{{}},
	}
	for i := range b.in {
		id := exchange.ResultID{Job: "j", Edge: fmt.Sprint(i)}
		if b.in[i], err = b.local.Pipe(t.Context(), id, 1); err != nil {
			t.Fatal(err)
		}
		d.Inputs[0].Channels = append(d.Inputs[0].Channels, rpc.InputEdge{Edge: id.Edge, From: []exchange.ResultID{id}, Hi: 1})
	}
	if b.out, err = b.local.Connect([]exchange.Range{{From: []exchange.ResultID{{Job: "j", Edge: "o"}}, Hi: 1}}); err != nil {
		t.Fatal(err)
	}
	b.tm.Deliver(rpc.Envelope{To: "taskmanager/tm", Leader: "l", Body: d})
	return b
}

func (b *bench) close() {
	b.tm.Close()
	if err := b.out.Close(); err != nil {
		b.t.Error(err)
	}
	if err := b.local.Close(); err != nil {
		b.t.Error(err)
	}
	b.alloc.AssertSize(b.t, 0)
}

func (b *bench) row(in int, n int64) {
	if err := b.in[in].Write(0, number(b.alloc, n)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) say(in int, e exchange.Event) {
	if err := b.in[in].Event(e); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) watermark(in int, ms int64) {
	b.say(in, exchange.Event{Kind: exchange.WatermarkEvent, Time: ms})
}

// gives reads so much of the output as is wanted.
func (b *bench) gives(want ...string) {
	b.t.Helper()
	var got []string
	for len(got) < len(want) {
		_, rec, e, err := b.out.Next(b.t.Context())
		switch {
		case err == io.EOF:
			got = append(got, "EOF")
		case err != nil:
			b.t.Fatal(err)
		case rec != nil:
			for _, n := range rec.Column(0).(*array.Int64).Int64Values() {
				got = append(got, fmt.Sprint(n))
			}
			rec.Release()
		case e.Kind == exchange.WatermarkEvent:
			got = append(got, fmt.Sprintf("w%d", e.Time))
		case e.Kind == exchange.BarrierEvent:
			got = append(got, fmt.Sprintf("b%d", e.Checkpoint))
		default:
			got = append(got, map[exchange.EventKind]string{exchange.IdleEvent: "idle", exchange.EndEvent: "end"}[e.Kind])
		}
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("%v, want %v", got, want)
	}
}

// tells waits for a message of a kind.
func tells[M rpc.Message](b *bench) M {
	for {
		select {
		case m := <-b.sent:
			if x, ok := m.(M); ok {
				return x
			}
		case <-b.t.Context().Done():
			b.t.Fatal("nothing was sent")
		}
	}
}

// A task gives on the least watermark of its channels that are not idle, aligns barriers, gives out what its
// operators hold before both, and keeps all of it in order with the rows.
func TestStreamTask(t *testing.T) {
	b := newBench(t, 0)
	defer b.close()
	a, c := 0, 1
	idle := exchange.Event{Kind: exchange.IdleEvent}
	barrier := func(n int64) exchange.Event { return exchange.Event{Kind: exchange.BarrierEvent, Checkpoint: n} }
	last := fmt.Sprint(int64(math.MaxInt64))

	b.row(a, 1)
	b.gives("1")
	b.watermark(a, 10) // nothing is known of the other one yet
	b.watermark(c, 5)
	b.gives("-1", "5", "w5")
	b.watermark(c, 4) // it never falls
	b.say(c, idle)
	b.gives("-1", "10", "w10")
	b.say(a, idle)
	b.gives("idle")
	b.row(c, 2)
	b.gives("w10", "2") // it counts again, and does not go back
	b.row(a, 3)
	b.gives("3")

	b.say(a, barrier(1))
	b.row(a, 4) // behind the barrier
	b.row(c, 5)
	b.gives("5")
	b.say(c, barrier(1))
	b.gives("-1", "b1", "4")
	if k := tells[rpc.AcknowledgeBarrier](b); k.Barrier != 1 || k.Task.Vertex != "v" {
		t.Errorf("%+v", k)
	}
	b.say(a, barrier(2))
	if _, _, err := b.in[c].Finish(); err != nil { // its end stands for the barrier
		t.Fatal(err)
	}
	b.gives("-1", "b2")
	b.row(a, 6)
	b.gives("6")
	b.watermark(a, math.MaxInt64)
	b.gives("-1", last, "w"+last)
	if _, _, err := b.in[a].Finish(); err != nil {
		t.Fatal(err)
	}
	b.gives("-2", "end", "EOF")
	u := tells[rpc.TaskUpdate](b)
	for ; u.State == rpc.Running; u = tells[rpc.TaskUpdate](b) {
	}
	m := u.Metrics
	if u.State != rpc.Finished || m.RecordsIn != 6 || m.RecordsOut != 6+9 || m.BytesIn != 6*8 || m.BytesOut != 15*8 || m.WatermarkMs == nil || *m.WatermarkMs != math.MaxInt64 {
		t.Errorf("%s %+v", u.State, m)
	}
}

// What is written for a task that could not be started is dropped, so that its producers go on.
func TestStreamTaskRefused(t *testing.T) {
	b := newBench(t, 7)
	defer b.close()
	for n := range int64(1000) {
		b.row(0, n)
	}
	if u := tells[rpc.TaskUpdate](b); u.State != rpc.Failed {
		t.Errorf("%s", u.State)
	}
}

func TestSplitMarks(t *testing.T) {
	split := func(ms int64, idle bool) connectors.SplitTime {
		return connectors.SplitTime{WatermarkMs: ms, Idle: idle}
	}
	for _, c := range []struct {
		splits      []connectors.SplitTime
		ms          int64
		idle, known bool
	}{
		{nil, connectors.EndWatermark, true, false},
		{[]connectors.SplitTime{split(7, false), split(3, false)}, 3, false, true},
		{[]connectors.SplitTime{split(7, false), split(3, true)}, 7, false, true},
		{[]connectors.SplitTime{split(7, true), split(3, true)}, connectors.EndWatermark, true, true},
		{[]connectors.SplitTime{split(connectors.NoWatermark, false), split(3, false)}, connectors.NoWatermark, false, true},
	} {
		if ms, idle, known := splitMarks(c.splits); ms != c.ms || idle != c.idle || known != c.known {
			t.Errorf("%+v: %d %v %v", c.splits, ms, idle, known)
		}
	}
}

// A channel that ends does not stand in for one that is idle: that one may come back.
func TestMarks(t *testing.T) {
	m := newMarks(3)
	m.advance(0, 5)
	m.advance(1, connectors.EndWatermark)
	m.idle[2] = true
	if ms, idle := m.least(); ms != 5 || idle {
		t.Errorf("%d %v", ms, idle)
	}
	m.advance(0, connectors.EndWatermark)
	if _, idle := m.least(); !idle {
		t.Error("the end of two channels counts for the third")
	}
	m.advance(2, connectors.EndWatermark)
	if ms, idle := m.least(); ms != connectors.EndWatermark || idle {
		t.Errorf("%d %v", ms, idle)
	}
}

// A HASH edge of a stream sends each row to subtask group × parallelism / max parallelism of its key group.
func TestStreamKeyGroups(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	local := exchange.NewLocal(alloc, t.TempDir(), 0)
	local.SetCredits(exchange.Credits{Channel: 1 << 30})
	const parallelism, groups = 3, 128
	x := &task{d: rpc.DeployTask{Task: rpc.TaskID{Job: "j", Vertex: "v"}}, tm: &TaskManager{cfg: Config{Exchange: local, Now: time.Now}}, ctx: t.Context(), alloc: alloc}
	o, err := x.newOutput(rpc.Output{
		Edge: jobgraph.Edge{ID: "e", Exchange: jobgraph.HashBy, Keys: []int{0}, Schema: numbers}, Subpartitions: parallelism, MaxParallelism: groups,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewInt64Builder(alloc)
	for n := range int64(5000) {
		b.Append(n)
	}
	a := b.NewArray()
	b.Release()
	rec := column.NewRecord(numbers.Fields, []arrow.Array{a}, 5000)
	a.Release()
	if err := o.write(operators.Batch{Rec: rec}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.finish(); err != nil {
		t.Fatal(err)
	}
	hasher := column.NewHasher([]expr.Type{numbers.Fields[0].Type})
	seen := 0
	for s := range parallelism {
		g, err := local.Connect([]exchange.Range{{From: []exchange.ResultID{o.id}, Lo: s, Hi: s + 1}})
		if err != nil {
			t.Fatal(err)
		}
		for {
			_, rec, _, err := g.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec == nil {
				continue
			}
			hashes := make([]uint64, rec.NumRows())
			hasher.Hash(rec.Columns(), []uint64{0}, nil, hashes)
			for i, h := range hashes {
				if to := column.KeyGroup(h, groups) * parallelism / groups; to != s {
					t.Fatalf("row %v of key group %d is at subtask %d, not %d", rec.Column(0).ValueStr(i), column.KeyGroup(h, groups), s, to)
				}
			}
			seen += len(hashes)
			rec.Release()
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	if seen != 5000 {
		t.Errorf("%d rows arrived", seen)
	}
}
