package exchange

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// record has a number and a text column, the text dictionary-coded.
func record(alloc memory.Allocator, from, n int) arrow.Record {
	ints := array.NewInt64Builder(alloc)
	defer ints.Release()
	texts := array.NewDictionaryBuilder(alloc, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	defer texts.Release()
	for i := from; i < from+n; i++ {
		ints.Append(int64(i))
		if i%7 == 0 {
			texts.AppendNull()
		} else if err := texts.AppendString(strings.Repeat("x", i%5)); err != nil {
			panic(err)
		}
	}
	a, b := ints.NewArray(), texts.NewArray()
	defer a.Release()
	defer b.Release()
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: a.DataType()}, {Name: "s", Type: b.DataType(), Nullable: true}}, nil)
	return array.NewRecord(s, []arrow.Array{a, b}, int64(n))
}

// What is written comes back, each subpartition in order, from memory and from disk alike.
func TestLocalRoundTrip(t *testing.T) {
	for name, limit := range map[string]int64{"memory": 1 << 20, "disk": 0, "both": 2000} {
		t.Run(name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			dir := t.TempDir()
			l := NewLocal(alloc, dir, limit)
			ids := []ResultID{{"j", "e", 0, 0}, {"j", "e", 1, 2}}
			for p, id := range ids {
				w, err := l.Create(id, 3, true)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 9 {
					if err := w.Write(i%3, record(alloc, p*1000+i*10, 10)); err != nil {
						t.Fatal(err)
					}
				}
				bytes, rows, err := w.Finish()
				if err != nil || rows[0] != 30 || bytes[0] < 30*12 || len(rows) != 3 {
					t.Fatalf("%v %v %v", bytes, rows, err)
				}
			}
			g, err := l.Open(t.Context(), ids, 1, 3)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			ends := 0
			for {
				_, rec, e, err := g.Next(t.Context())
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == EndEvent {
					ends++
					continue
				}
				got = append(got, rec.Column(0).(*array.Int64).Value(0))
				if rec.NumRows() != 10 || rec.Column(1).NullN() == 0 {
					t.Errorf("%v", rec)
				}
				rec.Release()
			}
			if ends != 2 || len(got) != 12 || got[0] != 10 || got[3] != 20 || got[6] != 1010 {
				t.Errorf("%d ends, %v", ends, got)
			}
			if (l.SpilledBytes() > 0) != (name != "memory") {
				t.Errorf("%d bytes were spilled", l.SpilledBytes())
			}
			if err := errors.Join(g.Close(), l.Release(ids[0]), l.Release(ids[0]), l.Close()); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("files are left: %v %v", left, err)
			}
		})
	}
}

// A gate keeps its records while it is open, and gives them back when closed early.
func TestGateOutlivesRelease(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	l := NewLocal(alloc, t.TempDir(), 1<<20)
	id := ResultID{"j", "e", 0, 0}
	w, err := l.Create(id, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Write(0, record(alloc, i, 5)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Open(t.Context(), []ResultID{id}, 0, 1); err == nil {
		t.Error("a result that is not finished was opened")
	}
	if _, _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	g, err := l.Open(t.Context(), []ResultID{id}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(id); err != nil {
		t.Fatal(err)
	}
	_, rec, _, err := g.Next(t.Context())
	if err != nil || rec.NumRows() != 5 {
		t.Fatalf("%v %v", rec, err)
	}
	rec.Release()
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	var lost *LostError
	if _, err := l.Open(t.Context(), []ResultID{id}, 0, 1); !errors.As(err, &lost) || lost.ID != id {
		t.Errorf("%v", err)
	}
}

// An attempt that is aborted leaves nothing, and its place is free.
func TestAbort(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	l := NewLocal(alloc, t.TempDir(), 200)
	id := ResultID{"j", "e", 0, 0}
	w, err := l.Create(id, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Create(id, 2, true); err == nil {
		t.Error("two writers of one result")
	}
	for i := range 4 {
		if err := w.Write(i%2, record(alloc, i, 20)); err != nil {
			t.Fatal(err)
		}
	}
	w.Abort(errors.New("enough"))
	if w, err = l.Create(id, 2, true); err != nil {
		t.Fatal(err)
	}
	w.Abort(nil)
	if _, err := l.Create(ResultID{"j", "f", 0, 0}, 1, false); !errors.Is(err, ErrPipelined) {
		t.Errorf("%v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
