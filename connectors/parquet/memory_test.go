package parquet

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// asked is memory that asks the one who holds it to free some before it refuses, as a slot does.
type asked struct {
	operatortest.Memory
	free func(want int64) int64
}

func (m *asked) OnPressure(free func(want int64) int64) { m.free = free }

func (m *asked) Reserve(n int64) bool {
	return m.Memory.Reserve(n) || m.free(n) > 0 && m.Memory.Reserve(n)
}

// TestManagedMemory writes with much memory, little and none: all rows come, what is reserved goes back,
// and little memory makes more row groups, though none that are too small.
func TestManagedMemory(t *testing.T) {
	s := schemaOf(t, everyType)
	groups := map[int64]int{}
	for _, budget := range []int64{-1, 5 << 20, 3 << 20, 0} {
		for _, free := range []bool{false, true} {
			m := &asked{Memory: operatortest.Memory{Budget: budget}}
			var slot operators.Memory = m
			if !free {
				slot = &m.Memory
			}
			l := usualLimits()
			l.leastBytes = 200 << 10
			var b bytes.Buffer
			e, err := newEncoder(s, &b, compress.Codecs.Uncompressed, l, defaultGroupRows, slot)
			if err != nil {
				t.Fatal(err)
			}
			const rows, batches = 3000, 12
			for i := range batches {
				if err := e.Write(operators.Batch{Rec: record(memory.DefaultAllocator, s, i*rows, rows, true)}); err != nil {
					t.Fatal(err)
				}
				if budget >= 0 && m.Held > budget {
					t.Fatalf("%d bytes are reserved of %d", m.Held, budget)
				}
			}
			if err := errors.Join(e.Finish(), e.Close()); err != nil {
				t.Fatal(err)
			}
			if m.Held != 0 {
				t.Errorf("%d bytes stay reserved", m.Held)
			}
			if n, err := readQuietly(t, memory.DefaultAllocator, save(t, b.Bytes())); err != nil || n != rows*batches {
				t.Errorf("%d rows, %v", n, err)
			}
			footer := otherFooter(t, b.Bytes())
			groups[budget] = len(footer.RowGroups)
			for i, g := range footer.RowGroups[:len(footer.RowGroups)-1] {
				if g.TotalByteSize < l.leastBytes {
					t.Errorf("row group %d of %d has %d bytes", i, len(footer.RowGroups), g.TotalByteSize)
				}
			}
		}
	}
	if groups[-1] != 1 || groups[3<<20] < 2 || groups[0] < groups[3<<20] {
		t.Errorf("row groups by memory: %v", groups)
	}
}
