package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// A peak is an allocator that knows how much was in use at most.
type peak struct {
	memory.Allocator
	now, most atomic.Int64
}

func (p *peak) add(n int) {
	now := p.now.Add(int64(n))
	for m := p.most.Load(); now > m && !p.most.CompareAndSwap(m, now); m = p.most.Load() {
	}
}

func (p *peak) Allocate(n int) []byte {
	p.add(n)
	return p.Allocator.Allocate(n)
}

func (p *peak) Reallocate(n int, b []byte) []byte {
	p.add(n - len(b))
	return p.Allocator.Reallocate(n, b)
}

func (p *peak) Free(b []byte) {
	p.add(-len(b))
	p.Allocator.Free(b)
}

// watched runs a plan and shows its progress to watch.
func watched(t testing.TB, dir, text string, s setup, alloc memory.Allocator, watch func(jobmaster.Snapshot)) report.Report {
	t.Helper()
	cat := catalogs(t)
	if s.cat != nil {
		cat = *s.cat
	}
	p, found := plans.Parse(filepath.Join(dir, "plan.yaml"), []byte(text), s.set, plans.KnownOf(cat.Connectors, cat.Operators))
	if found.Failed() {
		t.Fatal(found)
	}
	in := config.LoadInput{Embedded: true, CPUs: 2, Plan: p.Values()}
	for k, v := range s.options {
		in.Flags = append(in.Flags, config.Value{Name: k, Value: v, Where: "-D " + k})
	}
	o, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	ctx := s.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	if alloc == nil {
		alloc = checked
	}
	defer checked.AssertSize(t, 0)
	r, err := runner.Run(ctx, cat, p, runner.Settings{Options: o, SpillDir: t.TempDir(), EncodeMessages: true, Alloc: alloc, Progress: watch})
	if err != nil {
		t.Fatal(err)
	}
	valid(t, r)
	return r
}

func sortedLines(t testing.TB, files ...string) []string {
	var lines []string
	for _, f := range files {
		lines = append(lines, strings.Split(strings.TrimSpace(read(t, f)), "\n")...)
	}
	slices.Sort(lines)
	return lines
}

const totalsPlan = `
mode: ${mode}
params: {mode: streaming, rows: 200000}
sources:
  o:
    datagen:
      columns: {id: BIGINT, k: INT, s: STRING, amount: "DECIMAL(12, 2)", ts: TIMESTAMP(3)}
      fields: {id: {kind: sequence}, k: {min: 0, max: 999}, s: {values: [a, b, c]}, ts: {kind: event_time, disorder: 5 s}}
      number_of_rows: ${rows}
      splits: 3
    watermark: {column: ts, delay: 5 s}
transforms: {t: {from: o, where: "MOD(id, 10) <> 3", select: {k: k, s: s, amount: amount, id: id}}}
aggregations: {g: {from: t, group_by: [k, s], measures: {n: COUNT(*), total: SUM(amount), last: MAX(id)}}}
sinks: {out: {from: g, csv: {path: out.csv, mode: overwrite}}}
settings: {runner.streaming.barrier-interval: 20 ms}
`

