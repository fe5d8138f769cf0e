package parquet

import (
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// chunkStats is what a footer says of the values of a column chunk. Of the two pairs of bounds that
// the format knows only the newer is read: the older was compared by rules that writers did not agree
// on. A bound may be cut short, and is one still.
type chunkStats struct {
	least, most       []byte
	hasLeast, hasMost bool
	nulls             int64 // -1 where it is not said
}

// A chunkWords is what a footer says of a column chunk for filters: of all its values, and where its pages'
// are described.
type chunkWords struct {
	chunkStats
	index pageIndex
	older bool // it has bounds of the older form
}

// footerStats are the statistics of all row groups and leaf columns, nil and why where the footer does not say
// by which order they were made.
func footerStats(d *document) ([][]chunkWords, doubt, error) {
	b, err := d.footer()
	if err != nil {
		return nil, doubt{}, err
	}
	t := thrift{rest: b}
	var groups [][]chunkWords
	ordered := false
	t.structure(0, func(id int, kind byte) bool {
		switch {
		case id == 4 && kind == thriftList:
			t.list(0, func() { groups = append(groups, t.groupStats()) })
		case id == 7 && kind == thriftList:
			ordered = t.count() == d.meta.Schema.NumColumns()
			t.list(0, func() {
				t.structure(1, func(id int, _ byte) bool {
					ordered = ordered && id == 1
					return false
				})
			})
		default:
			return false
		}
		return true
	})
	if t.bad || !ordered {
		return nil, d.ordersDoubt(!t.bad), nil
	}
	return groups, doubt{}, nil
}

// groupStats reads the structure of a row group.
func (t *thrift) groupStats() []chunkWords {
	var list []chunkWords
	t.structure(1, func(id int, kind byte) bool {
		if id != 1 || kind != thriftList {
			return false
		}
		t.list(1, func() {
			s := chunkWords{chunkStats: chunkStats{nulls: -1}}
			t.structure(2, func(id int, kind byte) bool { // column chunk
				if id != 3 || kind != thriftStruct {
					return t.indexPlace(&s.index, id, kind)
				}
				t.structure(3, func(id int, kind byte) bool { // its metadata
					if id != 12 || kind != thriftStruct {
						return false
					}
					t.structure(4, func(id int, kind byte) bool { return t.bounds(&s, id, kind) })
					return true
				})
				return true
			})
			list = append(list, s)
		})
		return true
	})
	return list
}

func (t *thrift) bounds(s *chunkWords, id int, kind byte) bool {
	switch {
	case id == 3 && kind == thriftInt64:
		s.nulls = t.int64()
	case id == 5 && kind == thriftBinary:
		s.most, s.hasMost = t.binary(), true
	case id == 6 && kind == thriftBinary:
		s.least, s.hasLeast = t.binary(), true
	default:
		s.older = s.older || id == 1 || id == 2
		return false
	}
	return true
}

// A span is the bounds of a column's values in a row group, and how many are NULL.
type span struct {
	least, most any // int64, float64 or string as the type stores it; nil where nothing can be trusted
	nulls       int64
	why         doubt // where some of what is said is not used
	sure        bool  // no value can be bad: the type has none that are, or the bounds hold them all
}

// span makes bounds of the engine's values, or none where they contradict each other or the type has
// no order that all writers agree on.
func (d *decoder) span(s chunkStats, rows int64) span {
	v := span{nulls: s.nulls, sure: d.allFit()}
	if v.nulls > rows {
		v.nulls, v.why = -1, nullsAboveRows
	}
	switch {
	case v.nulls > 0 && d.node.RepetitionType() == parquet.Repetitions.Required:
		v.why = nullsOfNone
	case s.hasLeast && s.hasMost && v.nulls == rows:
		v.why = nullsAndMore
	case s.hasLeast && s.hasMost:
		why := d.doubtOf(s.least, s.most)
		if why.none() {
			v.least, v.most = d.bound(s.least), d.bound(s.most)
			v.sure = v.sure || d.typ.Kind != expr.String
			return v
		}
		if v.why = why; v.why == typeUnused || v.why == boundMisfit || v.why == boundNotText {
			return v
		}
	case s.hasLeast || s.hasMost:
		v.why = oneBound
	case v.nulls == rows:
		v.sure = true
		return v
	default:
		v.why = noStatistics
	}
	// A writer that says nothing of the values, or what cannot be, may not have counted NULLs either.
	v.nulls = -1
	return v
}

// span is that of a column chunk.
func (w *chunkWords) span(d *decoder, rows int64) span {
	v := d.span(w.chunkStats, rows)
	if v.why == noStatistics && w.older {
		v.why = onlyOlder
	}
	return v
}

func inOrder(a, b any) bool {
	switch a := a.(type) {
	case int64:
		b, ok := b.(int64)
		return ok && a <= b
	case float64:
		b, ok := b.(float64)
		return ok && a <= b // never so for NaN
	case string:
		b, ok := b.(string)
		return ok && a <= b
	}
	return false
}

// bound is a bound as a value of the column, nil where the type's bounds are not used.
func (d *decoder) bound(b []byte) any {
	if d.typ.Kind == expr.Decimal && d.typ.Precision > expr.MaxDecimal64 {
		return nil
	}
	v := d.boundOf(b)
	if i, ok := v.(int64); ok && d.typ.Kind == expr.Decimal {
		if _, bad := d.narrow()(i); bad != nil {
			return nil
		}
	}
	return v
}

func (d *decoder) boundOf(b []byte) any {
	switch p := d.node.PhysicalType(); {
	case p == parquet.Types.Int32 && len(b) == 4:
		if d.typ.Kind == expr.BigInt {
			return int64(uint32(int32At(b)))
		}
		if d.typ.Kind == expr.Time {
			return d.boundTime(int64(int32At(b)), 1000, 1)
		}
		v := int32At(b)
		if l, ok := d.node.LogicalType().(*schema.IntLogicalType); ok && l.BitWidth() < 32 {
			if fit, bad := narrowInt(l)(v); bad != nil || fit != v { // by what order it was found, nobody knows
				return nil
			}
		}
		return int64(v)
	case p == parquet.Types.Int64 && len(b) == 8:
		return d.bound64(int64At(b))
	case p == parquet.Types.Float && len(b) == 4:
		return float64(floatAt(b))
	case p == parquet.Types.Double && len(b) == 8:
		return doubleAt(b)
	case p == parquet.Types.ByteArray && d.typ.Kind == expr.String:
		return string(b)
	}
	return nil
}

// allFit holds for columns whose values are all of their type, whatever their bytes are.
func (d *decoder) allFit() bool {
	switch d.node.PhysicalType() {
	case parquet.Types.Boolean, parquet.Types.Float, parquet.Types.Double:
		return true
	case parquet.Types.Int32:
		l, ok := d.node.LogicalType().(*schema.IntLogicalType)
		return d.typ.Kind != expr.Time && d.typ.Kind != expr.Decimal && (!ok || l.BitWidth() == 32)
	case parquet.Types.Int64:
		switch l := d.node.LogicalType().(type) {
		case *schema.TimestampLogicalType:
			return l.TimeUnit() != schema.TimeUnitMillis
		case *schema.IntLogicalType:
			return l.IsSigned() || d.typ.Kind == expr.Decimal
		}
		return d.typ.Kind == expr.BigInt
	}
	return d.typ.Kind == expr.Bytes
}

func (d *decoder) bound64(v int64) any {
	var bad *badValue
	switch l := d.node.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		switch l.TimeUnit() {
		case schema.TimeUnitMillis:
			v, bad = fromMillis(v)
		case schema.TimeUnitNanos:
			v = floorDiv(v, 1000)
		}
	case *schema.TimeLogicalType:
		if l.TimeUnit() == schema.TimeUnitNanos {
			return d.boundTime(v, 1, 1000)
		}
		return d.boundTime(v, 1, 1)
	case *schema.IntLogicalType:
		if !l.IsSigned() {
			v, bad = fromUint64(v)
		}
	}
	if bad != nil {
		return nil
	}
	return v
}

func (d *decoder) boundTime(v, up, down int64) any {
	if v, bad := timeOfDay(v, up, down); bad == nil {
		return v
	}
	return nil
}

// several is an array of values of a type, NULL for nil and for what the type cannot hold.
func (d *decoder) several(t expr.Type, values []any) arrow.Array {
	b := array.NewBuilder(d.alloc, t.Arrow())
	defer b.Release()
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			appendBound(b, v)
		case float64:
			if to, ok := b.(*array.Float64Builder); ok {
				to.Append(v)
			}
		case string:
			if to, ok := b.(*array.StringBuilder); ok && utf8.ValidString(v) {
				to.Append(v)
			}
		}
		if b.Len() == i {
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// appendBound appends a number as the builder has it, or nothing.
func appendBound(b array.Builder, v int64) {
	fits := v >= math.MinInt32 && v <= math.MaxInt32
	switch b := b.(type) {
	case *array.Int32Builder:
		if fits {
			b.Append(int32(v))
		}
	case *array.Int64Builder:
		b.Append(v)
	case *array.Date32Builder:
		if fits {
			b.Append(arrow.Date32(v))
		}
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	}
}
