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
	if trimmed := strings.TrimRight(n.Text, "\n"); trimmed != n.Text {
		whole := *n
		whole.Text = trimmed
		n = &whole
	}
	e := &Expression{Text: n.Text, Bare: wordy.MatchString(n.Text), Pos: at(n.Pos, path), At: placer(n, path), quoted: n.Quoted}
	if !r.useParams(n, path) {
		return nil
	}
	parsed, err := expr.Parse(n.Text, r.bound)
	switch {
	case err == nil:
		e.Expr = parsed
	case e.Bare:
		e.Expr, e.fault = &expr.Expr{Op: expr.OpColumn, Name: n.Text, End: len(n.Text)}, err
	default:
		r.findings = append(r.findings, r.text.explain(e, err, RuleExpression)...)
		return nil
	}
	return e
}

// useParams notes the parameters an expression names and refuses what is looked up elsewhere.
func (r *reader) useParams(n *spec.Node, path string) bool {
	fine := true
	for _, m := range reference.FindAllStringSubmatchIndex(n.Text, -1) {
		name := n.Text[m[2]:m[3]]
		r.used[name] = true
		if isSecret(name) {
			r.add(placer(n, path)(m[0]), RuleExpression, "${"+name+"} cannot stand in an expression",
				"declare a parameter with it under params, and name that one: it is a literal then, whatever it holds")
			fine = false
		}
	}
	return fine
}

// ExprFinding makes findings of what is wrong with an expression of the plan: err is an *expr.Error,
// or several joined. Errors of another kind are put at the expression's beginning.
func ExprFinding(p *Plan, e *Expression, err error) Findings {
	t := newText(p.File, string(p.Text))
	t.secrets = p.secrets
	return finish(t, t.explain(e, err, RuleTypeMismatch))
}

// NewFinding makes an error at a place of the plan; the caller may complete it.
func NewFinding(p *Plan, where Pos, rule, message string) Finding {
	t := newText(p.File, string(p.Text))
	t.secrets = p.secrets
	return finish(t, Findings{{Severity: SeverityError, Rule: rule, Line: where.Line, Column: where.Column, Path: where.Path, Message: message}})[0]
}

// explain turns the errors of one expression into findings; rule is that of errors without one of
// their own.
func (t *text) explain(e *Expression, err error, rule string) Findings {
	var several expr.Errors
	if errors.As(err, &several) {
		var fs Findings
		for _, one := range several {
			fs = append(fs, t.explain(e, one, rule)...)
		}
		return fs
	}
	f := Finding{Severity: SeverityError, Rule: rule, Line: e.Pos.Line, Column: e.Pos.Column, Path: e.Pos.Path, Message: err.Error()}
	var one *expr.Error
	if errors.As(err, &one) {
		noColumn := strings.Contains(one.Message, "no column")
		if noColumn && one.Near == "" && e.fault != nil {
			// The text is no column's name after all, so what is wrong with it as an expression counts.
			return t.explain(&Expression{Text: e.Text, Pos: e.Pos, At: e.At, quoted: e.quoted}, e.fault, RuleExpression)
		}
		p := e.At(one.Pos)
		f.Line, f.Column, f.Message, f.Expected, f.Near = p.Line, p.Column, one.Message, one.Expected, one.Near
		switch {
		case noColumn:
			f.Rule = RuleUnknownColumn
		case strings.Contains(one.Message, "no parameter"):
			f.Rule = RuleUnknownParam
		}
	}
	f.Hint = t.hint(e, one)
	return Findings{f}
}

// hint says what YAML or a missing name has to do with an expression's error.
func (t *text) hint(e *Expression, err *expr.Error) string {
	end := e.At(len(e.Text))
	line := t.line(end.Line)
	rest := line[min(t.offset(end.Line, end.Column)-t.lines[end.Line-1], len(line)):]
	column := err != nil && strings.Contains(err.Message, "column")
	switch {
	case !e.quoted && len(rest) > 1 && rest[0] != '#' && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "#"):
		return "YAML takes what follows a space and # for a comment: put the whole value in double quotes, or below a |"
	case column && e.quoted && err.Pos == 0 && err.End >= len(e.Text) && !strings.ContainsAny(e.Text, "'`\""):
		return `the quotes are YAML's; a text in SQL is written "'` + e.Text + `'"`
	case column && e.Bare && strings.ContainsAny(e.Text, "()+*/|<>="):
		return "an item alone names a column; an expression is given a name: x: " + e.Text
	}
	return ""
}
