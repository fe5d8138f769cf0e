package operatortest

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// ParseSchema reads columns as Schema.String writes them: "country STRING, amount DECIMAL(12, 2)".
func ParseSchema(s string) (expr.Schema, error) {
	var out expr.Schema
	depth, from := 0, 0
	for i, r := range s + "," {
		switch {
		case r == '(' || r == '<':
			depth++
		case r == ')' || r == '>':
			depth--
		case r == ',' && depth == 0:
			name, typ, ok := strings.Cut(strings.TrimSpace(s[from:i]), " ")
			if !ok {
				return out, fmt.Errorf("%q is not a column: expected a name and a type", s[from:i])
			}
			t, err := expr.ParseType(typ)
			if err != nil {
				return out, fmt.Errorf("column %s: %w", name, err)
			}
			out.Fields = append(out.Fields, expr.Field{Name: name, Type: t})
			from = i + 1
		}
	}
	return out, nil
}

// MustSchema is ParseSchema for schemas written in a test.
func MustSchema(s string) expr.Schema {
	out, err := ParseSchema(s)
	if err != nil {
		panic(err)
	}
	return out
}

// ParseRows reads rows, a line each: values separated by commas and spaces around them, NULL
// without quotes, "a, b" with them. An ARRAY, a MAP and a ROW are written as JSON: [1, 2], [{"key": "a", "value": 1}],
// {"a": 1}.
func ParseRows(alloc memory.Allocator, s expr.Schema, text string) (arrow.Record, error) {
	b := make([]array.Builder, len(s.Fields))
	for i, f := range s.Fields {
		b[i] = array.NewBuilder(alloc, f.Type.Arrow())
		defer b[i].Release()
	}
	rows := int64(0)
	for n, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		values, quoted := split(line)
		if len(s.Fields) == 0 && len(values) == 1 {
			values = nil
		}
		if len(values) != len(b) {
			return nil, fmt.Errorf("row %d: %d values for %d columns: %s", n+1, len(values), len(b), line)
		}
		for i, v := range values {
			if !quoted[i] && v == "NULL" {
				b[i].AppendNull()
			} else if err := appendText(b[i], s.Fields[i].Type, v); err != nil {
				return nil, fmt.Errorf("row %d, column %s: %w", n+1, s.Fields[i].Name, err)
			}
		}
		rows++
	}
	cols := make([]arrow.Array, len(b))
	for i := range b {
		cols[i] = b[i].NewArray()
		defer cols[i].Release()
	}
	return column.NewRecord(s.Fields, cols, rows), nil
}

func split(line string) (values []string, quoted []bool) {
	var v strings.Builder
	in, was := false, false
	depth := 0 // of brackets, within which a value is JSON
	end := func() {
		text := v.String()
		if !was {
			text = strings.TrimSpace(text)
		}
		values, quoted = append(values, text), append(quoted, was)
		v.Reset()
		was = false
	}
	for _, r := range line {
		switch {
		case depth > 0 || (r == '[' || r == '{') && !in && strings.TrimSpace(v.String()) == "":
			v.WriteRune(r)
			depth += strings.Count("[{", string(r)) - strings.Count("]}", string(r))
		case r == '"':
			if !was {
				v.Reset() // spaces before the quote
			}
			in, was = !in, true
		case r == ',' && !in:
			end()
		case was && !in: // spaces after the quote
		default:
			v.WriteRune(r)
		}
	}
	end()
	return values, quoted
}

func appendText(b array.Builder, t expr.Type, text string) error {
	v := []byte(text)
	var status expr.Status
	switch b := b.(type) {
	case *array.ListBuilder, *array.MapBuilder, *array.StructBuilder:
		return b.UnmarshalJSON([]byte("[" + text + "]"))
	case *array.StringBuilder:
		b.Append(text)
		return nil
	case *array.Int32Builder:
		var x int32
		x, status = expr.ParseInt32(v)
		b.Append(x)
	case *array.Int64Builder:
		var x int64
		if t.Kind == expr.Decimal {
			x, status = expr.ParseDecimal64(v, t.Precision, t.Scale)
		} else if t.Kind == expr.Time {
			x, status = expr.ParseTime(v, t.Precision)
		} else {
			x, status = expr.ParseInt64(v)
		}
		b.Append(x)
	case *array.Decimal128Builder:
		x, s := expr.ParseDecimal128(v, t.Precision, t.Scale)
		status = s
		b.Append(x)
	case *array.Float64Builder:
		var x float64
		x, status = expr.ParseDouble(v)
		b.Append(x)
	case *array.BooleanBuilder:
		var x bool
		x, status = expr.ParseBoolean(v)
		b.Append(x)
	case *array.Date32Builder:
		x, s := expr.ParseDate(v)
		status = s
		b.Append(arrow.Date32(x))
	case *array.TimestampBuilder:
		x, s := parseInstant(v, t)
		status = s
		b.Append(arrow.Timestamp(x))
	case *array.BinaryBuilder:
		x, s := expr.ParseBytes(v)
		status = s
		b.Append(x)
	default:
		return fmt.Errorf("no text for a column of %s", t)
	}
	if status != 0 {
		return fmt.Errorf("%q is not a %s", text, t)
	}
	return nil
}

// parseInstant reads a TIMESTAMP, or a TIMESTAMP_LTZ in UTC.
func parseInstant(v []byte, t expr.Type) (int64, expr.Status) {
	if t.Kind != expr.TimestampLTZ {
		return expr.ParseTimestamp(v, t.Precision)
	}
	utc, err := expr.LoadZone("")
	if err != nil {
		return 0, expr.Malformed
	}
	return expr.ParseTimestampLTZ(v, t.Precision, utc)
}

// FormatRows writes the rows of a record, or the selected ones, a line each, as ParseRows reads them.
func FormatRows(s expr.Schema, rec arrow.Record, sel []int32) []string {
	n := int(rec.NumRows())
	if sel != nil {
		n = len(sel)
	}
	lines := make([]string, n)
	var line []byte
	for i := range lines {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		line = line[:0]
		for c, f := range s.Fields {
			if c > 0 {
				line = append(line, ", "...)
			}
			v := string(column.AppendText(nil, rec.Column(c), f.Type, row))
			null := isNull(rec.Column(c), row)
			if f.Type.Kind == expr.String && !null && (v == "" || v == "NULL" || strings.ContainsAny(v, ", ")) {
				v = `"` + v + `"`
			}
			line = append(line, v...)
		}
		lines[i] = string(line)
	}
	return lines
}

func isNull(a arrow.Array, row int) bool {
	if d, ok := a.(*array.Dictionary); ok && d.IsValid(row) {
		return d.Dictionary().IsNull(d.GetValueIndex(row))
	}
	return a.IsNull(row)
}
