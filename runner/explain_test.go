package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
)

// TestExplain runs scripts of plans and the job graphs they become. Commands: `file name=…` writes an
// input file, `explain [option=value …]` reads a plan and prints what Explain says or what is wrong.
func TestExplain(t *testing.T) {
	datadriven.Walk(t, "testdata/explain", func(t *testing.T, path string) {
		dir := t.TempDir()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				var name string
				d.ScanArgs(t, "name", &name)
				if err := os.WriteFile(filepath.Join(dir, name), []byte(d.Input+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return ""
			case "explain", "mermaid":
				return explain(t, dir, d)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func explain(t *testing.T, dir string, d *datadriven.TestData) string {
	cat := catalogs(t)
	p, found := plans.Parse(filepath.Join(dir, "plan.yaml"), []byte(d.Input), nil, plans.KnownOf(cat.Connectors, cat.Operators))
	if !found.Failed() {
		in := config.LoadInput{Embedded: true, CPUs: 2}
		for _, a := range d.CmdArgs {
			in.Flags = append(in.Flags, config.Value{Name: a.Key, Value: strings.Join(a.Vals, ","), Where: a.Key})
		}
		o, err := config.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		x, err := runner.Explain(t.Context(), cat, p, o)
		var b strings.Builder
		switch fs, bad := err.(plans.Findings); {
		case bad:
			found = append(found, fs...)
		case err != nil:
			return strings.ReplaceAll(err.Error(), dir+"/", "") + "\n"
		case d.Cmd == "mermaid":
			err = x.Mermaid(&b)
		default:
			err = x.Text(&b)
		}
		if err == nil {
			return b.String()
		}
	}
	var b strings.Builder
	if err := plans.Render(&b, found); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), dir+"/", "")
}
