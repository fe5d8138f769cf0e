package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// scriptParams are the parameters of the scripts.
var scriptParams = Params{
	"min":   {Value: Value{Int: 10}, Type: Of(Int)},
	"rate":  {Value: Value{Text: "125"}, Type: DecimalOf(5, 2)},
	"day":   {Value: Value{Text: "1998-09-02"}, Type: Of(String)},
	"tpl":   {Value: Value{Text: "a${x}'b"}, Type: Of(String)},
	"limit": {Value: Value{Null: true}, Type: Of(BigInt)},
}

// TestScripts runs testdata/front: parse, check and print every line of an expression's text.
//
//	schema               sets the columns, one "name TYPE" a line
//	type                 a type as it is read, or why not
//	parse                the tree as parsed, then its text where that differs from the input
//	check [agg]          the tree with types, the type and whether it can fail
//	errors [agg] [bare]  the faults with the text they point at; what is no fault is shown as ok;
//	                     bare takes the text for a column's name
//	print                the text of the checked expression, and of the text read again
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/front", func(t *testing.T, path string) {
		var schema Schema
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "schema" {
				schema = scriptSchema(t, d.Input)
				return schema.String()
			}
			var b strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				if d.Cmd == "type" {
					b.WriteString(scriptType(line))
					continue
				}
				line = strings.ReplaceAll(line, `\n`, "\n")
				b.WriteString(scriptLine(t, d, schema, line))
			}
			return b.String()
		})
	})
}

func scriptSchema(t *testing.T, input string) Schema {
	var s Schema
	for _, l := range strings.Split(input, "\n") {
		name, text, _ := strings.Cut(l, " ")
		typ, err := ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Fields = append(s.Fields, Field{Name: strings.ReplaceAll(name, "~", " "), Type: typ})
	}
	return s
}

func scriptType(text string) string {
	typ, err := ParseType(text)
	if err != nil {
		return err.Error() + "\n"
	}
	return typ.String() + "\n"
}

func scriptLine(t *testing.T, d *datadriven.TestData, schema Schema, text string) string {
	e, err := Parse(text, scriptParams)
	if d.HasArg("bare") {
		e, err = &Expr{Op: OpColumn, Name: text, End: len(text)}, nil
	}
	if err == nil && d.Cmd != "parse" {
		e, err = Check(e, schema, CheckOptions{Aggregates: d.HasArg("agg")})
	}
	if err != nil {
		return text + "\n" + scriptErrors(t, text, err)
	}
	switch d.Cmd {
	case "parse":
		s := dump(e) + "\n"
		if e.String() != text {
			s += "  " + e.String() + "\n"
		}
		return s
	case "check":
		fails := ""
		if CanFail(e) {
			fails = " can fail"
		}
		return fmt.Sprintf("%s\n  %s%s\n", dump(e), e.Type, fails)
	case "print":
		again, err := Parse(e.String(), nil)
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if again.String() != e.String() {
			return fmt.Sprintf("%s\n  BUT AGAIN %s\n", e, again)
		}
		return e.String() + "\n"
	}
	return text + "\n  ok " + e.Type.String() + "\n"
}

// scriptErrors shows each fault under the text it points at.
func scriptErrors(t *testing.T, text string, err error) string {
	var all Errors
	var one *Error
	switch {
	case errors.As(err, &all):
	case errors.As(err, &one):
		all = Errors{one}
	default:
		t.Fatalf("%s: an error of type %T", text, err)
	}
	var b strings.Builder
	for _, e := range all {
		checkPlace(t, text, e)
		fmt.Fprintf(&b, "  %d-%d %q: %s\n", e.Pos, e.End, text[e.Pos:e.End], e)
	}
	return b.String()
}

// checkPlace holds every error to a place inside its text.
func checkPlace(t interface{ Fatalf(string, ...any) }, text string, e *Error) {
	if e.Pos < 0 || e.End < e.Pos || e.End > len(text) || e.Message == "" {
		t.Fatalf("%q: the error %+v has no place in the text", text, e)
	}
}

// dump writes a tree with everything in it: casts put in by Check as {type value}.
func dump(e *Expr) string {
	switch e.Op {
	case OpColumn:
		if e.Type.Kind == Invalid {
			return e.Name
		}
		return fmt.Sprintf("%s#%d", e.Name, e.Col)
	case OpLiteral:
		if e.Value.Null {
			return fmt.Sprintf("NULL:%s", plainType(e.Type))
		}
		return fmt.Sprintf("%s:%s", dumpValue(e), plainType(e.Type))
	case OpCast:
		if e.Implicit {
			return fmt.Sprintf("{%s %s}", plainType(e.Type), dump(e.Args[0]))
		}
	}
	name := e.Name
	if name == "" {
		name = string(e.Op)
	}
	if e.Op == OpCast || e.Op == OpTryCast {
		name += " " + plainType(e.Type)
	}
	if e.Distinct {
		name += " DISTINCT"
	}
	s := "(" + name
	for _, a := range e.Args {
		s += " " + dump(a)
	}
	if e.Filter != nil {
		s += " filter " + dump(e.Filter)
	}
	return s + ")"
}

func dumpValue(e *Expr) string {
	switch e.Type.Kind {
	case String:
		return quoteText(e.Value.Text)
	case Decimal:
		return e.Value.Text
	case Double:
		return fmt.Sprint(e.Value.Double)
	}
	return fmt.Sprint(e.Value.Int)
}

// TestErrors: the faults of one expression come in the order of their places, and as one error.
func TestErrors(t *testing.T) {
	e, err := Parse("UPPER(prise) = 'x' AND quantty + 'one' > 2 AND NOT amount", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Check(e, SchemaOf(Field{"amount", Of(Int)}, Field{"price", Of(String)}), CheckOptions{})
	var all Errors
	var first *Error
	if !errors.As(err, &all) || !errors.As(err, &first) || len(all) != 3 || first != all[0] {
		t.Fatalf("%T %v", err, err)
	}
	if want := "there is no column `prise`: expected one of amount, price (did you mean price?)"; first.Error() != want {
		t.Errorf("the first is %s", first)
	}
	if all[1].Pos >= all[2].Pos || strings.Count(err.Error(), "; ") < 2 {
		t.Errorf("the faults are %v", err)
	}
	if _, err := Parse("1 +", nil); !errors.As(err, &first) {
		t.Errorf("Parse gives a %T", err)
	}
	if c, err := Check(nil, Schema{}, CheckOptions{}); c != nil || err == nil {
		t.Errorf("nothing is checked to %v, %v", c, err)
	}
	for _, bad := range []*Expr{{}, {Op: OpLiteral}, {Op: OpCast}, {Op: OpCall, Name: "FOO"}, {Op: OpCall, Name: "="}, {Op: OpCase}, {Op: OpAgg, Name: "SUM"}, {Op: OpCall, Name: "NOT", Args: []*Expr{nil}}} {
		if c, err := Check(bad, Schema{}, CheckOptions{Aggregates: true}); c != nil || err == nil {
			t.Errorf("a damaged tree %+v is checked to %v, %v", bad, c, err)
		}
	}
}
