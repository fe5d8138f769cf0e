package parquet

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/parquet"
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
	if f.Type.Nested() {
		return nestedNode(f)
	}
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
	case expr.Timestamp, expr.TimestampLTZ:
		unit := schema.TimeUnitMicros
		if f.Type.Precision <= 3 {
			unit = schema.TimeUnitMillis
		}
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(f.Type.Kind == expr.TimestampLTZ, unit)
	case expr.Time:
		physical, logical = parquet.Types.Int64, schema.NewTimeLogicalType(false, schema.TimeUnitMicros)
		if f.Type.Precision <= 3 {
			physical, logical = parquet.Types.Int32, schema.NewTimeLogicalType(false, schema.TimeUnitMillis)
		}
	case expr.Bytes:
		physical = parquet.Types.ByteArray
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
	return schema.NewPrimitiveNodeLogical(f.Name, repetition(f.Type), logical, physical, size, -1)
}

func repetition(t expr.Type) parquet.Repetition {
	if t.NotNull {
		return parquet.Repetitions.Required
	}
	return parquet.Repetitions.Optional
}

// nestedNode is the form of a nested column: lists and maps of three levels, as the format asks for.
func nestedNode(f expr.Field) (schema.Node, error) {
	fields := f.Type.Fields()
	if f.Type.Kind == expr.Map {
		fields[0].Type.NotNull = true
	}
	parts, err := nodes(expr.Schema{Fields: fields})
	if err != nil {
		return nil, err
	}
	switch f.Type.Kind {
	case expr.Array:
		return schema.ListOfWithName(f.Name, parts[0], repetition(f.Type), -1)
	case expr.Map:
		return schema.MapOf(f.Name, parts[0], parts[1], repetition(f.Type), -1)
	}
	return schema.NewGroupNode(f.Name, repetition(f.Type), parts, -1)
}

// decimalBytes is how many bytes hold the unscaled values of a precision: the least number of bytes
// n with 10^precision - 1 < 2^(8n - 1).
func decimalBytes(precision int) int {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	return (limit.Sub(limit, big.NewInt(1)).BitLen() + 8) / 8
}
