package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func pipes(t *testing.T, c Credits) (*Local, *memory.CheckedAllocator) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	l := NewLocal(alloc, t.TempDir(), 0)
	l.SetCredits(c)
	return l, alloc
}

func pipeTo(t *testing.T, l *Local, ctx context.Context, producer, subs int) Writer {
	w, err := l.Pipe(ctx, ResultID{"j", "e", producer, 0}, subs)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func connect(t *testing.T, l *Local, producers ...int) StreamGate {
	r := Range{Lo: 0, Hi: 1}
	for _, p := range producers {
		r.From = append(r.From, ResultID{"j", "e", p, 0})
	}
	g, err := l.Connect([]Range{r})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// read gives what Next gives as a word: "0:7" a record that begins with 7 on channel 0, "0:w5" a watermark.
func read(t *testing.T, g Gate) string {
	c, rec, e, err := g.Next(t.Context())
	switch {
	case err == io.EOF:
		return "EOF"
	case err != nil:
		t.Fatal(err)
	case rec != nil:
		defer rec.Release()
		return fmt.Sprintf("%d:%d", c, rec.Column(0).(*array.Int64).Value(0))
	}
	switch e.Kind {
	case WatermarkEvent:
		return fmt.Sprintf("%d:w%d", c, e.Time)
	case IdleEvent:
		return fmt.Sprintf("%d:idle", c)
	case BarrierEvent:
		return fmt.Sprintf("%d:b%d", c, e.Checkpoint)
	case EndEvent:
		return fmt.Sprintf("%d:end", c)
	}
	return fmt.Sprintf("%d:?", c)
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Records and events of a channel come in the order they were written in, whoever of producer and consumer is
// first; what the next watermark says anyway is left out.
func TestPipeOrder(t *testing.T) {
	for _, first := range []string{"producer", "consumer"} {
		t.Run(first, func(t *testing.T) {
			l, alloc := pipes(t, DefaultCredits())
			defer alloc.AssertSize(t, 0)
			var g StreamGate
			if first == "consumer" {
				g = connect(t, l, 0)
			}
			w := pipeTo(t, l, t.Context(), 0, 1)
			events := func(es ...Event) {
				for _, e := range es {
					if err := w.Event(e); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Write(0, record(alloc, 1, 3)); err != nil {
				t.Fatal(err)
			}
			events(Event{Kind: WatermarkEvent, Time: 5}, Event{Kind: WatermarkEvent, Time: 6}, Event{Kind: BarrierEvent, Checkpoint: 1})
			events(Event{Kind: WatermarkEvent, Time: 7}, Event{Kind: IdleEvent}, Event{Kind: IdleEvent})
			if err := w.Write(0, record(alloc, 2, 3)); err != nil {
				t.Fatal(err)
			}
			events(Event{Kind: IdleEvent}, Event{Kind: WatermarkEvent, Time: 8})
			bytes, rows, err := w.Finish()
			if err != nil || rows[0] != 6 || bytes[0] == 0 || w.(*pipeWriter).Written() != bytes[0] {
				t.Errorf("%v %v %v", bytes, rows, err)
			}
			if g == nil {
				g = connect(t, l, 0)
			}
			var got []string
			for len(got) == 0 || got[len(got)-1] != "EOF" {
				got = append(got, read(t, g))
			}
			same(t, got, "0:1", "0:w6", "0:b1", "0:w7", "0:idle", "0:2", "0:w8", "0:end", "EOF")
			if err := errors.Join(g.Close(), l.Release(ResultID{"j", "e", 0, 0}), l.Close()); err != nil {
				t.Error(err)
			}
			if len(l.pipes) > 0 {
				t.Errorf("%d pipes are left", len(l.pipes))
			}
		})
	}
}

// A channel holds what its credits allow, the gate's included, and no more; each record that is read lets the
// producer go on. One that is too large passes alone.
func TestPipeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, alloc := pipes(t, Credits{Channel: 3 * recordOverhead, Gate: 2 * recordOverhead})
		defer alloc.AssertSize(t, 0)
		g := connect(t, l, 0)
		w := pipeTo(t, l, t.Context(), 0, 1)
		var written atomic.Int64
		go func() {
			for i := range 20 {
				n := 3
				if i == 10 {
					n = 10_000
				}
				if err := w.Write(0, record(alloc, i, n)); err != nil {
					t.Error(err)
				}
				written.Add(1)
			}
			if _, _, err := w.Finish(); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if n := written.Load(); n != 5 {
			t.Errorf("%d records were written, there is room for 5", n)
		}
		for i := range 20 {
			if got := read(t, g); got != fmt.Sprintf("0:%d", i) {
				t.Errorf("record %d is %s", i, got)
			}
			synctest.Wait()
			most := int64(i + 1 + 5)
			switch {
			case i < 9: // the large one waits until all before it are read
				most = min(most, 10)
			case i == 9:
				most = 13 // it, and two more on what the gate lends
			}
			if n := written.Load(); n > most {
				t.Errorf("%d records were written when %d were read", n, i+1)
			}
		}
		if got := read(t, g); got != "0:end" || read(t, g) != "EOF" {
			t.Error(got)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if n := g.(*pipeGate).lent.Load(); n != 0 {
			t.Errorf("%d bytes are still lent", n)
		}
	})
}

// A producer that waits for room goes on when its task is cancelled, and when its consumer closes.
func TestPipeLetsGo(t *testing.T) {
	for _, how := range []string{"cancel", "close"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, alloc := pipes(t, Credits{Channel: 1})
				defer alloc.AssertSize(t, 0)
				g := connect(t, l, 0)
				why := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				w := pipeTo(t, l, ctx, 0, 1)
				done := make(chan error, 1)
				go func() {
					var err error
					for i := 0; i < 10 && err == nil; i++ {
						err = w.Write(0, record(alloc, i, 3))
					}
					done <- err
				}()
				synctest.Wait()
				if how == "cancel" {
					cancel(why)
				} else if err := g.Close(); err != nil {
					t.Error(err)
				}
				if err := <-done; (how == "cancel") != errors.Is(err, why) || (how == "close") != (err == nil) {
					t.Errorf("%v", err)
				}
				w.Abort(why)
				if err := errors.Join(g.Close(), l.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A reader takes turns among its channels, does not read those that are blocked, and reads them when they no
// longer are.
func TestPipeTakesTurns(t *testing.T) {
	l, alloc := pipes(t, DefaultCredits())
	defer alloc.AssertSize(t, 0)
	g := connect(t, l, 0, 1, 2)
	for p := range 3 {
		w := pipeTo(t, l, t.Context(), p, 1)
		for i := range 3 {
			if err := w.Write(0, record(alloc, i, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for range 4 {
		got = append(got, read(t, g))
	}
	g.Block(1, true)
	for range 5 {
		got = append(got, read(t, g))
	}
	same(t, got, "0:0", "1:0", "2:0", "0:1", "2:1", "0:2", "2:2", "0:end", "2:end")
	if g.Ready() {
		t.Error("a blocked channel counts as ready")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := g.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	g.Block(1, false)
	got = nil
	for range 4 {
		got = append(got, read(t, g))
	}
	same(t, got, "1:1", "1:2", "1:end", "EOF")
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A subpartition has one producer and one consumer.
func TestPipeIsPrivate(t *testing.T) {
	l, _ := pipes(t, DefaultCredits())
	pipeTo(t, l, t.Context(), 0, 1)
	if _, err := l.Pipe(t.Context(), ResultID{"j", "e", 0, 0}, 1); err == nil {
		t.Error("two producers of one result")
	}
	connect(t, l, 0)
	if _, err := l.Connect([]Range{{From: []ResultID{{"j", "e", 1, 0}, {"j", "e", 0, 0}}, Hi: 1}}); err == nil {
		t.Error("two consumers of one subpartition")
	}
	if _, err := l.Connect([]Range{{From: []ResultID{{"j", "e", 1, 0}}}}); err == nil {
		t.Error("a gate that reads nothing")
	}
	if _, err := l.Pipe(t.Context(), ResultID{"j", "f", 0, 0}, 0); err == nil {
		t.Error("a result without subpartitions")
	}
}
