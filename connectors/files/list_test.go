package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		p := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "b.csv", "a.csv", "B.csv", "x/1.csv", "x/2.csv", "x/y/3.csv", "x/.hid.csv", "x/_SUCCESS",
		".runner-1/q.csv", "x/.runner-2/z.csv", "odd[1].csv", "n.txt", "_meta/m.csv", "p.parquet/part-0-0.parquet")
	if err := os.Symlink(filepath.Join(dir, "x"), filepath.Join(dir, "x", "y", "loop")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ patterns, want string }{
		{"a.csv", "a.csv"},
		{"./x/../a.csv a.csv", "a.csv"},
		{"*.csv", "B.csv a.csv b.csv odd[1].csv"},
		{"?.csv", "B.csv a.csv b.csv"},
		{"[ab].csv", "a.csv b.csv"},
		{"{a,x/1,x/y/3}.csv", "a.csv x/1.csv x/y/3.csv"},
		{"x", "x/1.csv x/2.csv"},
		{"x/", "x/1.csv x/2.csv"},
		{"x/*.csv b.csv", "b.csv x/1.csv x/2.csv"},
		{"**/*.csv", "B.csv a.csv b.csv odd[1].csv x/1.csv x/2.csv x/y/3.csv"},
		{"x/**", "x/1.csv x/2.csv x/y/3.csv"},
		{"x/**/3.csv", "x/y/3.csv"},
		{"x/.hid.csv x/_SUCCESS", "x/.hid.csv x/_SUCCESS"},
		{"{_meta,x}/*.csv", "_meta/m.csv x/1.csv x/2.csv"},
		{"_meta", "_meta/m.csv"},
		{"x/y/loop/*.csv", "x/1.csv x/2.csv"},
		{"odd[1].csv", "odd[1].csv"},
		{"*.parquet/*", "p.parquet/part-0-0.parquet"},
		{"p.parquet", "p.parquet/part-0-0.parquet"},
	} {
		got, err := List(t.Context(), strings.Fields(c.patterns), dir)
		if err != nil {
			t.Errorf("%s: %v", c.patterns, err)
			continue
		}
		var names []string
		for _, f := range got {
			rel, _ := filepath.Rel(dir, f.Abs)
			names = append(names, strings.Replace(rel, "x/y/loop/", "x/", 1))
			if f.Bytes == 0 || f.ModTime.IsZero() || f.Path == "" {
				t.Errorf("%s: incomplete %+v", c.patterns, f)
			}
		}
		if s := strings.Join(names, " "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.patterns, s, c.want)
		}
	}
}

func TestListFailures(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "orders.csv", "empty/.keep", "f/x.csv")
	for _, c := range []struct{ pattern, class, text string }{
		{"order.csv", MissingFile, "did you mean orders.csv?"},
		{"orders.csv/x", MissingFile, "empty/, f/, orders.csv"},
		{"nowhere/deep/*.csv", MissingFile, "no file matches"},
		{"*.tsv", MissingFile, `(path "*.tsv"); in`},
		{"empty", MissingFile, "has no files to read"},
		{"", InvalidOption, "a path is empty"},
		{"a\x00b", InvalidOption, "NUL"},
		{"[a.csv", InvalidOption, "does not close"},
		{"empty/.*", MissingFile, "are read only where the path writes them out"},
		{"_*/*.csv", MissingFile, "no file matches"},
		{"~/x.csv", InvalidOption, "only shells expand"},
		{"~", InvalidOption, "only shells expand"},
		{strings.Repeat("n", 300), MissingFile, "no file or folder"},
		{os.DevNull, InvalidOption, "no regular file"},
	} {
		_, err := List(t.Context(), []string{c.pattern}, dir)
		var e *Error
		if !errors.As(err, &e) || e.Class() != c.class || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: %v (%+v)", c.pattern, err, e)
		}
	}
}

