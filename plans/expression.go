package plans

import (
	"errors"
	"regexp"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// wordy is a text that can be a column's name as it stands: words with single spaces, dots or
// hyphens between them.
var wordy = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*(?:[ .-][\p{L}\p{N}_]+)*$`)

// expression parses an SQL expression of the plan; nil (with findings) where it is none.
func (r *reader) expression(n *spec.Node, path string) *Expression {
	if n.Kind != spec.Scalar || n.Nothing() {
		hint := ""
		if n.Flow {
			hint = "put an expression that begins with a bracket in quotes"
		}
		r.wrongType(n, path, "an SQL expression", hint)
		return nil
	}
	e := &Expression{Text: n.Text, Bare: wordy.MatchString(n.Text), Pos: at(n.Pos, path), At: placer(n, path), quoted: n.Quoted}
	r.useParams(n, path)
	parsed, err := expr.Parse(n.Text, r.bound)
	switch {
	case err == nil:
		e.Expr = parsed
	case e.Bare:
		e.Expr = &expr.Expr{Op: expr.OpColumn, Name: n.Text, End: len(n.Text)}
	default:
		r.findings = append(r.findings, r.text.explain(e, err)...)
		return nil
	}
	return e
}

// useParams notes the parameters an expression names and refuses those that are not built yet.
func (r *reader) useParams(n *spec.Node, path string) {
	for _, m := range reference.FindAllStringSubmatchIndex(n.Text, -1) {
		name := n.Text[m[2]:m[3]]
		r.used[name] = true
		if isSecret(name) {
			r.notYet(placer(n, path)(m[0]), "${"+name+"}", "")
		}
	}
}

// ExprFinding makes findings of what is wrong with an expression of the plan: err is an *expr.Error,
// or several joined. Errors of another kind are put at the expression's beginning.
func ExprFinding(p *Plan, e *Expression, err error) Findings {
	t := newText(p.File, string(p.Text))
	return finish(t, t.explain(e, err))
}

// NewFinding makes an error at a place of the plan.
func NewFinding(p *Plan, where Pos, rule, message string) Finding {
	t := newText(p.File, string(p.Text))
	return finish(t, Findings{{Severity: SeverityError, Rule: rule, Line: where.Line, Column: where.Column, Path: where.Path, Message: message}})[0]
}

// explain turns the errors of one expression into findings.
func (t *text) explain(e *Expression, err error) Findings {
	var several interface{ Unwrap() []error }
	var one *expr.Error
	if !errors.As(err, &one) && errors.As(err, &several) || isJoined(err) {
		errors.As(err, &several)
		var fs Findings
		for _, inner := range several.Unwrap() {
			fs = append(fs, t.explain(e, inner)...)
		}
		return fs
	}
	f := Finding{Severity: SeverityError, Rule: RuleExpression, Line: e.Pos.Line, Column: e.Pos.Column, Path: e.Pos.Path, Message: err.Error()}
	if one != nil {
		p := e.At(one.Pos)
		f.Line, f.Column, f.Message, f.Expected, f.Near = p.Line, p.Column, one.Message, one.Expected, one.Near
		if strings.Contains(one.Message, "unknown column") || strings.Contains(one.Message, "no column") {
			f.Rule = RuleUnknownColumn
		}
	}
	f.Hint = t.hint(e, one)
	return Findings{f}
}

// isJoined reports whether err itself holds several.
func isJoined(err error) bool {
	_, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // only the outermost counts
	return ok
}

// hint says what YAML or a missing name has to do with an expression's error.
func (t *text) hint(e *Expression, err *expr.Error) string {
	end := e.At(len(e.Text))
	line := t.line(end.Line)
	rest := line[min(t.offset(end.Line, end.Column)-t.lines[end.Line-1], len(line)):]
	switch {
	case !e.quoted && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "#") && rest != "" && rest[0] != '#':
		return "YAML takes what follows a space and # for a comment: put the whole value in double quotes, or below a |"
	case err == nil:
		return ""
	case strings.Contains(err.Message, "column") && e.quoted && err.Pos == 0 && err.End >= len(e.Text) && !strings.ContainsAny(e.Text, "'`\""):
		return `the quotes are YAML's; a text in SQL is written "'` + e.Text + `'"`
	case e.Bare && strings.ContainsAny(e.Text, "()+*/|<>=") && strings.Contains(err.Message, "column"):
		return "an item alone names a column; an expression is given a name: x: " + e.Text
	}
	return ""
}
