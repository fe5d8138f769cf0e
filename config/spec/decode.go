package spec

import (
	"encoding"
	"fmt"
	"reflect"
	"sync"

	"github.com/go-playground/validator/v10"
)

// An OrderedMap takes the entries of a mapping in their order; an error is about that entry alone.
type OrderedMap interface {
	SetEntry(key, value string) error
}

// An OrderedFields is an OrderedMap whose entries may be mappings of keys to single values, too.
type OrderedFields interface {
	SetFields(key string, names, values []string) error
}

// A Scope says where a value stands, for messages.
type Scope struct {
	Path string // "sources.orders.csv"
	What string // "csv"
	// Role is "source" or "sink" where one struct declares the options of both: a field whose doc begins
	// with "Sources:" or "Sinks:" belongs to the other role alone. "" takes all.
	Role string
	// Elsewhere says where a key is known that is not known here ("a source"); nil: nowhere.
	Elsewhere func(key string) string
	// Others gives the names from elsewhere that a misspelt key may have meant; nil: none.
	Others func() []string
}

// A Decoder decodes nodes into options structs. Its validator learns each struct once, so one
// decoder serves a whole plan; it is not for several goroutines.
type Decoder struct {
	rules func() *validator.Validate
}

// NewDecoder makes a decoder; the validator is made when a struct with rules is met.
func NewDecoder() *Decoder { return &Decoder{rules: sync.OnceValue(newValidator)} }

// Decode decodes one value with a decoder of its own.
func Decode(n *Node, ptr any, s Scope) (map[string]Pos, []Problem) {
	return NewDecoder().Decode(n, ptr, s)
}

// Decode fills the struct ptr points to: defaults first, then what was written, strictly, then the
// validator's rules. It returns the place of every option written by its path below the struct
// ("columns.amount", "path[1]"), and everything that is wrong. ptr is fit for use only without problems.
func (d *Decoder) Decode(n *Node, ptr any, s Scope) (map[string]Pos, []Problem) {
	r := &run{scope: s, places: map[string]Pos{}, broken: map[string]bool{}, keys: map[string]string{}}
	v := reflect.ValueOf(ptr).Elem()
	setDefaults(v)
	if n != nil {
		r.places[""] = n.Pos
		r.broken[""] = n.Bad
		r.structure(n, v, "")
	}
	if hasRules(v.Type(), 0) {
		r.validate(d.rules(), ptr)
	}
	return r.places, r.problems
}

// run is one decoding.
type run struct {
	scope    Scope
	places   map[string]Pos
	broken   map[string]bool   // paths with a problem already
	keys     map[string]string // the validator's paths of a mapping's values (in[a]) to ours (in.a)
	problems []Problem
}

func (r *run) add(p Problem) {
	r.broken[p.Path] = true
	if p.Path == "" {
		p.Path = r.scope.Path
	} else if r.scope.Path != "" {
		p.Path = r.scope.Path + "." + p.Path
	}
	r.problems = append(r.problems, p)
}

// wrong reports a value of the wrong form.
func (r *run) wrong(n *Node, path, expected, hint string) {
	if n.Bad {
		r.broken[path] = true
		return
	}
	message := fmt.Sprintf("%s is %s", r.name(path), n.Describe())
	if n.Nothing() {
		message = r.name(path) + " has no value"
	}
	r.add(Problem{Rule: RuleWrongType, Pos: n.Pos, Path: path, Message: message, Expected: expected, Hint: hint})
}

// name is the last part of a path, or what the whole is called.
func (r *run) name(path string) string {
	if path == "" {
		return r.scope.What
	}
	return lastPart(path)
}