// TestStreamTotals runs generated rows through a keyed aggregation, as a stream at parallelism 1 and 2 and
// as a batch job: the totals of every key are equal, and the batches on their way take no more memory for
// more rows. RUNNER_STREAM_ROWS says how many rows: 10000000 takes some twenty seconds.
func TestStreamTotals(t *testing.T) {
	rows := 200_000
	if text := os.Getenv("RUNNER_STREAM_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			t.Fatalf("RUNNER_STREAM_ROWS: %v", err)
		}
	}
	var want []string
	for _, c := range []struct{ mode, parallelism string }{{"batch", "2"}, {"streaming", "1"}, {"streaming", "2"}} {
		t.Run(c.mode+c.parallelism, func(t *testing.T) {
			dir := t.TempDir()
			p := &peak{Allocator: memory.DefaultAllocator}
			r := watched(t, dir, totalsPlan, setup{
				set:     map[string]string{"mode": c.mode, "rows": strconv.Itoa(rows)},
				options: map[string]string{"parallelism.default": c.parallelism, "taskmanager.numberOfTaskSlots": c.parallelism},
			}, p, nil)
			finished(t, r)
			if n := p.now.Load(); n != 0 {
				t.Errorf("%d bytes are still in use", n)
			}
			if n := p.most.Load(); n > 48<<20 {
				t.Errorf("batches took %d bytes at once", n)
			}
			t.Logf("%s: at most %d bytes in batches; %s", t.Name(), p.most.Load(), r.Verdict)
			got := sortedLines(t, filepath.Join(dir, "out.csv"))
			if want == nil {
				if want = got; len(want) != 3001 {
					t.Fatalf("%d groups", len(want)-1)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the totals differ: %d and %d lines", len(got), len(want))
			}
			if c.mode == "batch" {
				return
			}
			for _, v := range r.Vertices {
				if v.Watermark != "end" || v.BytesOut == 0 && v.RecordsOut > 0 && !strings.Contains(v.Name, "Sink") {
					t.Errorf("%s: watermark %q, %d bytes out", v.Name, v.Watermark, v.BytesOut)
				}
				if reason := v.Parallelism.Reason; reason != "streaming" && reason != "single-file-sink" {
					t.Errorf("%s: reason %s", v.Name, reason)
				}
			}
		})
	}
}

// A heldSink takes nothing until it is let go.
type heldSink struct {
	connectors.Component
	release chan struct{}
}

func (h heldSink) OpenSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	s, err := h.Component.OpenSink(state, in)
	return heldSinkOf{s, h.release}, err
}

type heldSinkOf struct {
	connectors.Sink
	release chan struct{}
}

func (h heldSinkOf) Writer(t *operators.Task, run string, recovered []connectors.Committable) (connectors.Writer, error) {
	w, err := h.Sink.Writer(t, run, recovered)
	return heldWriter{w, h.release, t.Ctx}, err
}

type heldWriter struct {
	connectors.Writer
	release chan struct{}
	ctx     context.Context
}

func (h heldWriter) Write(b operators.Batch) error {
	select {
	case <-h.release:
	case <-h.ctx.Done():
	}
	return h.Writer.Write(b)
}

const heldPlan = `
mode: streaming
sources:
  o: {datagen: {columns: {id: BIGINT}, fields: {id: {kind: sequence}}, number_of_rows: 3000000}}
sinks:
  held: {from: o, parallelism: 1, blackhole: {}}
  file: {from: o, parallelism: 1, csv: {path: out.csv, mode: overwrite}}
`

// TestBackPressure holds a sink up: its source waits after a bounded number of rows, the report says so, and
// when the sink goes on all rows arrive.
func TestBackPressure(t *testing.T) {
	dir := t.TempDir()
	cat := catalogs(t)
	release := make(chan struct{})
	cat.Connectors["blackhole"] = heldSink{cat.Connectors["blackhole"], release}
	var once sync.Once
	var waited int64
	watch := func(s jobmaster.Snapshot) {
		if m := s.Vertices[0].Metrics; m.BackpressuredMs > 0 {
			once.Do(func() {
				waited = m.RecordsOut
				close(release)
			})
		}
	}
	r := watched(t, dir, heldPlan, setup{cat: &cat, options: map[string]string{"parallelism.default": "2"}}, nil, watch)
	finished(t, r)
	if waited > 500_000 {
		t.Errorf("the source gave %d rows before it waited", waited)
	}
	var ms int64
	for _, s := range r.Vertices[0].Subtasks {
		ms += s.BackpressuredMs
	}
	if ms == 0 || r.Sinks[0].Rows != 3_000_000 || r.Sinks[1].Rows != 3_000_000 {
		t.Errorf("back-pressured for %d ms, rows %d and %d", ms, r.Sinks[0].Rows, r.Sinks[1].Rows)
	}
}

