package aggregate

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// A store holds states: a table, or rows that stand for themselves.
type store interface {
	Words(col int) []uint64
	Bytes(col int) operators.BytesColumn
}

// A pick is the rows that a state takes from a batch (nil: the first so many) and their slots.
type pick struct {
	rows  []int32
	slots []uint32
}

// An updater adds the rows of one batch to states.
type updater struct {
	cols  []arrow.Array // of the original input; nil where no state needs one
	all   pick
	picks map[[2]int]pick // by argument whose NULLs are left out (-1: none) and filter
}

func newUpdater(cols []arrow.Array, sel []int32, slots []uint32) *updater {
	return &updater{cols: cols, all: pick{sel, slots}, picks: map[[2]int]pick{}}
}

// add adds the batch to the states that rows feed.
func (u *updater) add(states []state, to store) error {
	for i := range states {
		s := &states[i]
		switch {
		case s.from >= 0:
		case s.kind == missing:
			u.addMissing(s, to)
		default:
			if err := addValues(s, u.column(s.arg), u.pick(s.arg, s.filter), to); err != nil {
				return err
			}
		}
	}
	return nil
}

// addMissing counts rows without a value. Without any the state is left alone, so that it takes no memory.
func (u *updater) addMissing(s *state, to store) {
	if !mayBeNull(u.cols[s.arg]) {
		return
	}
	valid := notNull(u.cols[s.arg])
	p := u.pick(-1, s.filter).where(func(row int) bool { return !valid(row) })
	if len(p.slots) > 0 {
		addOnes(to.Words(s.word), p.slots)
	}
}

func addOnes(w []uint64, slots []uint32) {
	for _, slot := range slots {
		w[slot]++
	}
}

func (u *updater) column(col int) arrow.Array {
	if col < 0 {
		return nil
	}
	return u.cols[col]
}

// pick is the rows whose filter is TRUE and whose argument is not NULL.
func (u *updater) pick(arg, filter int) pick {
	if arg >= 0 && !mayBeNull(u.cols[arg]) {
		arg = -1
	}
	if arg < 0 && filter < 0 {
		return u.all
	}
	id := [2]int{arg, filter}
	p, ok := u.picks[id]
	if ok {
		return p
	}
	p = u.all
	if filter >= 0 {
		p = p.where(isTrue(u.cols[filter]))
	}
	if arg >= 0 {
		p = p.where(notNull(u.cols[arg]))
	}
	u.picks[id] = p
	return p
}

// where is the part of a pick for which keep holds.
func (p pick) where(keep func(row int) bool) pick {
	out := pick{make([]int32, 0, len(p.slots)), make([]uint32, 0, len(p.slots))}
	for i, s := range p.slots {
		row := p.row(i)
		if keep(row) {
			out.rows = append(out.rows, int32(row))
			out.slots = append(out.slots, s)
		}
	}
	return out
}

func (p *pick) row(i int) int {
	if p.rows == nil {
		return i
	}
	return int(p.rows[i])
}

func isTrue(a arrow.Array) func(int) bool {
	b, ok := a.(*array.Boolean)
	if !ok {
		return func(int) bool { return false } // NULL of no type
	}
	if b.NullN() == 0 {
		return b.Value
	}
	return func(row int) bool { return b.IsValid(row) && b.Value(row) }
}

func mayBeNull(a arrow.Array) bool {
	if d, ok := a.(*array.Dictionary); ok && d.Dictionary().NullN() > 0 {
		return true
	}
	return a.NullN() > 0 || a.DataType().ID() == arrow.NULL
}

func notNull(a arrow.Array) func(int) bool {
	if a.DataType().ID() == arrow.NULL {
		return func(int) bool { return false }
	}
	if d, ok := a.(*array.Dictionary); ok && d.Dictionary().NullN() > 0 {
		entries := d.Dictionary()
		return func(row int) bool { return a.IsValid(row) && entries.IsValid(d.GetValueIndex(row)) }
	}
	return a.IsValid
}

// addValues adds the picked values of a column, none of them NULL, to a state.
func addValues(s *state, arr arrow.Array, p pick, to store) error {
	if len(p.slots) == 0 {
		return nil
	}
	switch s.kind {
	case count:
		addOnes(to.Words(s.word), p.slots)
		return nil
	case sum128:
		lo, hi := to.Words(s.word), to.Words(s.word+1)
		switch a := arr.(type) {
		case *array.Int64:
			addInts(a.Int64Values(), p, lo, hi)
			return nil
		case *array.Int32:
			addInts(a.Int32Values(), p, lo, hi)
			return nil
		}
	case sum256:
		if a, ok := arr.(*array.Decimal128); ok {
			addDecimals(a.Values(), p, to, s.word)
			return nil
		}
	case sumDouble:
		if a, ok := arr.(*array.Float64); ok {
			addDoubles(a.Float64Values(), p, to.Words(s.word), to.Words(s.word+1), to.Bytes(s.bytes))
			return nil
		}
	case extreme64:
		return extreme64s(s, arr, p, to.Words(s.word))
	case extreme128:
		if a, ok := arr.(*array.Decimal128); ok {
			extremeDecimals(s, a.Values(), p, to.Words(s.word), to.Words(s.word+1))
			return nil
		}
	case extremeText:
		return extremeTexts(s, arr, p, to.Bytes(s.bytes))
	}
	return fmt.Errorf("a column of %s has Arrow type %s instead of %s", s.typ, arr.DataType(), s.typ.Arrow())
}

