package inspect

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// unescape turns \r, \t and \xNN of a script into bytes; ~ at the end of a line is "no line end here".
func unescape(s string) string {
	s = strings.ReplaceAll(s+"\n", "~\n", "")
	v, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\"`), "\n", `\n`) + `"`)
	if err != nil {
		return s
	}
	return v
}

// write makes a file of a script's input.
func write(t *testing.T, d *datadriven.TestData) files.File {
	t.Helper()
	name := "a.csv"
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	path := filepath.Join(t.TempDir(), name)
	text := unescape(d.Input)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return files.File{Path: name, Abs: path, Bytes: int64(len(text))}
}

// TestInspect prints the source block of a file.
func TestInspect(t *testing.T) {
	datadriven.Walk(t, "testdata/inspect", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			f, err := Look(files.Local(), write(t, d))
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return f.Block(NodeName(f.File, map[string]bool{}))
		})
	})
}

// TestSample: of a large file parts are looked at, and that is said.
func TestSample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.csv")
	var b strings.Builder
	b.WriteString("n,t\n")
	for i := 0; b.Len() < wholeBytes+1; i++ {
		b.WriteString(strconv.Itoa(i) + ",2024-01-01 10:00:00\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Look(files.Local(), files.File{Path: "big.csv", Abs: path, Bytes: int64(b.Len())})
	if err != nil {
		t.Fatal(err)
	}
	block := f.Block("big")
	for _, want := range []string{"from a sample of ", " bytes of " + strconv.Itoa(b.Len()) + ")", "n\": BIGINT", "t: TIMESTAMP(6)"} {
		if !strings.Contains(block, want) {
			t.Errorf("expected %q in\n%s", want, block)
		}
	}
}

// TestNodeName: a source's name is a name, and no two are alike.
func TestNodeName(t *testing.T) {
	taken := map[string]bool{}
	for _, x := range [][2]string{{"a/orders.csv.gz", "orders"}, {"b/orders.csv", "orders_2"}, {"2024-01 x.csv", "input_2024_01_x"}, {"-.csv", "input"}} {
		if got := NodeName(x[0], taken); got != x[1] {
			t.Errorf("%s: %s, expected %s", x[0], got, x[1])
		}
	}
}

// TestDoctor prints the hazards of a file.
func TestDoctor(t *testing.T) {
	datadriven.Walk(t, "testdata/doctor", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			x, err := Examine(files.Local(), write(t, d))
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var b strings.Builder
			if err := x.Text(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		})
	})
}

// TestSuites: files that others made, and broke, are looked at without a crash; encrypted and damaged
// ones are named.
func TestSuites(t *testing.T) {
	shared := os.Getenv("RUNNER_SHARED")
	if shared == "" {
		t.Skip("RUNNER_SHARED is not set: no shared data")
	}
	paths, err := filepath.Glob(filepath.Join(shared, "data", "suites", "*", "*", "*"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	rules := map[string]int{}
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if ext := filepath.Ext(p); st.IsDir() || ext != ".csv" && ext != ".parquet" && ext != ".encrypted" {
			continue
		}
		d, err := Examine(files.Local(), files.File{Path: filepath.Base(p), Abs: p, Bytes: st.Size()})
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		for _, h := range d.Hazards {
			rules[h.Rule]++
		}
	}
	for _, want := range []string{"int96", "encrypted", "no-checksum", "no-statistics", "unreadable-column", "stray-quotes"} {
		if rules[want] == 0 {
			t.Errorf("no file has %s: %v", want, rules)
		}
	}
}

// TestNoColumn: a plan for a file of which no column can be read is one, and a run says why.
func TestNoColumn(t *testing.T) {
	x := &Found{File: "x.parquet", Kind: "parquet", Notes: []string{"column a is left out: its type is odd"}}
	if got := x.Block("x"); strings.Contains(got, "columns:") || !strings.Contains(got, "column a is left out") {
		t.Error(got)
	}
}

// FuzzExamine: whatever a file holds, looking at it ends, with what was found or an error.
func FuzzExamine(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "\xff\xfea\x00", "a;b\r1;2\r", "# x\na\tb\n", "\"a\"\"\n", "PAR1xxxxPAR1", "\x1f\x8b\x08", "PARE", "\n\n", "1,2024-01-01\n,\n", "'a','b'\n'1','x'\n", "a||b\n1||\"\n", "\\\",\n",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "x.csv")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		in := files.File{Path: "x.csv", Abs: path, Bytes: int64(len(data))}
		d, err := Examine(files.Local(), in)
		if err == nil {
			if err := d.Text(&strings.Builder{}); err != nil {
				t.Fatal(err)
			}
		}
		if x, err := Look(files.Local(), in); err == nil && !strings.Contains(x.Block("x"), "columns:") {
			t.Errorf("no columns in\n%s", x.Block("x"))
		}
	})
}
