package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// nodes are the file's columns for a schema.
func nodes(in expr.Schema) (schema.FieldList, error) {
	list := make(schema.FieldList, 0, len(in.Fields))
	for _, f := range in.Fields {
		n, err := node(f)
		if err != nil {
			return nil, fmt.Errorf("column %s (%s) cannot be written to Parquet: %w", f.Name, f.Type, err)
		}
		list = append(list, n)
	}
	return list, nil
}

func node(f expr.Field) (schema.Node, error) {
	logical, physical, size := schema.LogicalType(schema.NoLogicalType{}), parquet.Types.Undefined, 0
	switch f.Type.Kind {
	case expr.Boolean:
		physical = parquet.Types.Boolean
	case expr.TinyInt, expr.SmallInt:
		physical, logical = parquet.Types.Int32, schema.NewIntLogicalType(int8(f.Type.Bits()), true)
	case expr.Int:
		physical = parquet.Types.Int32
	case expr.Float:
		physical = parquet.Types.Float
	case expr.BigInt:
		physical = parquet.Types.Int64
	case expr.Double:
		physical = parquet.Types.Double
	case expr.String:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case expr.Date:
		physical, logical = parquet.Types.Int32, schema.DateLogicalType{}
	case expr.Timestamp:
		unit := schema.TimeUnitMicros
		if f.Type.Precision <= 3 {
			unit = schema.TimeUnitMillis
		}
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(false, unit)
	case expr.Decimal:
		physical = parquet.Types.Int64
		if f.Type.Precision > expr.MaxDecimal64 {
			physical, size = parquet.Types.FixedLenByteArray, decimalBytes(f.Type.Precision)
		}
		logical = schema.NewDecimalLogicalType(int32(f.Type.Precision), int32(f.Type.Scale))
	case expr.Null:
		return nil, errors.New("NULL alone has no type; write CAST(NULL AS …)")
	default:
		return nil, errors.New("there is no form for it yet")
	}
	repetition := parquet.Repetitions.Optional
	if f.Type.NotNull {
		repetition = parquet.Repetitions.Required
	}
	return schema.NewPrimitiveNodeLogical(f.Name, repetition, logical, physical, size, -1)
}

// decimalBytes is how many bytes hold the unscaled values of a precision: the least number of bytes
// n with 10^precision - 1 < 2^(8n - 1).
func decimalBytes(precision int) int {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	return (limit.Sub(limit, big.NewInt(1)).BitLen() + 8) / 8
}

// A columnWriter hands rows of a column to the library: which of them are NULL, and the values of
// those that are not.
type columnWriter interface {
	write(cw file.ColumnChunkWriter, arr arrow.Array, rows []int32) error
}

// A batchWriter is a chunk writer of the library for one physical type.
type batchWriter[T any] interface {
	WriteBatch(values []T, def, rep []int16) (int64, error)
}

// A typedColumn writes columns of one physical type.
type typedColumn[T any] struct {
	nullable bool
	values   []T
	levels   []int16
	// get makes a way to the values of an array that are not NULL.
	get func(arr arrow.Array) (func(row int) T, error)
}

func (c *typedColumn[T]) write(cw file.ColumnChunkWriter, arr arrow.Array, rows []int32) error {
	w, ok := cw.(batchWriter[T])
	if !ok {
		return fmt.Errorf("its writer is a %T", cw)
	}
	get, err := c.get(arr)
	if err != nil {
		return err
	}
	c.values, c.levels = c.values[:0], c.levels[:0]
	nulls := arr.NullN() > 0
	for _, row := range rows {
		if nulls && arr.IsNull(int(row)) {
			if !c.nullable {
				return errors.New("it is NOT NULL and has a NULL")
			}
			c.levels = append(c.levels, 0)
			continue
		}
		c.levels = append(c.levels, 1)
		c.values = append(c.values, get(int(row)))
	}
	levels := c.levels
	if !c.nullable {
		levels = nil
	}
	_, err = w.WriteBatch(c.values, levels, nil)
	return err
}

var errColumn = errors.New("its array has another type than the schema says")

// direct is the way to values of arrays of one kind.
func direct[A any, T any](get func(A) func(int) T) func(arrow.Array) (func(int) T, error) {
	return func(arr arrow.Array) (func(int) T, error) {
		a, ok := arr.(A)
		if !ok {
			return nil, errColumn
		}
		return get(a), nil
	}
}

func newColumnWriter(f expr.Field) columnWriter {
	nullable := !f.Type.NotNull
	switch f.Type.Kind {
	case expr.Boolean:
		return &typedColumn[bool]{nullable: nullable, get: direct(func(a *array.Boolean) func(int) bool { return a.Value })}
	case expr.TinyInt, expr.SmallInt, expr.Int:
		return &typedColumn[int32]{nullable: nullable, get: direct(func(a *array.Int32) func(int) int32 { return a.Value })}
	case expr.Date:
		return &typedColumn[int32]{nullable: nullable, get: direct(func(a *array.Date32) func(int) int32 {
			return func(i int) int32 { return int32(a.Value(i)) }
		})}
	case expr.Float:
		return &typedColumn[float32]{nullable: nullable, get: direct(func(a *array.Float64) func(int) float32 {
			return func(i int) float32 { return float32(a.Value(i)) }
		})}
	case expr.Double:
		return &typedColumn[float64]{nullable: nullable, get: direct(func(a *array.Float64) func(int) float64 { return a.Value })}
	case expr.Timestamp:
		unit := int64(1)
		if f.Type.Precision <= 3 {
			unit = 1000
		}
		return &typedColumn[int64]{nullable: nullable, get: direct(func(a *array.Timestamp) func(int) int64 {
			return func(i int) int64 { return floorDiv(int64(a.Value(i)), unit) }
		})}
	case expr.String:
		return &typedColumn[parquet.ByteArray]{nullable: nullable, get: texts}
	case expr.Decimal:
		if f.Type.Precision > expr.MaxDecimal64 {
			return &typedColumn[parquet.FixedLenByteArray]{nullable: nullable, get: wide(decimalBytes(f.Type.Precision))}
		}
	}
	return &typedColumn[int64]{nullable: nullable, get: direct(func(a *array.Int64) func(int) int64 { return a.Value })}
}

// texts reads STRING columns, plain and dictionary-coded.
func texts(arr arrow.Array) (func(int) parquet.ByteArray, error) {
	code := func(i int) int { return i }
	if d, ok := arr.(*array.Dictionary); ok {
		arr, code = d.Dictionary(), d.GetValueIndex
	}
	s, ok := arr.(*array.String)
	if !ok {
		return nil, errColumn
	}
	return func(i int) parquet.ByteArray {
		v := s.Value(code(i))
		return unsafe.Slice(unsafe.StringData(v), len(v)) // the library copies
	}, nil
}

// wide reads decimals of more than 64 bits, as big-endian two's complement of a size.
func wide(size int) func(arrow.Array) (func(int) parquet.FixedLenByteArray, error) {
	return direct(func(a *array.Decimal128) func(int) parquet.FixedLenByteArray {
		return func(i int) parquet.FixedLenByteArray {
			v := a.Value(i)
			b := make([]byte, 16)
			binary.BigEndian.PutUint64(b, uint64(v.HighBits()))
			binary.BigEndian.PutUint64(b[8:], v.LowBits())
			return b[16-size:]
		}
	})
}
