package expr

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unique"

	"github.com/apache/arrow/go/v17/arrow"
)

// Kind is the family of a logical type.
type Kind uint8

// The kinds. Null is the type of a bare NULL. Digests of results hold the numbers of kinds, so that
// further ones stand at the end.
const (
	Invalid Kind = iota
	Null
	Boolean
	Int
	BigInt
	Decimal
	Double
	String
	Bytes
	Date
	Timestamp
	TinyInt
	SmallInt
	Float
	Time
	TimestampLTZ
	Array
	Map
	Row
)

// Storage is the kind whose columns hold the values of k as they are: TINYINT and SMALLINT stand in
// columns of INT, FLOAT in columns of DOUBLE, TIME as BIGINT microseconds of the day and TIMESTAMP_LTZ
// as the TIMESTAMP that UTC has at the instant. Work on columns switches on it, and only what gives a
// value its range, its rounding or its text on the kind itself.
func (k Kind) Storage() Kind {
	switch k {
	case TinyInt, SmallInt:
		return Int
	case Float:
		return Double
	case Time:
		return BigInt
	case TimestampLTZ:
		return Timestamp
	}
	return k
}

// Whole reports whether the values of the type are integers.
func (t Type) Whole() bool { return t.Kind.Storage() == Int || t.Kind == BigInt }

// Bits is the width of a whole type: its values reach from -2^(Bits-1) to 2^(Bits-1) - 1. It is 0 for others.
func (t Type) Bits() int {
	switch t.Kind {
	case TinyInt:
		return 8
	case SmallInt:
		return 16
	case Int:
		return 32
	case BigInt:
		return 64
	}
	return 0
}

// wholeRange is the least and the largest value of a whole type.
func (t Type) wholeRange() (least, most int64) {
	most = math.MaxInt64 >> (64 - t.Bits())
	return -most - 1, most
}

const narrowKinds = 1<<Int | 1<<Date | 1<<TinyInt | 1<<SmallInt

// narrow reports whether values stand in 32 bits.
func (t Type) narrow() bool { return narrowKinds>>t.Kind&1 != 0 }

// MaxDecimal is the largest precision of a DECIMAL, and MaxDecimal64 the largest whose values are
// held in 64 bits.
const (
	MaxDecimal   = 38
	MaxDecimal64 = 18
)

// A Type is a logical SQL type. Precision and Scale belong to DECIMAL, Precision alone to TIME,
// TIMESTAMP and TIMESTAMP_LTZ; they are zero elsewhere, so types compare with ==. What a nested type is
// made of is told by [Type.Fields].
type Type struct {
	Kind      Kind
	Precision int
	Scale     int
	NotNull   bool
	parts     unique.Handle[typePart]
}

// DecimalOf is DECIMAL(precision, scale), nullable.
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// TimestampOf is TIMESTAMP(precision), nullable.
func TimestampOf(precision int) Type { return Type{Kind: Timestamp, Precision: precision} }

// TimestampLTZOf is TIMESTAMP_LTZ(precision), nullable: an instant, which the session's time zone shows.
func TimestampLTZOf(precision int) Type { return Type{Kind: TimestampLTZ, Precision: precision} }

// TimeOf is TIME(precision), nullable: a time of day without a date.
func TimeOf(precision int) Type { return Type{Kind: Time, Precision: precision} }

// Of is the nullable type of a kind that has neither precision nor scale.
func Of(k Kind) Type { return Type{Kind: k} }

// Nullable is the same type with NULL allowed or not.
func (t Type) Nullable(yes bool) Type {
	t.NotNull = !yes
	return t
}

// Same reports whether two types differ at most in whether NULL is allowed, also within a nested type.
func (t Type) Same(o Type) bool {
	if t.Nested() {
		return t.loose() == o.loose()
	}
	return t.Nullable(true) == o.Nullable(true)
}

// Numeric reports whether values of the type can be added.
func (t Type) Numeric() bool {
	return t.Whole() || t.Kind == Decimal || t.Kind.Storage() == Double
}

// String is the type as Flink SQL writes it: "DECIMAL(12, 2) NOT NULL".
func (t Type) String() string {
	s := ""
	switch t.Kind {
	case Null:
		s = "NULL"
	case Boolean:
		s = "BOOLEAN"
	case TinyInt:
		s = "TINYINT"
	case SmallInt:
		s = "SMALLINT"
	case Int:
		s = "INT"
	case BigInt:
		s = "BIGINT"
	case Decimal:
		s = fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case Float:
		s = "FLOAT"
	case Double:
		s = "DOUBLE"
	case String:
		s = "STRING"
	case Bytes:
		s = "BYTES"
	case Date:
		s = "DATE"
	case Time:
		s = fmt.Sprintf("TIME(%d)", t.Precision)
	case Timestamp:
		s = fmt.Sprintf("TIMESTAMP(%d)", t.Precision)
	case TimestampLTZ:
		s = fmt.Sprintf("TIMESTAMP_LTZ(%d)", t.Precision)
	case Array, Map, Row:
		s = t.nestedText()
	default:
		return "INVALID"
	}
	if t.NotNull {
		s += " NOT NULL"
	}
	return s
}