func lastPart(path string) string {
	depth := 0
	for i := len(path) - 1; i >= 0; i-- {
		switch path[i] {
		case ']':
			depth++
		case '[':
			depth--
		case '.':
			if depth == 0 {
				return path[i+1:]
			}
		}
	}
	return path
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (r *run) structure(n *Node, v reflect.Value, path string) {
	if n.Null {
		return
	}
	fields := fieldsOf(v.Type())
	if n.Kind != Mapping {
		r.wrong(n, path, "a mapping with "+listOr(fieldNames(inRole(fields, r.scope.Role)), "no keys"), "")
		return
	}
	seen := map[string]Pos{}
	for _, e := range n.Keys {
		at := join(path, e.Key)
		if first, twice := seen[e.Key]; twice {
			r.add(Problem{Rule: RuleDuplicateKey, Pos: e.Pos, Path: at, Message: fmt.Sprintf("%s is given twice", e.Key),
				Hint: fmt.Sprintf("the first is at line %d, column %d", first.Line, first.Column)})
			continue
		}
		seen[e.Key] = e.Pos
		f, ok := find(fields, e.Key)
		if !ok || !f.in(r.scope.Role) {
			r.unknown(e, at, path, f, fields)
			continue
		}
		r.places[at] = e.Pos
		if e.Value.Kind == Scalar && !e.Value.Nothing() {
			r.places[at] = e.Value.Pos
		}
		r.value(e.Value, v.FieldByIndex(f.Index), f, at)
	}
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return "the keys " + list(names, "and")
}

// unknown reports a key that is not known here, with the nearest name and where it is known.
func (r *run) unknown(e Entry, at, path string, f field, fields []field) {
	p := UnknownKey(e, at, r.name(path), fieldNames(inRole(fields, r.scope.Role)), r.scope)
	if f.name != "" {
		p.Near, p.Expected = "", ""
		p.Message = fmt.Sprintf("%s is not an option of a %s", e.Key, r.scope.Role)
		p.Hint = fmt.Sprintf("it belongs to a %s", map[string]string{"source": "sink", "sink": "source"}[r.scope.Role])
	}
	r.add(p)
}

// UnknownKey is the problem of a key that what does not know; names are the keys it knows.
func UnknownKey(e Entry, path, what string, names []string, s Scope) Problem {
	p := Problem{Rule: RuleUnknownKey, Pos: e.Pos, Path: path, Message: fmt.Sprintf("unknown key %s in %s", quote(e.Key), what)}
	if s.Elsewhere != nil {
		if where := s.Elsewhere(e.Key); where != "" {
			p.Hint = e.Key + " is a key of " + where
			return p
		}
	}
	if p.Near = Near(e.Key, names); p.Near != "" {
		return p
	}
	if s.Others != nil && s.Elsewhere != nil {
		if p.Near = Near(e.Key, s.Others()); p.Near != "" {
			p.Hint = p.Near + " is a key of " + s.Elsewhere(p.Near)
			return p
		}
	}
	p.Expected = List(names)
	return p
}

// value decodes one value into a field.
func (r *run) value(n *Node, v reflect.Value, f field, path string) {
	if v.Kind() == reflect.Pointer && !isText(v.Type()) {
		if n.Nothing() {
			r.wrong(n, path, f.expected(), "")
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if m, ok := v.Addr().Interface().(OrderedMap); ok {
		r.entries(n, m, path)
		return
	}
	switch {
	case isText(v.Addr().Type()):
		r.scalar(n, v, f, path)
	case v.Kind() == reflect.Struct:
		setDefaults(v)
		r.structure(n, v, path)
	case v.Kind() == reflect.Slice:
		r.slice(n, v, f, path)
	case v.Kind() == reflect.Map:
		r.mapping(n, v, f, path)
	default:
		r.scalar(n, v, f, path)
	}
}

func (r *run) entries(n *Node, m OrderedMap, path string) {
	if n.Kind != Mapping || n.Null {
		r.wrong(n, path, "a mapping of names to values", "")
		return
	}
	for _, e := range n.Keys {
		at := join(path, e.Key)
		set, ok := r.entry(e, m, at)
		if !ok {
			continue
		}
		if _, twice := r.places[at]; twice {
			first := r.places[at]
			r.add(Problem{Rule: RuleDuplicateKey, Pos: e.Pos, Path: at, Message: fmt.Sprintf("%s is given twice", e.Key),
				Hint: fmt.Sprintf("the first is at line %d, column %d", first.Line, first.Column)})
			continue
		}
		r.places[at] = e.Value.Pos
		if err := set(); err != nil {
			r.add(Problem{Rule: RuleInvalidValue, Pos: e.Value.Pos, Path: at, Message: e.Key + ": " + err.Error()})
		}
	}
}

// entry is what takes an entry of a mapping; ok is false where its value is none that can be taken.
func (r *run) entry(e Entry, m OrderedMap, at string) (set func() error, ok bool) {
	wide, takes := m.(OrderedFields)
	switch {
	case e.Value.Kind == Scalar && !e.Value.Nothing():
		return func() error { return m.SetEntry(e.Key, e.Value.Text) }, true
	case !takes || e.Value.Kind != Mapping || e.Value.Null:
		expected := "one value"
		if takes {
			expected = "one value or a mapping"
		}
		r.wrong(e.Value, at, expected, "")
		return nil, false
	}
	var names, values []string
	for _, x := range e.Value.Keys {
		if x.Value.Kind != Scalar || x.Value.Nothing() {
			r.wrong(x.Value, join(at, x.Key), "one value", "")
			return nil, false
		}
		names, values = append(names, x.Key), append(values, x.Value.Text)
	}
	return func() error { return wide.SetFields(e.Key, names, values) }, true
}

func (r *run) slice(n *Node, v reflect.Value, f field, path string) {
	items := n.Items
	if n.Kind != Sequence {
		elem := v.Type().Elem().Kind()
		if n.Kind != Scalar || n.Nothing() || elem == reflect.Struct {
			r.wrong(n, path, f.expected(), "")
			return
		}
		items = []*Node{n}
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.places[at] = item.Pos
		r.value(item, v.Index(i), field{unit: f.unit, typ: v.Type().Elem()}, at)
	}
}

func (r *run) mapping(n *Node, v reflect.Value, f field, path string) {
	if n.Kind != Mapping || n.Null {
		r.wrong(n, path, f.expected(), "")
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Keys)))
	for _, e := range n.Keys {
		at := join(path, e.Key)
		r.places[at] = e.Value.Pos
		r.keys[path+"["+e.Key+"]"] = at
		elem := reflect.New(v.Type().Elem()).Elem()
		r.value(e.Value, elem, field{unit: f.unit, typ: elem.Type()}, at)
		v.SetMapIndex(reflect.ValueOf(e.Key).Convert(v.Type().Key()), elem)
	}
}

func (r *run) scalar(n *Node, v reflect.Value, f field, path string) {
	if n.Kind != Scalar || n.Nothing() {
		r.wrong(n, path, f.expected(), "")
		return
	}
	if hint, ok := setScalar(v, n.Text, f.unit); !ok {
		r.wrong(n, path, f.expected(), hint)
	}
}

// isText reports whether values of the (pointer) type read themselves from text.
func isText(t reflect.Type) bool { return t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) }