// TestInputs: what a source reads is of one kind; a pattern that matches nothing is an error, or allowed.
func TestInputs(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "m/a.csv", "m/b.csv.gz", "m/c.parquet", "m/_SUCCESS", "m/.a.csv.crc", "one/a.csv", "one/b.CSV.gz", "one/_metadata",
		"none/.keep", "parts/part-0-0", "parts/part-1-0", "parts/read.me", "two/a.csv", "two/x/b.json")
	for _, c := range []struct {
		pattern    string
		allowEmpty bool
		want       string // names, or the beginning of an error
	}{
		{"one", false, "one/a.csv one/b.CSV.gz"},
		{"./one/", false, "one/a.csv one/b.CSV.gz"},
		{dir + "/one", false, dir + "/one/a.csv " + dir + "/one/b.CSV.gz"},
		{"m", false, `error: path "m" has files of several kinds: ` + dir + `/m/c.parquet is none of the 2 *.csv there; name those that are to be read, as in "m/*.csv"`},
		{"m/*", false, `error: path "m/*" has files of several kinds`},
		{"m/*.*", false, "m/a.csv m/b.csv.gz m/c.parquet"},
		{"m/*.csv*", false, "m/a.csv m/b.csv.gz"},
		{"parts", false, `error: path "parts" has files of several kinds: ` + dir + `/parts/read.me is none of the 2 names without an extension`},
		{"parts/part-*", false, "parts/part-0-0 parts/part-1-0"},
		{"two/**", false, `error: path "two/**" has files of several kinds`},
		{"two", false, "two/a.csv"},
		{"none", false, "error: folder " + dir + "/none"},
		{"none", true, ""},
		{"gone/*.csv", false, "error: no file matches"},
		{"gone/*.csv", true, ""},
		{"gone.csv", true, ""},
		{"[", true, `error: "` + dir + `/[" is not a glob`},
		{"~/a.csv", true, `error: path "~/a.csv" begins with ~`},
	} {
		list, err := Inputs(t.Context(), Local(), []string{c.pattern}, dir, c.allowEmpty)
		var names []string
		for _, f := range list {
			names = append(names, f.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
			if strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want) {
				continue
			}
		}
		if got != c.want {
			t.Errorf("%s (%t):\n got %s\nwant %s", c.pattern, c.allowEmpty, got, c.want)
		}
	}
}

// TestCovers: what a pattern would find.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"data/*.csv", "/p/data/out.csv", true},
		{"data/*.csv", "/p/data/out.parquet", false},
		{"data/*.csv", "/p/data/x/out.csv", false},
		{"data/**/*.csv", "/p/data/x/out.csv", true},
		{"data/**", "/p/data/x/part-0-0.csv", true},
		{"data", "/p/data/out.csv", true},
		{"data", "/p/data/x/out.csv", false},
		{"data/{a,out}.csv", "/p/data/out.csv", true},
		{"data/*", "/p/data/_out.csv", false},
		{"../q/*", "/q/out.csv", true},
	} {
		if got := Covers(c.pattern, "/p", c.path); got != c.want {
			t.Errorf("%s and %s: %t", c.pattern, c.path, got)
		}
	}
}

// TestListBelowOddFolder: the characters of a glob are none in the name of the folder that paths are
// relative to, nor in what a path of another folder beside it goes up to.
func TestListBelowOddFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p[1]{a,b}*")
	touch(t, dir, "data/a.csv", "data/b.csv", "plans/p.yaml", "plans/c.csv")
	plans := filepath.Join(dir, "plans")
	for _, c := range []struct{ pattern, want string }{
		{"*.csv", "c.csv"},
		{"../data/*.csv", "a.csv b.csv"},
		{"../data/{b,c}.csv", "b.csv"},
		{"{../data,.}/*.csv", "a.csv b.csv c.csv"},
		{"./x/../../**/?.csv", "a.csv b.csv c.csv"},
	} {
		got, err := List(t.Context(), []string{c.pattern}, plans)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		var names []string
		for _, f := range got {
			names = append(names, filepath.Base(f.Abs))
			if !Covers(c.pattern, plans, f.Abs) {
				t.Errorf("%s does not cover %s, which it gave", c.pattern, f.Abs)
			}
		}
		if s := strings.Join(names, " "); s != c.want {
			t.Errorf("%s: %s, expected %s", c.pattern, s, c.want)
		}
	}
	if Covers("*.csv", plans, filepath.Join(dir, "data", "a.csv")) {
		t.Error("*.csv covers a file of another folder")
	}
	_, err := List(t.Context(), []string{"*.parquet"}, plans)
	if err == nil || !strings.Contains(err.Error(), "c.csv, p.yaml") {
		t.Errorf("expected what is in the folder, not %v", err)
	}
}

// TestListDanglingLink: a link whose file is gone is not silently a file less.
func TestListDanglingLink(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "x/a.csv", "x/n.txt")
	if err := os.Symlink("gone", filepath.Join(dir, "x", "b.csv")); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"x", "x/*.csv", "**/*.csv", "x/b.csv"} {
		_, err := List(t.Context(), []string{pattern}, dir)
		var e *Error
		if !errors.As(err, &e) || e.Kind != MissingFile || !strings.Contains(e.Path, "b.csv") {
			t.Errorf("%s: %v, expected a missing file b.csv", pattern, err)
		}
	}
	if got, err := List(t.Context(), []string{"x/a.*"}, dir); err != nil || len(got) != 1 {
		t.Errorf("%v, %v: expected the file that no link hides", got, err)
	}
}
