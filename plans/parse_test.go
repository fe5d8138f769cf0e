package plans

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

type csvOptions struct {
	Path       []string           `yaml:"path" validate:"required,min=1,dive,required" doc:"File, folder, glob or list."`
	Columns    connectors.Columns `yaml:"columns" doc:"Sources: columns and types."`
	Delimiter  string             `yaml:"delimiter" validate:"omitempty,len=1" default:"," doc:"Between fields."`
	Header     *bool              `yaml:"header" default:"true" doc:"Whether the first line names the columns."`
	NullValues []string           `yaml:"null_values" doc:"What means NULL."`
	MaxLine    int64              `yaml:"max_line" unit:"bytes" default:"1 mb" doc:"Longest line."`
	Mode       string             `yaml:"mode" validate:"oneof=error overwrite append" default:"error" doc:"Sinks: a target that exists."`
}

type fileOptions struct {
	Path []string `yaml:"path" validate:"required,min=1,dive,required" doc:"File or folder."`
	Mode string   `yaml:"mode" validate:"oneof=error overwrite append" default:"error" doc:"Sinks: a target that exists."`
}

type printOptions struct {
	Limit int `yaml:"limit" validate:"min=0" default:"20" doc:"Most rows."`
}

type sampleOptions struct {
	Rows int `yaml:"rows" validate:"required,min=1" doc:"How many."`
}

// testKnown has options structs with every kind of field; the components behind them play no part
// in reading plans.
func testKnown() Known {
	csv := Kind{Options: func() any { return new(csvOptions) }}
	file := Kind{Options: func() any { return new(fileOptions) }}
	env := map[string]string{"PW": "hunter2's secret", "LEAST": "12", "EMPTY": "", "PIN": "12x4"}
	files := map[string]string{"pw.txt": "from a file\r\n", "bad.txt": "\xff", "big.txt": strings.Repeat("x", mostSecret+1)}
	return Known{
		Lookup: Lookup{
			Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
			File: func(path string) ([]byte, error) {
				if text, ok := files[path]; ok {
					return []byte(text), nil
				}
				return nil, os.ErrNotExist
			},
		},
		Sources: map[string]Kind{"csv": csv, "parquet": file},
		Sinks: map[string]Kind{"csv": csv, "parquet": file, "json": file, "print": {Options: func() any { return new(printOptions) }},
			"blackhole": {Options: func() any { return new(struct{}) }}},
		Steps: map[string]Kind{"sample": {Options: func() any { return new(sampleOptions) }, MinInputs: 1, MaxInputs: 1}},
	}
}

// TestParse runs plans: `findings` prints everything wrong as JSON-free lines, `render` as people see
// it, `dump` the plan. Arguments are parameters: set=(name=value). \t stands for a tab, \r for a
// carriage return.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			set := map[string]string{}
			for _, arg := range d.CmdArgs {
				if arg.Key == "set" {
					for _, v := range arg.Vals {
						name, value, _ := strings.Cut(v, "=")
						set[name] = value
					}
				}
			}
			input := strings.NewReplacer(`\t`, "\t", `\r`, "\r", `\ufeff`, "\ufeff", `\xff`, "\xff", `\0`, "\x00").Replace(d.Input)
			input += strings.Repeat("\n", min(strings.Count(input, "\r"), 1))
			if d.HasArg("empty") {
				input = ""
			}
			plan, fs := Parse("p.yaml", []byte(input), set, testKnown())
			inside(t, input, fs)
			switch d.Cmd {
			case "findings":
				return list(fs)
			case "render":
				var b bytes.Buffer
				if err := Render(&b, fs); err != nil {
					t.Fatal(err)
				}
				return b.String()
			case "dump":
				return list(fs) + dump(plan)
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

// inside holds that every place is one of the file.
func inside(t *testing.T, input string, fs Findings) {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(input, "\ufeff"), "\r\n", "\n"), "\n")
	for _, f := range fs {
		if f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > len([]rune(lines[f.Line-1]))+1 {
			if f.Rule != RuleNotText {
				t.Fatalf("%d:%d is outside the file: %v\n%s", f.Line, f.Column, f, input)
			}
		}
	}
}

func list(fs Findings) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%d:%d %s", f.Line, f.Column, f.Rule)
		if f.Severity == SeverityWarning {
			b.WriteString(" (warning)")
		}
		if f.Path != "" {
			b.WriteString(" " + f.Path)
		}
		b.WriteString(": " + f.Message)
		for _, extra := range []struct{ name, text string }{{"expected", f.Expected}, {"near", f.Near}, {"hint", f.Hint}} {
			if extra.text != "" {
				b.WriteString(" | " + extra.name + ": " + extra.text)
			}
		}
		b.WriteString("\n")
	}
	if len(fs) == 0 {
		return "ok\n"
	}
	return b.String()
}

