package json

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A nest reads values of a nested type from their JSON text: an ARRAY from an array, a ROW from the members of
// an object that have its fields' names, and a MAP from an object. Within, the rules are those of columns.
type nest struct {
	typ  expr.Type
	last bool       // of two equal keys the last one counts
	zone *expr.Zone // of a TIMESTAMP_LTZ without an offset

	s     scanner
	where []string // the way to the value that is read, as a path writes it
	bad   *columntext.Flaw
	spare []byte
}

func newNest(t expr.Type, last bool, zone *expr.Zone) *nest {
	return &nest{typ: t, last: last, zone: zone}
}

// nestable says why a type within a nested one cannot be read, nil if it can.
func nestable(t expr.Type) error {
	switch t.Kind {
	case expr.Map:
		if t.Key().Kind != expr.String {
			return fmt.Errorf("the keys of a JSON object are texts: expected MAP<STRING, …> instead of %s", t)
		}
	case expr.Array, expr.Row:
	default:
		if takes(t) == 0 {
			return fmt.Errorf("%s cannot be read from JSON", t)
		}
		return nil
	}
	for _, f := range t.Fields() {
		if err := nestable(f.Type); err != nil {
			return err
		}
	}
	return nil
}

// Parse makes an array of rows values, of which those in sel are read; the others are NULL.
func (n *nest) Parse(alloc memory.Allocator, rows int, sel []int32, value func(r int32) (text []byte, null bool)) (arrow.Array, *columntext.Flaw) {
	b := array.NewBuilder(alloc, n.typ.Arrow())
	defer b.Release()
	for k, r := range sel {
		for b.Len() < int(r) {
			b.AppendNull()
		}
		text, null := value(r)
		switch {
		case null && n.typ.NotNull:
			n.bad = &columntext.Flaw{Null: true}
		case null:
			b.AppendNull()
			continue
		default:
			n.read(b, text)
		}
		if bad := n.bad; bad != nil {
			// What was begun is half there; the rows before it are read once more.
			arr, _ := n.Parse(alloc, rows, sel[:k], value)
			bad.Row = r
			return arr, bad
		}
	}
	for b.Len() < rows {
		b.AppendNull()
	}
	return b.NewArray(), nil
}

// Check looks at a value without keeping it.
func (n *nest) Check(text []byte) *columntext.Flaw {
	b := array.NewBuilder(memory.DefaultAllocator, n.typ.Arrow())
	defer b.Release()
	n.read(b, text)
	return n.bad
}

// read appends a value. Its text is a part of a chunk's bytes, whose syntax was found right.
func (n *nest) read(b array.Builder, text []byte) {
	n.bad, n.where = nil, n.where[:0]
	n.s.base = unsafe.Pointer(unsafe.SliceData(text))
	n.value(n.typ, b, 0)
}

// fail notes what is wrong with the value that is read, and is -1.
func (n *nest) fail(f columntext.Flaw) int {
	f.Within = strings.Join(n.where, "")
	f.Value = bytes.Clone(f.Value)
	n.bad = &f
	return -1
}

// value appends the value at i and gives the place behind it, -1 where it cannot be read.
func (n *nest) value(t expr.Type, b array.Builder, i int) int {
	c := n.s.byte(i)
	if c == 'n' {
		if t.NotNull {
			return n.fail(columntext.Flaw{Null: true, Message: "it is NOT NULL and the value is null"})
		}
		b.AppendNull()
		return i + 4
	}
	got := kindOf(n.s.bytes(i, i+1))
	if takes(t)&got == 0 {
		end := n.s.skip(i, 0)
		return n.fail(columntext.Flaw{Value: n.s.bytes(i, end), Message: fmt.Sprintf("cannot cast %s to %s", got, t.Nullable(true))})
	}
	switch b := b.(type) {
	case *array.MapBuilder:
		return n.entries(t, b, i)
	case *array.ListBuilder:
		return n.elements(t, b, i)
	case *array.StructBuilder:
		return n.fields(t, b, i)
	}
	return n.scalar(t, b, i)
}

// elements appends an ARRAY.
func (n *nest) elements(t expr.Type, b *array.ListBuilder, i int) int {
	b.Append(true)
	elem, values := t.Element(), b.ValueBuilder()
	if i = n.s.blanks(i + 1); n.s.byte(i) == ']' {
		return i + 1
	}
	for k := 0; ; k++ {
		n.where = append(n.where, fmt.Sprintf("[%d]", k))
		if i = n.value(elem, values, i); i < 0 {
			return i
		}
		n.where = n.where[:len(n.where)-1]
		if i = n.s.blanks(i); n.s.byte(i) == ']' {
			return i + 1
		}
		i = n.s.blanks(i + 1)
	}
}

// A member is a key of an object and where its value begins.
type member struct {
	key string
	at  int
}