func addInts[T int32 | int64](v []T, p pick, lo, hi []uint64) {
	if p.rows == nil {
		for i, s := range p.slots {
			x := int64(v[i])
			l, c := bits.Add64(lo[s], uint64(x), 0)
			lo[s] = l
			hi[s] += uint64(x>>63) + c
		}
		return
	}
	for i, s := range p.slots {
		x := int64(v[p.rows[i]])
		l, c := bits.Add64(lo[s], uint64(x), 0)
		lo[s] = l
		hi[s] += uint64(x>>63) + c
	}
}

func addDecimals(v []decimal128.Num, p pick, to store, word int) {
	var w [4][]uint64
	for i := range w {
		w[i] = to.Words(word + i)
	}
	for i, s := range p.slots {
		x := v[p.row(i)]
		sign := uint64(x.HighBits() >> 63)
		add256(&w, s, [4]uint64{x.LowBits(), uint64(x.HighBits()), sign, sign})
	}
}

func add256(w *[4][]uint64, s uint32, x [4]uint64) {
	c := uint64(0)
	for i := range x {
		w[i][s], c = bits.Add64(w[i][s], x[i], c)
	}
}

// signBit turned over makes the order of signed numbers that of unsigned ones. Extremes are kept so
// that the greatest code wins and 0 loses to every value or equals the least one: a MIN keeps the
// complement. So a fresh state needs no mark of its own.
const signBit = 1 << 63

func (s *state) flip() uint64 {
	if s.min {
		return ^uint64(0)
	}
	return 0
}

func extreme64s(s *state, arr arrow.Array, p pick, w []uint64) error {
	flip := s.flip()
	switch a := arr.(type) {
	case *array.Int64:
		extremeInts(a.Int64Values(), p, w, flip)
	case *array.Timestamp:
		extremeInts(a.TimestampValues(), p, w, flip)
	case *array.Int32:
		extremeInts(a.Int32Values(), p, w, flip)
	case *array.Date32:
		extremeInts(a.Date32Values(), p, w, flip)
	case *array.Float64:
		v := a.Float64Values()
		for i, slot := range p.slots {
			w[slot] = max(w[slot], encodeDouble(v[p.row(i)])^flip)
		}
	case *array.Boolean:
		for i, slot := range p.slots {
			x := uint64(signBit)
			if a.Value(p.row(i)) {
				x++
			}
			w[slot] = max(w[slot], x^flip)
		}
	default:
		return fmt.Errorf("a column of %s has Arrow type %s instead of %s", s.typ, arr.DataType(), s.typ.Arrow())
	}
	return nil
}

func extremeInts[T ~int32 | ~int64](v []T, p pick, w []uint64, flip uint64) {
	if p.rows == nil {
		for i, s := range p.slots {
			w[s] = max(w[s], uint64(int64(v[i]))^signBit^flip)
		}
		return
	}
	for i, s := range p.slots {
		w[s] = max(w[s], uint64(int64(v[p.rows[i]]))^signBit^flip)
	}
}

// encodeDouble orders doubles as unsigned integers: NaN the greatest, -0.0 as 0.0.
func encodeDouble(f float64) uint64 {
	if f != f {
		return 0x7FF8000000000001 | signBit
	}
	x := math.Float64bits(f + 0)
	if x&signBit != 0 {
		return ^x
	}
	return x | signBit
}

func decodeDouble(x uint64) float64 {
	if x&signBit != 0 {
		return math.Float64frombits(x &^ signBit)
	}
	return math.Float64frombits(^x)
}

func extremeDecimals(s *state, v []decimal128.Num, p pick, lo, hi []uint64) {
	flip := s.flip()
	for i, slot := range p.slots {
		x := v[p.row(i)]
		greater128(x.LowBits()^flip, uint64(x.HighBits())^signBit^flip, slot, lo, hi)
	}
}

func greater128(l, h uint64, s uint32, lo, hi []uint64) {
	if h > hi[s] || h == hi[s] && l > lo[s] {
		lo[s], hi[s] = l, h
	}
}

func add128(l, h uint64, s uint32, lo, hi []uint64) {
	var c uint64
	lo[s], c = bits.Add64(lo[s], l, 0)
	hi[s] += h + c
}