// TestCancelUnderBackPressure cancels while every task waits for the next: the job ends CANCELED, the target
// is as it was, and nothing staged is left.
func TestCancelUnderBackPressure(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "out.csv", "before\n")
	cat := catalogs(t)
	cat.Connectors["blackhole"] = heldSink{cat.Connectors["blackhole"], make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := func(s jobmaster.Snapshot) {
		if s.Vertices[0].Metrics.BackpressuredMs > 0 {
			cancel()
		}
	}
	r := watched(t, dir, heldPlan, setup{cat: &cat, ctx: ctx, options: map[string]string{"parallelism.default": "2"}}, nil, watch)
	if r.State != "CANCELED" {
		t.Errorf("%s: %s", r.State, r.Verdict)
	}
	if got := read(t, filepath.Join(dir, "out.csv")); got != "before\n" {
		t.Errorf("the target is %q", got)
	}
	noLeavings(t, dir)
}

const idlePlan = `
mode: streaming
params: {idle: 0 ms}
sources:
  o:
    datagen:
      columns: {id: BIGINT, ts: TIMESTAMP(3)}
      fields: {id: {kind: sequence}, ts: {kind: event_time, start: "2024-01-01 00:00:00", interval: 1 s}}
      rows_per_second: 200000
      splits: 2
      idle_splits: 1
      idle_after: 1000
    watermark: {column: ts, delay: 0 ms, idle_timeout: "${idle}"}
transforms: {t: {from: o, parallelism: 1}}
sinks: {out: {from: t, parallelism: 1, blackhole: {}}}
`

// TestIdleSplit runs a source one of whose two splits falls silent, read by one subtask or by two: with an idle
// timeout the watermark goes on with the other one, without it stays where the silent one left it.
func TestIdleSplit(t *testing.T) {
	for _, parallelism := range []string{"1", "2"} {
		for _, idle := range []string{"50 ms", "0 ms"} {
			t.Run(parallelism+" idle "+idle, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				const silent = 1704067200000 + 20_000*1000 // ms: no row of the silent split is that late
				watch := func(s jobmaster.Snapshot) {
					last := s.Vertices[len(s.Vertices)-1].Metrics
					mark := s.Vertices[len(s.Vertices)-1].Subtasks
					late := len(mark) == 1 && mark[0].Metrics.WatermarkMs != nil && *mark[0].Metrics.WatermarkMs > silent
					if late || idle == "0 ms" && last.RecordsIn > 60_000 {
						cancel()
					}
				}
				text := strings.Replace(idlePlan, ", idle_timeout: \"${idle}\"", "", map[string]int{"0 ms": 1}[idle])
				r := watched(t, t.TempDir(), text, setup{ctx: ctx, set: map[string]string{"idle": idle}, options: map[string]string{
					"parallelism.default": parallelism, "pipeline.auto-watermark-interval": "1 ms",
				}}, nil, watch)
				mark := r.Vertices[len(r.Vertices)-1].Watermark
				if r.State != "CANCELED" || mark == "" || (mark > "2024-01-01T05:33:20") != (idle != "0 ms") {
					t.Errorf("%s at watermark %q\n%+v", r.State, mark, r.Vertices)
				}
			})
		}
	}
}

// TestBarriers lets barriers through a job whose rows go several ways at several speeds and meet again.
func TestBarriers(t *testing.T) {
	text := `
mode: streaming
sources:
  a: {datagen: {columns: {id: BIGINT, k: INT}, fields: {id: {kind: sequence}, k: {min: 0, max: 99}}, rows_per_second: 100000, splits: 2}}
  b: {datagen: {columns: {id: BIGINT, k: INT}, fields: {id: {kind: sequence}, k: {min: 0, max: 99}}, number_of_rows: 1000}}
transforms:
  x: {from: a, where: "MOD(id, 2) = 0", parallelism: 1}
  y: {from: a, where: "MOD(id, 2) = 1"}
  u: {from: [x, y, b, a], union: {}, parallelism: 2}
sinks: {out: {from: u, parallelism: 1, blackhole: {}}}
settings: {runner.streaming.barrier-interval: 5 ms}
`
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := func(s jobmaster.Snapshot) {
		if s.Barriers != nil && s.Barriers.Passed > 5 {
			cancel()
		}
	}
	r := watched(t, t.TempDir(), text, setup{ctx: ctx}, nil, watch)
	if b := r.Barriers; r.State != "CANCELED" || b == nil || b.Passed < 6 || b.Triggered-b.Passed > 1 {
		t.Errorf("%s, %+v", r.State, b)
	}
}

