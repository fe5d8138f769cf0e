package connectortest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/filestest"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// mostLocated is how many rows are looked up again.
const mostLocated = 300

// locate: the place of every row, whatever the splits.
func (s Source) locate(t *testing.T) {
	for _, size := range []int64{1 << 40, s.smallest()} {
		r := s.start(t, files.Local(), 2, connectors.SplitOptions{SplitBytes: size})
		if err := r.read(context.Background()); err != nil {
			t.Fatal(err)
		}
		r.sorted()
		rd, err := r.src.Reader(&operators.Task{Ctx: context.Background(), Alloc: r.alloc})
		if err != nil {
			t.Fatal(err)
		}
		inventory := r.src.Inventory().Files
		for i := 0; i < len(r.rows); i += len(r.rows)/mostLocated + 1 {
			x := r.rows[i]
			p, err := rd.Locate(context.Background(), x.at, x.row, "")
			if err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
			if p.File != inventory[x.at.File-1].Path || s.Lines != nil && p.Line != s.Lines[i] {
				t.Fatalf("splits of %d, row %d (%s) is at %s:%d, expected line %d", size, i, x.txt, p.File, p.Line, s.Lines[i])
			}
			for k, f := range r.schema.Fields {
				q, err := rd.Locate(context.Background(), x.at, x.row, f.Name)
				if err != nil || q.Column < 1 || q.Line < p.Line {
					t.Fatalf("row %d, column %d: %+v, %v", i, k, q, err)
				}
			}
		}
		if err := rd.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot: a reader may stop after any batch, and another one goes on from what it left.
func (s Source) snapshot(t *testing.T) {
	for _, size := range []int64{1 << 40, s.smallest()} {
		for stop := range 6 {
			r := s.start(t, files.Local(), 1, connectors.SplitOptions{SplitBytes: size, ReadBytes: 64})
			ctx := context.Background()
			left, err := discover(ctx, r.src, r.size)
			for stopped := false; err == nil && len(left) > 0 && !stopped; {
				left, stopped, err = r.part(ctx, left, stop)
			}
			for err == nil && len(left) > 0 {
				left, _, err = r.part(ctx, left, 1<<30)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := r.sorted(); !slices.Equal(got, s.Rows) {
				t.Fatalf("splits of %d, a stop after %d batches: %s", size, stop, difference(got, s.Rows))
			}
		}
	}
}

// part reads some batches and gives what is left.
func (r *run) part(ctx context.Context, splits []connectors.Split, batches int) (left []connectors.Split, stopped bool, err error) {
	rd, err := r.src.Reader(&operators.Task{Ctx: ctx, Alloc: r.alloc})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, rd.Close()) }()
	rd.Add(splits)
	for range batches {
		b, st, err := rd.Next(ctx)
		if err != nil {
			return nil, false, err
		}
		if st != connectors.More {
			break
		}
		r.take(b)
	}
	left, err = rd.Snapshot()
	return left, true, err
}

// cancel: a context that has ended ends everything with its error.
func (s Source) cancel(t *testing.T) {
	r := s.start(t, files.Local(), 1, connectors.SplitOptions{SplitBytes: s.smallest()})
	ctx, cancel := context.WithCancel(context.Background())
	splits, err := discover(ctx, r.src, r.size)
	if err != nil {
		t.Fatal(err)
	}
	rd, err := r.src.Reader(&operators.Task{Ctx: ctx, Alloc: r.alloc})
	if err != nil {
		t.Fatal(err)
	}
	rd.Add(splits)
	b, st, err := rd.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if st == connectors.More {
		b.Rec.Release()
	}
	cancel()
	if _, _, err := rd.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel Next gives %v", err)
	}
	if _, err := rd.Locate(ctx, operators.Origin{File: 1}, 0, ""); err == nil {
		t.Error("after a cancel Locate gives no error")
	}
	if err := rd.Close(); err != nil {
		t.Error(err)
	}
	e, err := r.src.Enumerator(ctx, r.size, nil)
	if err == nil {
		_, _, err = e.Discover(ctx)
		err = errors.Join(err, e.Close())
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel Discover gives %v", err)
	}
}

// faults: each call to the file system fails once. That is an error with a class, never other rows,
// and everything is freed.
func (s Source) faults(t *testing.T) {
	size := connectors.SplitOptions{SplitBytes: s.smallest()}
	if len(s.Sizes) > 0 {
		size.SplitBytes = slices.Max(s.Sizes)
	}
	for n := 1; ; n++ {
		r := s.start(t, files.Local(), 2, size)
		fs := &filestest.Faulty{FS: files.Local(), Fail: n}
		src, err := s.Open(fs)
		if err == nil {
			r.src = src
			err = r.read(context.Background())
		}
		switch {
		case err == nil && fs.Calls() < n:
			return
		case err == nil:
			t.Fatalf("call %d failed and nothing was said", n)
		case !errors.Is(err, filestest.ErrInjected):
			t.Fatalf("call %d failed; the error is another one: %v", n, err)
		}
		var c interface{ Class() string }
		if !errors.As(err, &c) || c.Class() == "" {
			t.Fatalf("call %d failed; the error has no class: %v", n, err)
		}
		if n > 2000 {
			return
		}
	}
}