// members lists the members of the object at i and gives the place behind it. Of equal keys that are wanted
// there is the last one, or a fault.
func (n *nest) members(i int, wanted func(key []byte) bool) (list []member, end int) {
	places := map[string]int{}
	for first := true; ; first = false {
		next, key := n.s.key(i, first)
		if key == nil {
			return list, next
		}
		if wanted(key) {
			k, twice := places[string(key)]
			switch {
			case !twice:
				places[string(key)] = len(list)
				list = append(list, member{string(key), next})
			case n.last:
				list[k].at = next
			default:
				n.where = append(n.where, inside(string(key)))
				return nil, n.fail(columntext.Flaw{Message: "it stands twice in its object: expected each key once, or `duplicate_keys: last`"})
			}
		}
		i = n.s.skip(next, 0)
	}
}

// inside is a step into a member, as a path writes it.
func inside(key string) string { return "." + writePath([]step{{name: key, index: -1}}) }

// fields appends a ROW.
func (n *nest) fields(t expr.Type, b *array.StructBuilder, i int) int {
	fields := t.Fields()
	list, end := n.members(i, func(key []byte) bool {
		return slices.ContainsFunc(fields, func(f expr.Field) bool { return f.Name == string(key) })
	})
	if end < 0 {
		return end
	}
	b.Append(true)
	for k, f := range fields {
		n.where = append(n.where, inside(f.Name))
		at := slices.IndexFunc(list, func(m member) bool { return m.key == f.Name })
		switch {
		case at >= 0:
			if n.value(f.Type, b.FieldBuilder(k), list[at].at) < 0 {
				return -1
			}
		case f.Type.NotNull:
			return n.fail(columntext.Flaw{Null: true, Message: "it is NOT NULL and the object does not have it"})
		default:
			b.FieldBuilder(k).AppendNull()
		}
		n.where = n.where[:len(n.where)-1]
	}
	return end
}

// entries appends a MAP.
func (n *nest) entries(t expr.Type, b *array.MapBuilder, i int) int {
	list, end := n.members(i, func([]byte) bool { return true })
	if end < 0 {
		return end
	}
	b.Append(true)
	keys, ok := b.KeyBuilder().(*array.StringBuilder)
	if !ok {
		return n.fail(columntext.Flaw{Message: "its keys are no texts"})
	}
	for _, m := range list {
		n.where = append(n.where, inside(m.key))
		keys.Append(m.key)
		if n.value(t.Element(), b.ItemBuilder(), m.at) < 0 {
			return -1
		}
		n.where = n.where[:len(n.where)-1]
	}
	return end
}

// scalar appends a value that is not nested.
func (n *nest) scalar(t expr.Type, b array.Builder, i int) int {
	var v []byte
	end := n.s.skip(i, 0)
	if v = n.s.bytes(i, end); v[0] == '"' {
		var half bool
		if n.spare, half = appendUnescaped(n.spare[:0], v[1:len(v)-1]); half {
			return n.fail(columntext.Flaw{Value: v, Message: "the string has half of a surrogate pair, which is no text"})
		}
		v = n.spare
	}
	s := appendScalar(t, b, v, n.zone)
	if s != expr.OK {
		t = t.Nullable(true)
		return n.fail(columntext.Flaw{Value: v, Message: fmt.Sprintf("cannot cast '%s' to %s: %s", shortened(v), t, s.Cause(t))})
	}
	return end
}

// appendScalar appends the value of a text. A builder of times takes the instant that has the time in UTC.
func appendScalar(t expr.Type, b array.Builder, v []byte, z *expr.Zone) (s expr.Status) {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.BinaryBuilder.Append(v)
	case *array.BinaryBuilder:
		var x []byte
		x, s = expr.ParseBytes(v)
		b.Append(x)
	case *array.BooleanBuilder:
		var x bool
		x, s = expr.ParseBoolean(v)
		b.Append(x)
	case *array.Int32Builder:
		var x int64
		x, s = columntext.ParseWhole(v, t.Bits())
		b.Append(int32(x))
	case *array.Int64Builder:
		var x int64
		switch t.Kind {
		case expr.Decimal:
			x, s = expr.ParseDecimal64(v, t.Precision, t.Scale)
		case expr.Time:
			x, s = expr.ParseTime(v, t.Precision)
		default:
			x, s = columntext.ParseWhole(v, 64)
		}
		b.Append(x)
	case *array.Decimal128Builder:
		var x decimal128.Num
		x, s = expr.ParseDecimal128(v, t.Precision, t.Scale)
		b.Append(x)
	case *array.Float64Builder:
		var x float64
		if x, s = expr.ParseDouble(v); t.Kind == expr.Float {
			x, s = expr.ParseFloat(v)
		}
		b.Append(x)
	case *array.Date32Builder:
		var x int32
		x, s = expr.ParseDate(v)
		b.Append(arrow.Date32(x))
	case *array.TimestampBuilder:
		var x int64
		if t.Kind == expr.TimestampLTZ {
			x, s = expr.ParseTimestampLTZ(v, t.Precision, z)
		} else {
			x, s = expr.ParseTimestamp(v, t.Precision)
		}
		b.Append(arrow.Timestamp(x))
	default:
		s = expr.Malformed
	}
	return s
}
