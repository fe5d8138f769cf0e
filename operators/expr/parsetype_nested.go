package expr

import (
	"fmt"
	"regexp"
	"strings"
)

var nestedPattern = regexp.MustCompile(`(?i)^\s*(ARRAY|MAP|ROW)\s*([<(]|$)`)

// isNestedType reports whether a text begins as a nested type does.
func isNestedType(s string) bool { return nestedPattern.MatchString(s) }

// A typeReader reads a nested type: ARRAY<t>, MAP<t, t> and ROW<name t, …>, which may have round brackets.
type typeReader struct {
	text  string
	at    int
	depth int
}

func parseNestedType(s string) (Type, error) {
	r := &typeReader{text: s}
	t, err := r.read()
	if err == nil && r.skip() < len(s) {
		err = fmt.Errorf("unexpected %q after the type", clip([]byte(s[r.at:]), mostShown))
	}
	if err != nil {
		return Type{}, fmt.Errorf("%q: %w", clip([]byte(s), mostShown), err)
	}
	return t, nil
}

// skip passes blanks and gives the place.
func (r *typeReader) skip() int {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.at
}

// take takes a symbol.
func (r *typeReader) take(c byte) bool {
	if r.skip() < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *typeReader) want(c byte, after string) error {
	if r.take(c) {
		return nil
	}
	if r.at == len(r.text) {
		return fmt.Errorf("it ends too early: expected %c %s", c, after)
	}
	return fmt.Errorf("unexpected %q: expected %c %s", clip([]byte(r.text[r.at:]), mostShown), c, after)
}

// read reads a type of any kind.
func (r *typeReader) read() (Type, error) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxTypeDepth {
		return Type{}, fmt.Errorf("it is nested too deeply: at most %d types stand in one another", maxTypeDepth)
	}
	m := nestedPattern.FindStringSubmatch(r.text[r.skip():])
	if m == nil {
		return r.plain()
	}
	r.at += len(m[0]) - len(m[2])
	name := strings.ToUpper(m[1])
	end := byte('>')
	switch {
	case r.take('<'):
	case name == "ROW" && r.take('('):
		end = ')'
	default:
		return Type{}, fmt.Errorf("%s says what it is made of: write %s", name, nestedForm[name])
	}
	t, err := r.parts(name, end)
	if err == nil {
		t.NotNull, err = r.nullability()
	}
	return t, err
}

var nestedForm = map[string]string{"ARRAY": "ARRAY<INT>", "MAP": "MAP<STRING, INT>", "ROW": "ROW<a INT, b STRING>"}

// parts reads what stands between the brackets, and the closing one.
func (r *typeReader) parts(name string, end byte) (Type, error) {
	if name == "ROW" {
		return r.fields(end)
	}
	first, err := r.read()
	if err != nil {
		return first, err
	}
	if name == "ARRAY" {
		return ArrayOf(first), r.want(end, "after the type of the elements")
	}
	if err := r.want(',', "after the type of the keys"); err != nil {
		return first, err
	}
	value, err := r.read()
	if err != nil {
		return value, err
	}
	return MapOf(first, value), r.want(end, "after the type of the values")
}

func (r *typeReader) fields(end byte) (Type, error) {
	var list []Field
	seen := map[string]bool{}
	for {
		name, err := r.name()
		if err != nil {
			return Type{}, err
		}
		if seen[name] {
			return Type{}, fmt.Errorf("the ROW has two fields %s", Quote(name))
		}
		seen[name] = true
		t, err := r.read()
		if err != nil {
			return t, err
		}
		list = append(list, Field{name, t})
		if !r.take(',') {
			return RowOf(list...), r.want(end, "or , after a field's type")
		}
	}
}

// name reads a field's name, bare or in backticks.
func (r *typeReader) name() (string, error) {
	if r.take('`') {
		var b strings.Builder
		for r.at < len(r.text) {
			c := r.text[r.at]
			r.at++
			if c == '`' {
				if r.at == len(r.text) || r.text[r.at] != '`' {
					return b.String(), nil
				}
				r.at++
			}
			b.WriteByte(c)
		}
		return "", fmt.Errorf("a name's closing ` is missing")
	}
	from := r.skip()
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n,<>()`", r.text[r.at]) < 0 {
		r.at++
	}
	if from == r.at {
		return "", fmt.Errorf("the name of a field is missing: write ROW<a INT, b STRING>")
	}
	return r.text[from:r.at], nil
}

// plain reads a type that is not nested, up to the comma or bracket that ends it.
func (r *typeReader) plain() (Type, error) {
	from, brackets := r.at, 0
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		if c == '(' {
			brackets++
		}
		if c == '>' || brackets == 0 && (c == ')' || c == ',') {
			break
		}
		if c == ')' {
			brackets--
		}
	}
	text := strings.TrimSpace(r.text[from:r.at])
	if text == "" {
		return Type{}, fmt.Errorf("a type is missing: write one such as INT or STRING")
	}
	return parsePlainType(text)
}

// nullability reads NOT NULL, or NULL, after a nested type.
func (r *typeReader) nullability() (notNull bool, err error) {
	rest := r.text[r.skip():]
	m := nullabilityPattern.FindString(rest)
	r.at += len(m)
	return len(m) > len("NULL"), nil
}

var nullabilityPattern = regexp.MustCompile(`(?i)^(NOT\s+NULL|NULL)\b`)
