package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A leaf is a column of a file.
type leaf struct {
	name  string
	index int       // among the file's leaf columns; -1 for one that cannot be read
	typ   expr.Type // SQL type
	why   string    // why it cannot be read
	note  string    // what is special about how it is read
	float bool      // its values are of 32 bits, which a FLOAT holds
	nest  *nest     // what a nested column is made of; nil for others
	bare  bool      // bytes without annotation, which may be text
	utc   bool      // a TIMESTAMP of an old annotation or INT96, which most writers meant as an instant
	wide  bool      // unsigned numbers of 64 bits, which are decimals where nothing else is declared
}

// as is the column as a declared type has it: bytes without annotation are text where text is declared,
// since old writers leave the annotation out; unsigned numbers of 64 bits are whole numbers where such are
// declared, and have to fit then; a DECIMAL has the digits that are declared where its writer wrote more than
// the file says.
func (l leaf) as(t expr.Type) leaf {
	if l.wide && t.Whole() {
		l.typ = expr.Of(expr.BigInt).Nullable(!l.typ.NotNull)
	}
	if digits := t.Precision - t.Scale + l.typ.Scale; t.Kind == expr.Decimal && l.typ.Kind == expr.Decimal && digits > l.typ.Precision {
		l.typ.Precision = digits
	}
	if l.bare && t.Kind == expr.String {
		l.typ.Kind = expr.String
	}
	return l
}

// leaves are the columns of a file in its order.
func leaves(s *schema.Schema) []leaf {
	root := s.Root()
	list := make([]leaf, 0, root.NumFields())
	seen := map[string]int{}
	next := 0 // leaf columns passed
	for i := range root.NumFields() {
		n := root.Field(i)
		l := leaf{name: n.Name(), index: next}
		next += leavesUnder(n)
		switch p, ok := n.(*schema.PrimitiveNode); {
		case !ok || n.RepetitionType() == parquet.Repetitions.Repeated:
			first := l.index
			l.nest = nestOf(n, n.Name(), level{}, &first)
			if l.typ, l.why = l.nest.typ, l.nest.why; l.why != "" {
				l.index = -1
			}
		default:
			l = primitive(p, l.index)
			l.typ.NotNull = n.RepetitionType() == parquet.Repetitions.Required
		}
		if at, twice := seen[l.name]; twice {
			list[at].index, list[at].why = -1, "the file has two columns of that name"
			continue
		}
		seen[l.name] = len(list)
		list = append(list, l)
	}
	return list
}

// primitive is a plain column, or a plain part of a nested one, of a place among the leaves.
func primitive(n *schema.PrimitiveNode, index int) leaf {
	l := leaf{name: n.Name(), index: index, float: n.PhysicalType() == parquet.Types.Float}
	var err error
	if l.typ, err = sqlType(n); err != nil {
		l.index, l.why = -1, err.Error()
	}
	l.bare = n.PhysicalType() == parquet.Types.ByteArray && isNone(n.LogicalType())
	if _, ok := n.LogicalType().(schema.IntervalLogicalType); ok {
		l.note = "INTERVAL, read as it is stored: months, days and milliseconds, each four bytes, the lowest first"
	}
	l.utc = l.typ.Kind == expr.Timestamp && isInstant(n)
	if i, ok := n.LogicalType().(*schema.IntLogicalType); ok {
		l.wide = i.BitWidth() == 64 && !i.IsSigned()
	}
	return l
}

func leavesUnder(n schema.Node) int {
	g, ok := n.(*schema.GroupNode)
	if !ok {
		return 1
	}
	c := 0
	for i := range g.NumFields() {
		c += leavesUnder(g.Field(i))
	}
	return c
}

// groupKind is what a group means: a LIST, a MAP, or a ROW.
func groupKind(n *schema.GroupNode) string {
	switch n.LogicalType().(type) {
	case schema.ListLogicalType:
		return "LIST"
	case schema.MapLogicalType:
		return "MAP"
	}
	if n.ConvertedType() == schema.ConvertedTypes.MapKeyValue { // an old writer's MAP
		return "MAP"
	}
	return "ROW"
}

// isInstant reports whether a TIMESTAMP may be one of UTC: it does not say that it is a local time.
func isInstant(n *schema.PrimitiveNode) bool {
	t, ok := n.LogicalType().(*schema.TimestampLogicalType)
	return !ok || t.IsAdjustedToUTC()
}

