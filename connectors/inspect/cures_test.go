package inspect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	goyaml "github.com/goccy/go-yaml"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// TestCures: with all the lines that the hazards of a file name, a source reads it to its end, also where
// several hazards come together.
func TestCures(t *testing.T) {
	for _, text := range []string{
		"a;b\n'x;y';1\n'it\\'s';2\n",
		"// made \"by\na | b | when | c\n1 | \"x | \\\" y\" | 01.02.2024 | 1.234,5\nNA | z | 24.12.2024 | 2,5\n",
		"Report\rby me\rid~t\r1~x, y\r2~'z\r",
		"id::name\n1::'a::b'\n2::'it''s'\n",
		"1, \"a, b\"\n2, c\n",
		"a,b\n1,2,\n3,4,\n",
		"a,a\n1,2\n3,4\n",
		"a;b\n1,5e3;Stra\xdfe\n2,5e-3;x\n",
	} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f := files.File{Path: "a.csv", Abs: path, Bytes: int64(len(text))}
		d, err := Examine(files.Local(), f)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		options := map[string]any{}
		for _, h := range d.Hazards {
			for _, line := range h.Cure {
				if strings.HasPrefix(line, "columns:") {
					continue // of one column: a plan with several has more than it
				}
				cure(t, options, line)
			}
		}
		if err := tryWith(context.Background(), connectors.Erase(csv.Spec), f, options); err != nil {
			t.Errorf("%q with %v: %v", text, options, err)
		}
	}
}

// cure adds a line to the options; what is a list grows.
func cure(t *testing.T, options map[string]any, line string) {
	t.Helper()
	var one map[string]any
	if err := goyaml.Unmarshal([]byte(line), &one); err != nil {
		t.Fatalf("%q is no line of a plan: %v", line, err)
	}
	for k, v := range one {
		if k == "formats" { // which stand in order in what a plan becomes
			for column, format := range v.(map[string]any) {
				v = []any{map[string]any{"column": column, "format": format}}
			}
		}
		switch old := options[k].(type) {
		case []any:
			options[k] = append(old, v.([]any)...)
		default:
			options[k] = v
		}
	}
}