// TestLimitEndsStream ends a job whose sources do not end, by a limit in the source's chain and by one behind
// an exchange.
func TestLimitEndsStream(t *testing.T) {
	for name, nodes := range map[string]string{
		"chained": "transforms: {l: {from: a, limit: 10}}",
		"behind":  "transforms: {u: {from: [a, a], union: {}}, c: {from: u, parallelism: 1, where: id > 5}, l: {from: c, limit: 10}}",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := watched(t, dir, "mode: streaming\nsources: {a: {datagen: {columns: {id: BIGINT}, fields: {id: {kind: sequence}}, rows_per_second: 0}}}\n"+
				nodes+"\nsinks: {out: {from: l, csv: {path: out.csv}}}\n", setup{}, nil, nil)
			finished(t, r)
			if n := len(sortedLines(t, filepath.Join(dir, "out.csv"))); n != 11 {
				t.Errorf("%d lines", n)
			}
		})
	}
}

// TestStreamRootCause runs plans over bad data as streams: the root cause is the same at every parallelism
// and with every size of batches, and nothing is published.
func TestStreamRootCause(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,k,q\n")
	for i := range 300 {
		q := fmt.Sprint(i)
		if i%41 == 7 {
			q = fmt.Sprintf("bad%d_%d", i%9, i)
		}
		fmt.Fprintf(&b, "%d,%d,%s\n", i, i%13, q)
	}
	for i := range 4 {
		write(t, dir, fmt.Sprintf("o%d.csv", i), strings.ReplaceAll(b.String(), "bad", fmt.Sprintf("bad%d_", (i*3)%4)))
	}
	for name, nodes := range map[string]string{
		"source": "transforms: {t: {from: o, select: {x: CAST(q AS INT)}}}",
		"group": "aggregations: {g: {from: o, group_by: [k, q], measures: {n: COUNT(*)}}}\n" +
			"transforms: {t: {from: g, select: {x: CAST(q AS INT), n: n}}}",
		"union":   "transforms: {u: {from: [o, o], union: {}}, t: {from: u, select: {x: CAST(q AS INT)}}}",
		"measure": "aggregations: {g: {from: o, group_by: [k], measures: {m: MAX(id) / (SUM(k) - SUM(k))}}}\ntransforms: {t: {from: g}}",
		"both":    "transforms: {u: {from: o, parallelism: 1, where: id >= 0}, v: {from: u, select: {x: 1 / (id - 7)}}, w: {from: o, select: {x: CAST(q AS INT)}}, t: {from: [v, w], union: {}}}",
	} {
		t.Run(name, func(t *testing.T) {
			text := "mode: streaming\nsources: {o: {csv: {path: \"o*.csv\", columns: {id: BIGINT, k: BIGINT, q: STRING}}}}\n" + nodes +
				"\nsinks: {out: {from: t, json: {path: out}}}\n"
			first := ""
			for range 2 {
				for _, o := range everyWay() {
					o["taskmanager.numberOfTaskSlots"] = "8"
					r := watched(t, dir, text, setup{options: o}, nil, nil)
					if r.State != "FAILED" || r.Failure.RootCause == nil {
						t.Fatalf("%v: %s", o, r.Verdict)
					}
					c := r.Failure.RootCause
					got := fmt.Sprint(c.Class, c.Message, c.File, c.Line, c.Column, c.Field, c.Value, c.Expression)
					if first == "" {
						first = got
					}
					if got != first {
						t.Fatalf("%v\ngot  %s\nwant %s", o, got, first)
					}
				}
			}
			noLeavings(t, dir)
		})
	}
}

