package column

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// AppendText writes the canonical text of a value of a column of type t, as the Append functions of
// package expr define it; a STRING is itself, without quotes, and NULL is the word NULL. The text
// does not depend on the physical form, and none on a zone: a TIMESTAMP_LTZ is in UTC, with a Z. A nested
// value is written as [expr.NestedText] does.
func AppendText(dst []byte, arr arrow.Array, t expr.Type, row int) []byte {
	if arr.IsNull(row) || arr.DataType().ID() == arrow.NULL {
		return append(dst, "NULL"...)
	}
	d := arr.Data()
	switch arr.DataType().ID() {
	case arrow.BOOL:
		return expr.AppendBoolean(dst, bit(d.Buffers()[1].Bytes(), d.Offset()+row))
	case arrow.INT32:
		return expr.AppendInt(dst, int64(fixed[int32](d)[row]))
	case arrow.DATE32:
		return expr.AppendDate(dst, fixed[int32](d)[row])
	case arrow.INT64:
		v := fixed[int64](d)[row]
		if t.Kind == expr.Decimal {
			return expr.AppendDecimal(dst, v, t.Scale)
		}
		if t.Kind == expr.Time {
			return expr.AppendTime(dst, v, t.Precision)
		}
		return expr.AppendInt(dst, v)
	case arrow.TIMESTAMP:
		if t.Kind == expr.TimestampLTZ {
			return expr.AppendTimestampLTZ(dst, fixed[int64](d)[row], t.Precision)
		}
		return expr.AppendTimestamp(dst, fixed[int64](d)[row], t.Precision)
	case arrow.FLOAT64:
		if t.Kind == expr.Float {
			return expr.AppendFloat(dst, fixed[float64](d)[row])
		}
		return expr.AppendDouble(dst, fixed[float64](d)[row])
	case arrow.DECIMAL128:
		return expr.AppendDecimal128(dst, fixed[decimal128.Num](d)[row], t.Scale)
	case arrow.STRING, arrow.BINARY:
		offs, data := texts(d)
		if t.Kind == expr.Bytes {
			return expr.AppendBytes(dst, data[offs[row]:offs[row+1]])
		}
		return append(dst, data[offs[row]:offs[row+1]]...)
	case arrow.DICTIONARY:
		return AppendText(dst, arr.(*array.Dictionary).Dictionary(), t, int(fixed[int32](d)[row]))
	case arrow.LIST, arrow.MAP, arrow.STRUCT:
		return expr.NestedText(arr, t, leafText)(dst, row)
	}
	return append(dst, arr.ValueStr(row)...)
}
