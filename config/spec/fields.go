package spec

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Field is one option of an options struct, for pages and editors.
type Field struct {
	Name     string
	Type     string // "text", "number", "true or false", "size", "duration", "list of text", …
	Default  string
	Doc      string
	Required bool
	OneOf    []string // the only values allowed
	Fields   []Field  // of a nested struct
	Keyed    bool     // Fields are of each value of a mapping
}

// Fields lists the options of the struct ptr points to, in the order of their declaration.
func Fields(ptr any) []Field { return describe(reflect.TypeOf(ptr).Elem(), 0) }

// deepest ends the walk through structs that contain themselves.
const deepest = 8

func describe(t reflect.Type, depth int) []Field {
	var out []Field
	for _, f := range fieldsOf(t) {
		d := Field{Name: f.name, Type: f.expected(), Default: f.deflt, Doc: f.doc, Required: f.required(), OneOf: f.oneOf()}
		if inner := structOf(f.typ); inner != nil && depth < deepest {
			d.Fields, d.Keyed = describe(inner, depth+1), f.typ.Kind() == reflect.Map
		}
		out = append(out, d)
	}
	return out
}

// structOf is the struct a field holds, directly, by pointer, in a list or as the values of a mapping; nil
// for values.
func structOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		if isText(t) || reflect.PointerTo(t).Implements(reflect.TypeFor[OrderedMap]()) {
			return nil
		}
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && !isText(reflect.PointerTo(t)) {
		return t
	}
	return nil
}

// field is a struct field with its tags read.
type field struct {
	name, deflt, doc, rules, unit string
	typ                           reflect.Type
	Index                         []int
}

// fieldsOf lists the fields with a yaml tag; those of embedded structs stand for themselves.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for _, sf := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if name == "" || name == "-" || !sf.IsExported() {
			continue
		}
		out = append(out, field{name: name, deflt: sf.Tag.Get("default"), doc: sf.Tag.Get("doc"), rules: sf.Tag.Get("validate"),
			unit: sf.Tag.Get("unit"), typ: sf.Type, Index: sf.Index})
	}
	return out
}

func fieldNames(fs []field) []string {
	n := make([]string, len(fs))
	for i, f := range fs {
		n[i] = f.name
	}
	return n
}

// in reports whether the field belongs to a role, which its doc says where it is not both.
func (f field) in(role string) bool {
	switch {
	case strings.HasPrefix(f.doc, "Sources:"):
		return role != "sink"
	case strings.HasPrefix(f.doc, "Sinks:"):
		return role != "source"
	}
	return true
}

func inRole(fs []field, role string) []field {
	return slices.DeleteFunc(slices.Clone(fs), func(f field) bool { return !f.in(role) })
}

func find(fs []field, name string) (field, bool) {
	i := slices.IndexFunc(fs, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fs[i], true
}

// ruleList cuts a validate tag before "dive": what follows is about the elements.
func (f field) ruleList() []string {
	rules := strings.Split(f.rules, ",")
	if i := slices.Index(rules, "dive"); i >= 0 {
		rules = rules[:i]
	}
	return rules
}

func (f field) required() bool { return slices.Contains(f.ruleList(), "required") }

func (f field) oneOf() []string {
	for _, rule := range strings.Split(f.rules, ",") {
		if values, ok := strings.CutPrefix(rule, "oneof="); ok {
			return splitOneOf(values)
		}
	}
	return nil
}

// splitOneOf splits the parameter of oneof: words, in single quotes where they hold spaces.
func splitOneOf(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if s[0] == '\'' {
			if end := strings.IndexByte(s[1:], '\''); end >= 0 {
				out, s = append(out, s[1:end+1]), s[end+2:]
				continue
			}
		}
		word, rest, _ := strings.Cut(s, " ")
		out, s = append(out, word), rest
	}
	return out
}

// expected says in words what the field takes.
func (f field) expected() string {
	if values := f.oneOf(); len(values) > 0 && f.typ.Kind() != reflect.Slice {
		return List(values)
	}
	return typeName(f.typ, f.unit)
}

func typeName(t reflect.Type, unit string) string {
	switch {
	case t == reflect.TypeFor[Bytes]() || unit == "bytes":
		return "a size such as 4 mb"
	case t == reflect.TypeFor[Duration]() || unit == "ms":
		return "a duration such as 500 ms"
	case unit == "share":
		return "a share such as 0.1 %"
	case t.Kind() == reflect.Pointer && !isText(t):
		return typeName(t.Elem(), unit)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[OrderedMap]()):
		return "a mapping of names to values"
	case isText(t) || isText(reflect.PointerTo(t)):
		return "text"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list of " + strings.TrimPrefix(strings.TrimPrefix(typeName(t.Elem(), unit), "a "), "an ")
	case reflect.Map, reflect.Struct:
		return "a mapping"
	}
	return "an integer"
}

// Defaults sets every field of the struct ptr points to that has a default tag.
func Defaults(ptr any) { setDefaults(reflect.ValueOf(ptr).Elem()) }

func setDefaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.Index)
		if f.deflt != "" {
			setDefault(fv, f)
		} else if fv.Kind() == reflect.Struct && structOf(f.typ) != nil {
			setDefaults(fv)
		}
	}
}

// setDefault sets one field; a default of a list is its elements with commas between.
func setDefault(v reflect.Value, f field) {
	switch {
	case v.Kind() == reflect.Pointer && !isText(v.Type()):
		v.Set(reflect.New(v.Type().Elem()))
		setScalar(v.Elem(), f.deflt, f.unit)
	case v.Kind() == reflect.Slice && !isText(v.Addr().Type()):
		parts := strings.Split(f.deflt, ",")
		v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		for i, p := range parts {
			setScalar(v.Index(i), strings.TrimSpace(p), f.unit)
		}
	default:
		setScalar(v, f.deflt, f.unit)
	}
}

// setScalar reads a text into a value. Where it does not fit it says, where it can, what to write.
func setScalar(v reflect.Value, text, unit string) (hint string, ok bool) {
	if u, isText := v.Addr().Interface().(encoding.TextUnmarshaler); isText {
		return fails(u.UnmarshalText([]byte(text)))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return "", true
	case reflect.Bool:
		b, err := ParseBool(text)
		v.SetBool(b)
		return fails(err)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := parseInteger(text, v.Type(), unit)
		if err == nil && v.OverflowInt(n) {
			return "the number is too large", false
		}
		v.SetInt(n)
		return fails(err)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := ParseInt(text)
		if err == nil && (n < 0 || v.OverflowUint(uint64(n))) {
			return "the number is out of range", false
		}
		v.SetUint(uint64(n))
		return fails(err)
	case reflect.Float32, reflect.Float64:
		x, err := parseFloat(text, unit)
		v.SetFloat(x)
		return fails(err)
	}
	return "", false
}

func parseInteger(text string, t reflect.Type, unit string) (int64, error) {
	switch {
	case t == reflect.TypeFor[Bytes]() || unit == "bytes":
		return ParseBytes(text)
	case t == reflect.TypeFor[Duration]() || unit == "ms":
		return ParseDuration(text)
	}
	return ParseInt(text)
}

func parseFloat(text, unit string) (float64, error) {
	if unit == "share" {
		return ParseShare(text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "_xXnNiI") {
		return 0, strconv.ErrSyntax
	}
	return x, nil
}

func fails(err error) (string, bool) {
	if err == nil {
		return "", true
	}
	if err == strconv.ErrSyntax {
		return "", false
	}
	return err.Error(), false
}