// Arrow is the one physical type that columns of the logical type have inside the engine:
//
//	BOOLEAN bool · TINYINT, SMALLINT, INT int32 · BIGINT int64
//	DOUBLE float64 · FLOAT float64 of values that 32 bits hold
//	DECIMAL(p, s) int64 holding value * 10^s where p <= 18, decimal128(p, s) above
//	STRING utf8, or dictionary<int32, utf8> (both occur; see [IsDictionary]) · BYTES binary
//	DATE date32 (days since 1970-01-01) · TIME(p) int64 (microseconds of the day)
//	TIMESTAMP(p) timestamp[us] without zone · TIMESTAMP_LTZ(p) the same, of microseconds since 1970-01-01 00:00:00 UTC
//	ARRAY list, MAP map, ROW struct of the physical types of what they are made of, texts plain
//
// Sources convert to it and sinks from it.
func (t Type) Arrow() arrow.DataType {
	switch t.Kind.Storage() {
	case Null:
		return arrow.Null
	case Boolean:
		return arrow.FixedWidthTypes.Boolean
	case Int:
		return arrow.PrimitiveTypes.Int32
	case BigInt:
		return arrow.PrimitiveTypes.Int64
	case Decimal:
		if t.Precision <= MaxDecimal64 {
			return arrow.PrimitiveTypes.Int64
		}
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Double:
		return arrow.PrimitiveTypes.Float64
	case Bytes:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Timestamp:
		return timestampUS
	case Array, Map, Row:
		return t.nestedArrow()
	default:
		return arrow.BinaryTypes.String
	}
}

var timestampUS = &arrow.TimestampType{Unit: arrow.Microsecond}

// IsDictionary reports whether a column of physical type t holds dictionary codes.
func IsDictionary(t arrow.DataType) bool { return t.ID() == arrow.DICTIONARY }

// MarshalJSON writes the type as its SQL text.
func (t Type) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Type) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	switch s { // types that no plan can write, but schemas inside a job graph hold
	case "NULL":
		*t = Of(Null)
		return nil
	case "BYTES", "BYTES NOT NULL":
		*t = Of(Bytes).Nullable(s == "BYTES")
		return nil
	}
	p, err := ParseType(s)
	*t = p
	return err
}

// A Field is a named column.
type Field struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// A Schema is an ordered list of columns; names are case-sensitive and unique.
type Schema struct {
	Fields []Field `json:"fields"`
	// Hidden is how many of the last Fields are there for who names them alone, and no part of a star.
	Hidden int `json:"hidden,omitempty"`
}

// Visible are the fields without the hidden ones.
func (s Schema) Visible() []Field { return s.Fields[:len(s.Fields)-s.Hidden] }

// SchemaOf makes a schema of fields.
func SchemaOf(f ...Field) Schema { return Schema{Fields: f} }

// Index is the place of a column, -1 where there is none of that name.
func (s Schema) Index(name string) int {
	for i, f := range s.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Names are the column names in order.
func (s Schema) Names() []string {
	n := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		n[i] = f.Name
	}
	return n
}

// Pick is the schema of some of the columns, in the order given.
func (s Schema) Pick(cols []int) Schema {
	f := make([]Field, len(cols))
	for i, c := range cols {
		f[i] = s.Fields[c]
	}
	return Schema{Fields: f}
}

// Arrow is the physical schema with every STRING plain. A batch may carry dictionary columns
// instead, so its own schema is made from its columns.
func (s Schema) Arrow() *arrow.Schema {
	f := make([]arrow.Field, len(s.Fields))
	for i, c := range s.Fields {
		f[i] = arrow.Field{Name: c.Name, Type: c.Type.Arrow(), Nullable: !c.Type.NotNull}
	}
	return arrow.NewSchema(f, nil)
}

// String lists the columns as in a CREATE TABLE: "order_id BIGINT NOT NULL, country STRING".
func (s Schema) String() string {
	parts := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		parts[i] = f.Name + " " + f.Type.String()
	}
	return strings.Join(parts, ", ")
}