// TestStreamFailsInTime holds that a row that fails behind an exchange ends a stream which would go on for
// hours, or for ever.
func TestStreamFailsInTime(t *testing.T) {
	for name, rows := range map[string]string{"long": ", number_of_rows: 100000000", "endless": ""} {
		t.Run(name, func(t *testing.T) {
			text := "mode: streaming\nsources: {o: {datagen: {columns: {id: BIGINT}, fields: {id: {kind: sequence}}, rows_per_second: 1000" + rows + "}}}\n" +
				"transforms: {u: {from: o, parallelism: 1, where: id >= 0}, v: {from: u, select: {x: 1 / (id - 7)}}}\nsinks: {out: {from: v, blackhole: {}}}\n"
			r := watched(t, t.TempDir(), text, setup{options: map[string]string{"runner.streaming.settle-timeout": "50 ms"}}, nil, nil)
			if r.State != "FAILED" || r.Failure.RootCause.Class != "DivisionByZero" {
				t.Errorf("%s %+v", r.State, r.Failure)
			}
		})
	}
}

// TestStreamNeedsSlots refuses a stream that needs more slots than there are, with the numbers.
func TestStreamNeedsSlots(t *testing.T) {
	text := `
mode: streaming
sources: {a: {datagen: {columns: {id: BIGINT}, number_of_rows: 10}}}
sinks: {out: {from: a, parallelism: 3, slot_sharing_group: other, blackhole: {}}}
`
	r := watched(t, t.TempDir(), text, setup{options: map[string]string{"parallelism.default": "2", "taskmanager.numberOfTaskSlots": "4"}}, nil, nil)
	if r.State != "FAILED" || r.Failure.RootCause.Class != "NoSlots" || !strings.Contains(r.Failure.RootCause.Message, "slots needed: 5, slots there are: 4") ||
		!strings.Contains(r.Failure.RootCause.Message, "(default 2, other 3)") {
		t.Errorf("%s %+v", r.State, r.Failure)
	}
	// The report says where the numbers come from, although nothing ran.
	if r.Slots.Needed != 5 || len(r.Vertices) != 2 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []string{"2 flag streaming", "3 node explicit"} {
		p := r.Vertices[i].Parallelism
		if got := fmt.Sprint(p.Decided, " ", p.Origin, " ", p.Reason); got != want {
			t.Errorf("vertex %d: %s, want %s", i, got, want)
		}
	}
}

// An operator that fails a few times, for no reason of its rows.
type failingCalc struct {
	operators.Component
	left *atomic.Int64
}

func (c failingCalc) New(o json.RawMessage, in []expr.Schema) (operators.Operator, error) {
	op, err := c.Component.New(o, in)
	return failingOperator{op, c.left}, err
}

type failingOperator struct {
	operators.Operator
	left *atomic.Int64
}

func (o failingOperator) Process(input int, b operators.Batch, out operators.Collector) error {
	if o.left.Add(-1) >= 0 {
		b.Rec.Release()
		return errors.New("the connection was reset")
	}
	return o.Operator.Process(input, b, out)
}

// TestStreamRestarts begins a stream again from the beginning after tasks of it failed: every row arrives once.
func TestStreamRestarts(t *testing.T) {
	dir := t.TempDir()
	cat := catalogs(t)
	left := &atomic.Int64{}
	left.Store(2)
	cat.Operators["calc"] = failingCalc{cat.Operators["calc"], left}
	r := watched(t, dir, totalsPlan, setup{cat: &cat, options: map[string]string{
		"parallelism.default": "2", "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "5", "restart-strategy.fixed-delay.delay": "1 ms",
	}}, nil, nil)
	finished(t, r)
	rows := int64(0)
	for _, line := range sortedLines(t, filepath.Join(dir, "out.csv")) {
		if f := strings.Split(line, ","); f[0] != "k" {
			n, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			rows += n
		}
	}
	if rows != 180_000 || len(r.Restarts) == 0 {
		t.Errorf("%d rows are counted after %d restarts", rows, len(r.Restarts))
	}
}