// sqlType is the SQL type of a column, or why there is none.
func sqlType(n *schema.PrimitiveNode) (expr.Type, error) {
	logical := n.LogicalType()
	if d, ok := logical.(*schema.DecimalLogicalType); ok {
		return decimalType(int(d.Precision()), int(d.Scale()))
	}
	none := isNone(logical)
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		if none {
			return expr.Of(expr.Boolean), nil
		}
	case parquet.Types.Int32:
		switch l := logical.(type) {
		case schema.DateLogicalType:
			return expr.Of(expr.Date), nil
		case *schema.IntLogicalType:
			if l.BitWidth() == 32 && !l.IsSigned() {
				return expr.Of(expr.BigInt), nil
			}
			return expr.Of(expr.Int), nil
		case *schema.TimeLogicalType:
			return expr.TimeOf(3), nil
		}
		if none {
			return expr.Of(expr.Int), nil
		}
	case parquet.Types.Int64:
		switch l := logical.(type) {
		case *schema.TimestampLogicalType:
			return timestampType(l), nil
		case *schema.TimeLogicalType:
			return expr.TimeOf(6), nil
		case *schema.IntLogicalType:
			if !l.IsSigned() {
				return expr.DecimalOf(20, 0), nil // which holds them all
			}
			return expr.Of(expr.BigInt), nil
		}
		if none {
			return expr.Of(expr.BigInt), nil
		}
	case parquet.Types.Int96:
		return expr.TimestampOf(6), nil
	case parquet.Types.Float, parquet.Types.Double:
		if none {
			return expr.Of(expr.Double), nil
		}
	case parquet.Types.ByteArray:
		switch logical.(type) {
		case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
			return expr.Of(expr.String), nil
		}
		if _, bson := logical.(schema.BSONLogicalType); none || bson {
			return expr.Of(expr.Bytes), nil
		}
	case parquet.Types.FixedLenByteArray:
		if _, ok := logical.(schema.IntervalLogicalType); none || ok {
			return expr.Of(expr.Bytes), nil
		}
		if _, ok := logical.(schema.UUIDLogicalType); ok && n.TypeLength() == 16 {
			return expr.Of(expr.String), nil
		}
		if _, ok := logical.(schema.Float16LogicalType); ok && n.TypeLength() == 2 {
			return expr.Of(expr.Double), nil
		}
	}
	return expr.Type{}, fmt.Errorf("its type is %s, which cannot be read yet", typeName(n))
}

// timestampType is a TIMESTAMP_LTZ where the annotation says that values are instants. The old annotation of
// a file that has it alone did not tell instants from local times.
func timestampType(l *schema.TimestampLogicalType) expr.Type {
	t := expr.TimestampOf(6)
	if l.TimeUnit() == schema.TimeUnitMillis {
		t.Precision = 3
	}
	if l.IsAdjustedToUTC() && !l.IsFromConvertedType() {
		t.Kind = expr.TimestampLTZ
	}
	return t
}

func decimalType(precision, scale int) (expr.Type, error) {
	if precision < 1 || precision > expr.MaxDecimal || scale < 0 || scale > precision {
		return expr.Type{}, fmt.Errorf("its type is DECIMAL(%d, %d), and the precision goes from 1 to %d, the scale from 0 to the precision",
			precision, scale, expr.MaxDecimal)
	}
	return expr.DecimalOf(precision, scale), nil
}

func isNone(l schema.LogicalType) bool {
	if l == nil || l.IsNone() {
		return true
	}
	switch l.(type) {
	case schema.UnknownLogicalType, schema.NullLogicalType: // the latter says that all values are NULL, which they are then
		return true
	}
	return false
}

// typeName is a Parquet type as people write it: "INT32 (Time(…))".
func typeName(n *schema.PrimitiveNode) string {
	s := n.PhysicalType().String()
	if p := n.PhysicalType(); p < parquet.Types.Boolean || p > parquet.Types.FixedLenByteArray {
		s = fmt.Sprintf("of number %d, which the format does not have", p)
	}
	if n.PhysicalType() == parquet.Types.FixedLenByteArray {
		s = fmt.Sprintf("%s(%d)", s, n.TypeLength())
	}
	if l := n.LogicalType(); !isNone(l) {
		s += " (" + l.String() + ")"
	}
	return s
}