func dump(p *Plan) string {
	if p == nil {
		return "no plan\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "plan %s mode %s\n", p.Name, p.Mode)
	for _, x := range p.Params {
		fmt.Fprintf(&b, "param %s %s = %s from %s (%+v)\n", x.Name, x.Type, x.Text, x.Source, shown(x.Value))
	}
	for _, s := range p.Settings {
		fmt.Fprintf(&b, "setting %s = %s at %d:%d\n", s.Name, s.Value, s.Pos.Line, s.Pos.Column)
	}
	for _, n := range p.Nodes {
		dumpNode(&b, n)
	}
	return b.String()
}

func dumpNode(b *strings.Builder, n Node) {
	fmt.Fprintf(b, "%s %s at %d:%d", n.Section, n.Name, n.Pos.Line, n.Pos.Column)
	for _, in := range n.From {
		fmt.Fprintf(b, " from %s", in.Node)
	}
	if n.Parallelism > 0 {
		fmt.Fprintf(b, " parallelism %d", n.Parallelism)
	}
	for _, s := range []string{n.SharingGroup, n.UID, n.Doc} {
		if s != "" {
			fmt.Fprintf(b, " %q", s)
		}
	}
	b.WriteString("\n")
	for _, c := range []*Connector{n.Source, n.Sink, n.Step} {
		if c != nil {
			fmt.Fprintf(b, "  %s %s\n", c.Kind, compact(c.Options))
		}
	}
	if n.Union != nil {
		fmt.Fprintf(b, "  union %+v\n", *n.Union)
	}
	if s := n.Select; s != nil {
		dumpExpression(b, "where", s.Where)
		for _, i := range s.Items {
			if i.Star {
				fmt.Fprintf(b, "  * except %q\n", i.Except)
				continue
			}
			dumpExpression(b, i.Name+":", &i.Expression)
		}
		for _, o := range s.OrderBy {
			dumpExpression(b, fmt.Sprintf("order desc=%v nullsFirst=%v", o.Desc, o.NullsFirst), &o.Expression)
		}
		fmt.Fprintf(b, "  distinct %v limit %d offset %d\n", s.Distinct, s.Limit, s.Offset)
	}
	if a := n.Aggregate; a != nil {
		for _, k := range a.Keys {
			dumpExpression(b, "key "+k.Name+":", &k.Expression)
		}
		for _, m := range a.Measures {
			dumpExpression(b, "measure "+m.Name+":", &m.Expression)
		}
		dumpExpression(b, "having", a.Having)
	}
}

func dumpExpression(b *strings.Builder, what string, e *Expression) {
	if e == nil {
		return
	}
	end := e.At(len(e.Text))
	fmt.Fprintf(b, "  %s %q bare=%v %d:%d to %d:%d\n", what, e.Text, e.Bare, e.At(0).Line, e.At(0).Column, end.Line, end.Column)
}

func compact(b []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		return err.Error()
	}
	return out.String()
}

// TestValues holds that a plan's settings and the keys that say the same reach the options with their
// places, and that a flag overrides them.
func TestValues(t *testing.T) {
	const text = "name: nightly\nmode: batch\nsettings:\n  runner.batch.rows: 1000\n  slot.request.timeout: PT10S\n" +
		"sources: {a: {csv: {path: a.csv, columns: {id: INT}}}}\nsinks: {o: {from: a, print: {}}}\n"
	p, fs := Parse("p.yaml", []byte(text), nil, testKnown())
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	o, err := config.Load(config.LoadInput{Plan: p.Values(), Flags: []config.Value{{Name: config.BatchRows, Value: "7"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][3]string{
		config.PipelineName: {"nightly", config.FromPlan, "p.yaml:1:1"}, config.RuntimeMode: {"batch", config.FromPlan, "p.yaml:2:1"},
		config.BatchRows: {"7", config.FromFlag, ""}, config.SlotRequestTimeout: {"10 s", config.FromPlan, "p.yaml:5:3"},
	} {
		if s := o.Get(name); [3]string{s.Value, s.Source, s.Where} != want {
			t.Errorf("%s: %s from %s at %s", name, s.Value, s.Source, s.Where)
		}
	}
}

// TestShippedPlans holds that the plans of this folder are read without any finding.
func TestShippedPlans(t *testing.T) {
	for _, name := range []string{"orders.yaml", "orders_parquet.yaml", "orders_bad.yaml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, fs := Parse(name, b, nil, testKnown())
		if len(fs) > 0 {
			t.Errorf("%s: %v", name, fs)
		}
		if p.Dir != "." || !strings.HasPrefix(p.Digest, "sha256:") {
			t.Errorf("%s: dir %q, digest %q", name, p.Dir, p.Digest)
		}
	}
}

// shown is a value as the scripts write it.
func shown(v expr.Value) any {
	return struct {
		Null   bool
		Int    int64
		Double float64
		Text   string
	}{v.Null, v.Int, v.Double, v.Text}
}
