package spec

import (
	"encoding/json"
	"reflect"
	"strconv"
)

// JSONSchema describes the struct ptr points to for editors, as a JSON Schema (2020-12) without
// $schema, so that it can stand inside a larger one.
func JSONSchema(ptr any) map[string]any { return schemaOf(reflect.TypeOf(ptr).Elem(), 0) }

func schemaOf(t reflect.Type, depth int) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		s := schemaOfValue(f.typ, f.unit, depth)
		if f.doc != "" {
			s["description"] = f.doc
		}
		if f.deflt != "" {
			s["default"] = defaultValue(f)
		}
		if values := f.oneOf(); values != nil && f.typ.Kind() == reflect.String {
			s["enum"] = values
		}
		properties[f.name] = s
		if f.required() {
			required = append(required, f.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// defaultValue is a default as JSON has it: a number or boolean bare, everything else as text.
func defaultValue(f field) any {
	switch k := f.typ.Kind(); {
	case f.unit == "" && (k == reflect.Bool || k == reflect.Int || k == reflect.Int64 || k == reflect.Float64):
		if json.Valid([]byte(f.deflt)) {
			return json.RawMessage(f.deflt)
		}
	}
	return f.deflt
}

func schemaOfValue(t reflect.Type, unit string, depth int) map[string]any {
	switch {
	case t == reflect.TypeFor[Bytes]() || t == reflect.TypeFor[Duration]() || unit != "":
		return map[string]any{"type": []string{"string", "number"}}
	case t.Kind() == reflect.Pointer && !isText(t):
		return schemaOfValue(t.Elem(), unit, depth)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[OrderedMap]()):
		var entry any = map[string]any{"type": "string"}
		if reflect.PointerTo(t).Implements(reflect.TypeFor[OrderedFields]()) {
			entry = map[string]any{"type": []string{"string", "object"}, "additionalProperties": map[string]any{"type": "string"}}
		}
		return map[string]any{"type": "object", "additionalProperties": entry}
	case isText(t) || isText(reflect.PointerTo(t)):
		return scalarSchema()
	}
	switch t.Kind() {
	case reflect.Bool:
		return orParam("boolean")
	case reflect.String:
		return scalarSchema()
	case reflect.Float32, reflect.Float64:
		return orParam("number")
	case reflect.Slice:
		item := schemaOfValue(t.Elem(), unit, depth)
		list := map[string]any{"type": "array", "items": item}
		if t.Elem().Kind() == reflect.Struct {
			return list
		}
		return map[string]any{"anyOf": []any{item, list}}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOfValue(t.Elem(), unit, depth)}
	case reflect.Struct:
		if depth < deepest {
			return schemaOf(t, depth+1)
		}
		return map[string]any{"type": "object"}
	}
	return orParam("integer")
}

// scalarSchema takes every bare scalar, because text keeps its text: 02134, 1.10, NO.
func scalarSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number", "boolean", "null"}}
}

// orParam takes a value of the type or a text with a parameter in it.
func orParam(typ string) map[string]any {
	return map[string]any{"anyOf": []any{map[string]any{"type": typ}, map[string]any{"type": "string", "pattern": `\$\{`}}}
}

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := ParseBytes(string(text))
	*b = Bytes(n)
	return err
}

// String is the size with its unit.
func (b Bytes) String() string { return FormatBytes(int64(b)) }

// MarshalJSON writes the number of bytes.
func (b Bytes) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(b), 10), nil }

// UnmarshalJSON reads the number of bytes.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(string(data), 10, 64)
	*b = Bytes(n)
	return err
}

// UnmarshalText reads a span of time.
func (d *Duration) UnmarshalText(text []byte) error {
	n, err := ParseDuration(string(text))
	*d = Duration(n)
	return err
}

// String is the span with its unit.
func (d Duration) String() string { return FormatDuration(int64(d)) }

// MarshalJSON writes milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(d), 10), nil }

// UnmarshalJSON reads milliseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(string(data), 10, 64)
	*d = Duration(n)
	return err
}
