package spec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// newValidator makes a validator that names fields by their yaml tag.
func newValidator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		return name
	})
	return v
}

// hasRules reports whether a struct has any validate tag; without one no validator is made.
func hasRules(t reflect.Type, depth int) bool {
	for _, f := range fieldsOf(t) {
		if f.rules != "" {
			return true
		}
		if inner := structOf(f.typ); inner != nil && depth < deepest && hasRules(inner, depth+1) {
			return true
		}
	}
	return false
}

// validate runs the rules and reports those broken, unless the value has a problem already.
func (r *run) validate(rules *validator.Validate, ptr any) {
	err := rules.Struct(ptr)
	var broken validator.ValidationErrors
	if !errors.As(err, &broken) {
		if err != nil {
			r.add(Problem{Rule: RuleInvalidValue, Pos: r.places[""], Message: err.Error()})
		}
		return
	}
	for _, b := range broken {
		_, path, _ := strings.Cut(b.Namespace(), ".")
		path = r.ours(path)
		if r.isBroken(path) {
			continue
		}
		pos, written := r.place(path)
		p := Problem{Rule: RuleInvalidValue, Pos: pos, Path: path, Message: sentence(lastPart(path), b, written)}
		if !written && strings.HasPrefix(b.Tag(), "required") {
			p.Rule = RuleMissingKey
			p.Message = fmt.Sprintf("%s is missing in %s", lastPart(path), r.parent(path))
			p.Expected = typeName(b.Type(), "")
		}
		r.add(p)
	}
}

// ours is a path of the validator as we write it.
func (r *run) ours(path string) string {
	for theirs, ours := range r.keys {
		if rest, ok := strings.CutPrefix(path, theirs); ok && (rest == "" || rest[0] == '.') {
			return ours + rest
		}
	}
	return path
}

// isBroken reports whether the value at the path, something around it or in it has a problem.
func (r *run) isBroken(path string) bool {
	for p, broken := range r.broken {
		if broken && p == "" {
			return true
		}
		if broken && (p == path || inside(p, path) || inside(path, p)) {
			return true
		}
	}
	return false
}

func inside(outer, inner string) bool {
	return outer != "" && len(inner) > len(outer) && strings.HasPrefix(inner, outer) && strings.ContainsRune(".[", rune(inner[len(outer)]))
}

// parent is what a missing key is missing in.
func (r *run) parent(path string) string {
	if rest, ok := strings.CutSuffix(path, "."+lastPart(path)); ok {
		return lastPart(rest)
	}
	return r.scope.What
}

// place finds the place of a path, or of the nearest thing around it.
func (r *run) place(path string) (pos Pos, written bool) {
	if pos, ok := r.places[path]; ok {
		return pos, true
	}
	for path != "" {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		if pos, ok := r.places[path]; ok {
			return pos, false
		}
	}
	return Pos{}, false
}

// sentence says in words which rule a value breaks.
func sentence(name string, b validator.FieldError, written bool) string {
	value := fmt.Sprint(reflect.Indirect(reflect.ValueOf(b.Value())))
	kind := b.Kind()
	p := b.Param()
	counted, unit := kind == reflect.Slice || kind == reflect.Map || kind == reflect.String, plural(p, "entry", "entries")
	if kind == reflect.String {
		unit, value = plural(p, "character", "characters"), quote(value)
	}
	switch b.Tag() {
	case "required":
		if !counted {
			return fmt.Sprintf("%s must not be %s", name, value)
		}
		return name + " is empty"
	case "min", "gte", "gt", "max", "lte", "lt", "len", "eq":
		compare := map[string]string{"min": "at least ", "gte": "at least ", "gt": "more than ", "max": "at most ", "lte": "at most ", "lt": "less than ", "len": "exactly ", "eq": ""}[b.Tag()]
		if counted {
			return fmt.Sprintf("%s must have %s%s %s", name, compare, p, unit)
		}
		return fmt.Sprintf("%s is %s, and must be %s%s", name, value, compare, p)
	case "oneof":
		return fmt.Sprintf("%s is %s, and must be %s", name, value, List(splitOneOf(p)))
	case "unique":
		return name + " holds a value twice"
	case "ne":
		return fmt.Sprintf("%s must not be %s", name, p)
	case "excluded_with", "excluded_with_all":
		return fmt.Sprintf("%s cannot stand beside %s", name, p)
	case "required_with", "required_without", "required_if":
		return fmt.Sprintf("%s is needed (%s %s)", name, b.Tag(), p)
	case "ascii", "printascii":
		return fmt.Sprintf("%s is %s, and must be plain ASCII", name, value)
	}
	rule := b.Tag()
	if p != "" {
		rule += "=" + p
	}
	if !written {
		return fmt.Sprintf("%s is left out, and must satisfy %s", name, rule)
	}
	return fmt.Sprintf("%s is %s, which does not satisfy %s", name, value, rule)
}

func plural(n, one, many string) string {
	if n == "1" {
		return one
	}
	return many
}
