package columntext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// DateFormats are the ways dates and times are often written beside ISO 8601, as `formats` says them.
func DateFormats() []string {
	return []string{
		"dd.MM.yyyy", "d.M.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "d/M/yyyy", "M/d/yyyy", "yyyy/MM/dd", "dd-MM-yyyy", "dd-MMM-yyyy", "yyyyMMdd",
		"dd.MM.yyyy HH:mm", "dd.MM.yyyy HH:mm:ss", "d.M.yyyy H:mm", "dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm", "d/M/yyyy H:mm", "M/d/yyyy H:mm",
		"dd/MM/yyyy HH:mm:ss", "MM/dd/yyyy HH:mm:ss", "yyyy/MM/dd HH:mm:ss", "M/d/yyyy h:mm a", "MM/dd/yyyy hh:mm:ss a",
	}
}

// Cure is what the source of a plan can say so that a value is read that is none of its column's type: ""
// where nothing helps.
func (s Style) Cure(c expr.Field, v []byte) string {
	switch c.Type.Kind {
	case expr.Date, expr.Timestamp:
		return dateCure(c, v)
	case expr.TinyInt, expr.SmallInt, expr.Int, expr.BigInt, expr.Float, expr.Double, expr.Decimal:
		return s.numberCure(c, v)
	}
	return ""
}

// dateCure finds the formats that a value is written in.
func dateCure(c expr.Field, v []byte) string {
	var fit []string
	for _, f := range append([]string{"iso"}, DateFormats()...) {
		p, err := NewPattern(f)
		if err != nil {
			continue
		}
		if _, s := p.Parse(v, 6); s != expr.OK {
			continue
		}
		if short := strings.NewReplacer("dd", "d", "MM", "M", "HH", "H").Replace(f); !slices.Contains(fit, short) && !covered(fit, f) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 0 {
		return ""
	}
	s := fmt.Sprintf("`formats: {%s: %s}` reads it", PlanText(c.Name), PlanText(fit[0]))
	if len(fit) > 1 {
		s += ", or " + strings.Join(fit[1:], ", or ") + ": it may be either"
	}
	return s
}

// covered reports whether one of the formats is f with one letter or two for a day or a month.
func covered(fit []string, f string) bool {
	short := strings.NewReplacer("dd", "d", "MMM", "MMM", "MM", "M", "HH", "H", "hh", "h")
	return slices.ContainsFunc(fit, func(x string) bool { return short.Replace(x) == short.Replace(f) })
}

// numberCure finds the marks that a number is written with.
func (s Style) numberCure(c expr.Field, v []byte) string {
	var ways []string
	if s.Marks != (Marks{}) {
		return ""
	}
	for _, m := range []Marks{{Thousands: ","}, {Decimal: ","}, {Decimal: ",", Thousands: "."}, {Thousands: "'"}, {Thousands: " "}, {Decimal: ",", Thousands: " "}, {Thousands: "\u00a0"}, {Decimal: ",", Thousands: "\u00a0"}, {Thousands: "_"}} {
		n, ok := m.number(nil, v)
		if !ok {
			continue
		}
		x := Column{Field: c}
		if x.checkNumber(n) != expr.OK {
			continue
		}
		way := m.lines()
		if !slices.ContainsFunc(ways, func(w string) bool { return strings.Contains(way, w) }) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		return ""
	}
	text := fmt.Sprintf("`%s` reads it", ways[0])
	if len(ways) > 1 {
		text += ", or `" + strings.Join(ways[1:], "`, or `") + "`, by what its marks mean"
	}
	return text
}

// lines are the marks as a source has them.
func (m Marks) lines() string {
	var out []string
	if m.Decimal != "" {
		out = append(out, fmt.Sprintf("decimal: %q", m.Decimal))
	}
	if m.Thousands != "" {
		out = append(out, fmt.Sprintf("thousands: %q", m.Thousands))
	}
	return strings.Join(out, "`, `")
}

// mostDeclared is how many columns a message writes out.
const mostDeclared = 12

// Inferred says of a value that does not fit an inferred type where the type is from, and the lines of the
// plan that make it another one. cols are all columns, c the one of the value.
func (s Style) Inferred(v *connectors.Inference, cols []expr.Field, c expr.Field, value []byte) string {
	to := s.wider(c.Type, value)
	text := fmt.Sprintf("; the type was inferred from %s: ", v.Sample())
	if len(cols) > mostDeclared {
		return text + fmt.Sprintf("`runner inspect` of the files writes the columns for the plan; there %s is to be %s", c.Name, to)
	}
	list := make([]string, len(cols))
	for i, x := range cols {
		t := x.Type
		if x.Name == c.Name {
			t = to
		}
		list[i] = PlanText(x.Name) + ": " + planType(t)
	}
	return text + "with `columns: {" + strings.Join(list, ", ") + "}` in the source it is read"
}

// wider is a type that a value has which is none of the type its column was inferred to be.
func (s Style) wider(t expr.Type, value []byte) expr.Type {
	all := infer.Column{Rules: s.Rules()}
	all.Add(value, 0)
	j := all.Judge(false).Type
	switch {
	case t.Whole() && j.Kind == expr.Decimal, t.Whole() && j.Kind == expr.BigInt:
		return expr.Type{Kind: expr.Decimal, Precision: expr.MaxDecimal, Scale: j.Scale}
	case t.Kind == expr.Decimal && j.Kind == expr.Decimal:
		return expr.Type{Kind: expr.Decimal, Precision: expr.MaxDecimal, Scale: max(j.Scale, t.Scale)}
	case t.Kind == expr.Date && j.Kind == expr.Timestamp, t.Kind == expr.Decimal && j.Kind == expr.Double:
		return j
	}
	return expr.Of(expr.String)
}

// PlanText writes a text as a plan has it in a list or a mapping on one line: in quotes where it needs some.
func PlanText(s string) string {
	for i, c := range []byte(s) {
		if c != '_' && (i == 0 || c != '.' && c != '/' && c != '-') && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return fmt.Sprintf("%q", s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// planType writes a type as a plan has it in a mapping on one line.
func planType(t expr.Type) string {
	if s := t.String(); strings.Contains(s, ",") {
		return fmt.Sprintf("%q", s)
	}
	return t.String()
}
