package aggregate

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// extremeTexts compares strings bytewise. The value is kept behind a mark, so that an empty string
// differs from none.
func extremeTexts(s *state, arr arrow.Array, p pick, to operators.BytesColumn) error {
	if d, ok := arr.(*array.Dictionary); ok {
		if codes, ok := d.Indices().(*array.Int32); ok {
			return s.extremeCodes(codes.Int32Values(), d.Dictionary(), p, to)
		}
	}
	at, err := textAt(arr)
	if err != nil {
		return err
	}
	var buf []byte
	for i, slot := range p.slots {
		buf = s.offer(at(p.row(i)), slot, to, buf)
	}
	return nil
}

// offer keeps v for the slot if it is better than what is there; buf is scratch.
func (s *state) offer(v []byte, slot uint32, to operators.BytesColumn, buf []byte) []byte {
	if old := to.Get(slot); len(old) > 0 && !s.better(v, old[1:]) {
		return buf
	}
	buf = append(append(buf[:0], 1), v...)
	to.Set(slot, buf)
	return buf
}

// extremeCodes finds each slot's best entry of the batch first: rows that repeat it cost a compare
// of codes, and the byte column is only touched once per slot.
func (s *state) extremeCodes(codes []int32, dict arrow.Array, p pick, to operators.BytesColumn) error {
	entry, err := textAt(dict)
	if err != nil {
		return err
	}
	var buf []byte
	top := slices.Max(p.slots)
	if int(top) > 4*len(p.slots)+1024 { // few rows for many slots
		for i, slot := range p.slots {
			buf = s.offer(entry(int(codes[p.row(i)])), slot, to, buf)
		}
		return nil
	}
	best := make([]int32, top+1) // code + 1
	for i, slot := range p.slots {
		c := codes[p.row(i)] + 1
		if b := best[slot]; b == 0 || b != c && s.better(entry(int(c-1)), entry(int(b-1))) {
			best[slot] = c
		}
	}
	for slot, c := range best {
		if c != 0 {
			buf = s.offer(entry(int(c-1)), uint32(slot), to, buf)
		}
	}
	return nil
}

func (s *state) better(v, old []byte) bool {
	if s.min {
		return string(v) < string(old)
	}
	return string(v) > string(old)
}

func textAt(arr arrow.Array) (func(row int) []byte, error) {
	switch a := arr.(type) {
	case *array.String:
		off, data := a.ValueOffsets(), table.TextBytes(a)
		return func(row int) []byte { return data[off[row]:off[row+1]] }, nil
	case *array.Binary:
		return a.Value, nil
	case *array.Dictionary:
		entry, err := textAt(a.Dictionary())
		if err != nil {
			return nil, err
		}
		return func(row int) []byte { return entry(a.GetValueIndex(row)) }, nil
	}
	return nil, fmt.Errorf("a column of STRING has Arrow type %s", arr.DataType())
}
