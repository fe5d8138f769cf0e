package plans

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

var (
	nodeName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reference = regexp.MustCompile(`\$\{([^{}]*)\}`)
	integer   = regexp.MustCompile(`^[+-]?[0-9]+$`)
	decimal   = regexp.MustCompile(`^[+-]?[0-9]*\.[0-9]+$|^[+-]?[0-9]+\.$`)
	float     = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+$`)
)

// readParams reads params: a name and its default. A default's form is the type: 10 is BIGINT, 1.5 DECIMAL,
// 1e3 DOUBLE, true BOOLEAN, everything else and everything quoted STRING. Without a default the
// parameter must be given, as text.
func (r *reader) readParams(n *spec.Node, given map[string]string) {
	if n.Nothing() {
		return
	}
	if n.Kind != spec.Mapping {
		r.wrongType(n, "params", "a mapping of names to values", "")
		return
	}
	for _, e := range n.Keys {
		path := "params." + e.Key
		if !nodeName.MatchString(e.Key) {
			r.add(at(e.Pos, path), RuleNodeName, fmt.Sprintf("%q cannot name a parameter", e.Key), "").Expected = "letters, digits and _, not beginning with a digit"
			continue
		}
		if e.Value.Kind != spec.Scalar {
			r.wrongType(e.Value, path, "one value", "")
			continue
		}
		p := &Param{Name: e.Key, Source: "plan", Pos: at(e.Pos, path)}
		r.params[e.Key] = p
		r.plan.Params = append(r.plan.Params, *p)
		switch inside := reference.FindStringSubmatch(e.Value.Text); {
		case e.Value.Nothing():
			p.Source = ""
		case inside != nil && r.onlySecrets(e.Value.Text):
			_, set := given[e.Key]
			r.secretParam(p, e.Value, path, set)
		case inside != nil:
			r.add(at(e.Value.Pos, path), RuleParamValue, "a parameter's value cannot name another parameter", "")
			p.set(expr.Of(expr.String), unknownText)
		default:
			r.paramValue(p, e.Value, typeOfScalar(e.Value), at(e.Value.Pos, path))
		}
	}
}

// onlySecrets reports whether a text names no parameters, only what is looked up elsewhere.
func (r *reader) onlySecrets(text string) bool {
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if !isSecret(m[1]) {
			return false
		}
	}
	return true
}

func typeOfScalar(n *spec.Node) expr.Kind {
	switch s := n.Text; {
	case n.Quoted:
		return expr.String
	case s == "true" || s == "false":
		return expr.Boolean
	case integer.MatchString(s) && !leadingZero(s):
		return expr.BigInt
	case decimal.MatchString(s) && !leadingZero(s):
		return expr.Decimal
	case float.MatchString(s):
		return expr.Double
	}
	return expr.String
}

// leadingZero keeps a postcode's text: 02134 is no number, and neither is 007.5.
func leadingZero(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0' && s[1] != '.'
}

func (r *reader) paramValue(p *Param, n *spec.Node, kind expr.Kind, where Pos) {
	if err := p.read(kind, n.Text); err != nil {
		r.add(where, RuleParamValue, fmt.Sprintf("the parameter %s: %v", p.Name, err), "")
		p.set(expr.Of(expr.String), unknownText)
	}
}

// unknownText stands for a value that could not be had: reported once, it must not look wrong again
// wherever it is put, be it a path or a number.
const unknownText = "1"

func (p *Param) set(t expr.Type, text string) {
	p.Type, p.Text = t, text
	p.Value = expr.Value{Text: text}
}

// read takes a value of a kind from text.
func (p *Param) read(kind expr.Kind, s string) error {
	p.set(expr.Of(kind), s)
	switch kind {
	case expr.BigInt:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is no BIGINT, as the default is", s)
		}
		p.Value = expr.Value{Int: n}
	case expr.Boolean:
		b, err := spec.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false, as the default is", s)
		}
		if b {
			p.Value = expr.Value{Int: 1}
		} else {
			p.Value = expr.Value{}
		}
	case expr.Double:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !float.MatchString(s) && !decimal.MatchString(s) && !integer.MatchString(s) {
			return fmt.Errorf("%q is no DOUBLE, as the default is", s)
		}
		p.Value = expr.Value{Double: x}
	case expr.Decimal:
		if !decimal.MatchString(s) && !integer.MatchString(s) {
			return fmt.Errorf("%q is no DECIMAL, as the default is", s)
		}
		return p.readDecimal(s)
	}
	return nil
}

// readDecimal gives a DECIMAL the precision and scale it was written with.
func (p *Param) readDecimal(s string) error {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign = "-"
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		digits, sign = "0", ""
	}
	precision := max(len(digits), len(fraction), 1)
	if precision > expr.MaxDecimal {
		return fmt.Errorf("%s has more than %d digits", s, expr.MaxDecimal)
	}
	p.Type = expr.DecimalOf(precision, len(fraction))
	p.Value = expr.Value{Text: sign + digits}
	return nil
}

// setParams puts the command line's values in, and binds all parameters for expressions.
func (r *reader) setParams(set map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		p := r.params[name]
		if p == nil {
			f := r.add(Pos{Line: 1, Column: 1, Path: "params"}, RuleUnknownParam, fmt.Sprintf("--set %s: the plan has no parameter of that name", name), "")
			if f.Near = spec.Near(name, r.paramNames()); f.Near == "" {
				f.Expected = spec.List(r.paramNames())
			}
			if len(r.params) == 0 {
				f.Hint = "declare it under params"
			}
			continue
		}
		kind := expr.String
		if p.Source != "" {
			kind = p.Type.Kind
		}
		declared := *p
		p.Source = "flag"
		r.hide(p.Secret, set[name])
		if err := p.read(kind, set[name]); err != nil {
			*p = declared
			shown := set[name]
			if p.Secret {
				shown, err = Hidden, fmt.Errorf("it is no %s, as the default is", declared.Type)
			}
			r.add(p.Pos, RuleParamValue, fmt.Sprintf("--set %s=%s: %v", name, shown, err), "")
		}
	}
	r.bound = expr.Params{}
	for i, declared := range r.plan.Params {
		p := r.params[declared.Name]
		if p.Source == "" {
			r.add(p.Pos, RuleMissingParam, fmt.Sprintf("the parameter %s has no value", p.Name), fmt.Sprintf("give it one: --set %s=…", p.Name))
			p.set(expr.Of(expr.String), unknownText)
		}
		r.plan.Params[i] = *p
		value := p.Value
		value.Secret = p.Secret
		r.bound[p.Name] = expr.Param{Value: value, Type: p.Type.Nullable(false)}
	}
}

func (r *reader) paramNames() []string { return slices.Sorted(maps.Keys(r.params)) }

// substitute puts parameters into the scalars of a value that is no expression. Substitution comes
// after YAML parsing, so a parameter's text is never syntax.
func (r *reader) substitute(n *spec.Node, path string) *spec.Node {
	switch n.Kind {
	case spec.Mapping:
		out := *n
		out.Keys = make([]spec.Entry, len(n.Keys))
		for i, e := range n.Keys {
			out.Keys[i] = spec.Entry{Key: e.Key, Pos: e.Pos, Value: r.substitute(e.Value, path+"."+e.Key)}
		}
		return &out
	case spec.Sequence:
		out := *n
		out.Items = make([]*spec.Node, len(n.Items))
		for i, item := range n.Items {
			out.Items[i] = r.substitute(item, fmt.Sprintf("%s[%d]", path, i))
		}
		return &out
	}
	if !strings.Contains(n.Text, "${") {
		return n
	}
	out := *n
	out.Text = r.fill(n, path)
	out.At = nil
	return &out
}

// fill replaces the parameters of one scalar.
func (r *reader) fill(n *spec.Node, path string) string {
	var b strings.Builder
	rest, base := n.Text, 0
	for {
		start := strings.Index(rest, "${")
		if start < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:start])
		end := strings.IndexByte(rest[start:], '}')
		where := at(n.Pos, path)
		if n.At != nil {
			where = at(n.At(base+start), path)
		}
		if end < 0 {
			r.add(where, RuleUnknownParam, "${ without }", "")
			b.WriteString(rest[start:])
			return b.String()
		}
		name := rest[start+2 : start+end]
		if isSecret(name) {
			value, hidden, ok := r.resolve(secretOf(name), where)
			if !ok {
				value = unknownText
			}
			r.hide(hidden, value)
			b.WriteString(value)
		} else if p := r.param(name, where); p != nil {
			b.WriteString(p.Text)
		} else {
			b.WriteString(unknownText)
		}
		rest, base = rest[start+end+1:], base+start+end+1
	}
}

// param finds a parameter that is named somewhere, nil (with a finding) where there is none.
func (r *reader) param(name string, where Pos) *Param {
	r.used[name] = true
	p := r.params[name]
	if p == nil {
		f := r.add(where, RuleUnknownParam, fmt.Sprintf("there is no parameter %q", name), "declare it under params")
		f.Near = spec.Near(name, r.paramNames())
		if f.Near != "" {
			f.Hint = ""
		}
	}
	return p
}

// unusedParams warns of parameters that nothing names.
func (r *reader) unusedParams() {
	for _, p := range r.plan.Params {
		meant := slices.ContainsFunc(r.findings, func(f Finding) bool { return f.Near == p.Name || f.Near == "${"+p.Name+"}" })
		if !r.used[p.Name] && !meant {
			r.add(p.Pos, RuleUnusedParam, fmt.Sprintf("the parameter %s is not used", p.Name), "").Severity = SeverityWarning
		}
	}
}
