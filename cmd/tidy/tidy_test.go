// Package tidy holds the rails of the source tree as an ordinary test: who may import whom, how long
// functions and files may be, and what the pure packages may use.
package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	module      = "github.com/seed-4b0e9f7c/runner/"
	root        = "../.."
	maxFunction = 70
	maxFile     = 500
)

// A source is a parsed Go file of the tree.
type source struct {
	path  string // from the root, with slashes
	dir   string
	test  bool
	gen   bool
	file  *ast.File
	fset  *token.FileSet
	lines int
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{
			path: rel, dir: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(rel, "_test.go"),
			gen: ast.IsGenerated(f), file: f, fset: fset, lines: fset.File(f.Pos()).LineCount(),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d Go files found: the test looks at the wrong tree", len(all))
	}
	return all
}

func (s source) imports() []string {
	var out []string
	for _, i := range s.file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

// rooms lists the packages from the contracts down: nothing imports from further down the list.
var rooms = []string{
	"config/spec", "config", "operators/expr", "operators", "operators/column", "connectors", "operators/table", "connectors/files",
	"operators/*", "connectors/*", "operators/builtin", "connectors/builtin", "connectors/inspect",
	"plans", "plans/lint", "runner/failure", "runner/jobgraph", "runner/jobgraph/bind", "runner/exchange", "runner/rpc", "runner/rpc/inproc",
	"runner/executiongraph", "runner/scheduler", "runner/checkpoint", "runner/jobmaster", "runner/resourcemanager", "runner/dispatcher",
	"runner/store", "runner/state", "runner/jobmanager", "runner/taskmanager", "runner/report", "runner/rest", "runner/diagnose",
	"runner/plantest", "runner/repro", "runner/flink", "runner", "runner/sim", "runner/metamorphic", "examples/*", "bench/*", "bench", "docs", "cmd/*",
}

// pure packages decide and do nothing.
var pure = []string{
	"runner/failure", "runner/jobgraph", "runner/rpc", "runner/executiongraph", "runner/scheduler", "runner/checkpoint",
	"runner/jobmaster", "runner/resourcemanager", "runner/dispatcher",
}

func room(dir string) int {
	star := -1
	for i, r := range rooms {
		if r == dir {
			return i
		}
		if p, ok := strings.CutSuffix(r, "/*"); ok && strings.HasPrefix(dir, p+"/") && star < 0 {
			star = i
		}
	}
	return star
}

func isLeaf(dir, kind string) bool {
	rest, ok := strings.CutPrefix(dir, kind+"/")
	if !ok {
		return false
	}
	switch strings.SplitN(rest, "/", 2)[0] {
	case "expr", "column", "table", "builtin", "operatortest", "connectortest", "files", "inspect":
		return false
	}
	return true
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		from := room(s.dir)
		if from < 0 {
			t.Errorf("%s: folder %s is no room of the design", s.path, s.dir)
			continue
		}
		for _, imp := range s.imports() {
			to, ok := strings.CutPrefix(imp, module)
			if !ok {
				checkPureImport(t, s, imp)
				continue
			}
			if room(to) > from {
				t.Errorf("%s imports upwards: %s stands below %s", s.path, to, s.dir)
			}
			checkLeafImport(t, s, to)
			checkPureImport(t, s, to)
		}
	}
}

func checkLeafImport(t *testing.T, s source, to string) {
	for _, kind := range []string{"operators", "connectors"} {
		if !isLeaf(s.dir, kind) {
			continue
		}
		if to == "runner" || strings.HasPrefix(to, "runner/") || strings.HasPrefix(to, "plans") {
			t.Errorf("%s: a leaf imports nothing of runner: %s", s.path, to)
		}
		if isLeaf(to, kind) && to != s.dir && !strings.HasPrefix(to, s.dir+"/") && !strings.HasPrefix(s.dir, to+"/") {
			t.Errorf("%s: leaves do not know each other: %s", s.path, to)
		}
	}
}

// checkPureImport forbids a pure package what can do I/O or wait.
func checkPureImport(t *testing.T, s source, to string) {
	if !has(pure, s.dir) {
		return
	}
	for _, bad := range []string{
		"os", "net", "net/http", "sync", "sync/atomic", "io/ioutil", "os/exec", "crypto/rand", "math/rand", "runner/state", "runner/store",
		"runner/taskmanager", "runner/rpc/inproc", "runner/rpc/grpc", "runner/jobmanager", "connectors/files",
	} {
		if to == bad {
			t.Errorf("%s: a pure package imports %s", s.path, to)
		}
	}
}

func TestPure(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !has(pure, s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a pure package starts a goroutine", s.fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && has([]string{"Now", "Since", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, n.Sel.Name) {
					t.Errorf("%s: a pure package uses the clock: time.%s", s.fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.gen {
			continue
		}
		if s.lines > maxFile {
			t.Errorf("%s has %d lines: at most %d", s.path, s.lines, maxFile)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := s.fset.Position(f.Pos()).Line, s.fset.Position(f.End()).Line
			if n := to - from + 1; n > maxFunction && !strings.Contains(rawDoc(f.Doc), "//tidy:long ") {
				t.Errorf("%s:%d: %s has %d lines: at most %d", s.path, from, f.Name.Name, n, maxFunction)
			}
		}
	}
}

// rawDoc is a comment with its directives, which Doc.Text leaves out.
func rawDoc(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	for _, l := range c.List {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		if s.gen {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil {
				t.Errorf("%s: no init functions: catalogues are values passed down", s.fset.Position(f.Pos()))
			}
		}
	}
}

func TestComponentFolders(t *testing.T) {
	spec, tested, example := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if !isLeaf(s.dir, "operators") && !isLeaf(s.dir, "connectors") || strings.Count(s.dir, "/") > 1 {
			continue
		}
		spec[s.dir] = spec[s.dir]
		for _, d := range s.file.Decls {
			switch f := d.(type) {
			case *ast.FuncDecl:
				spec[s.dir] = spec[s.dir] || f.Name.Name == "Spec"
				tested[s.dir] = tested[s.dir] || s.test && strings.HasPrefix(f.Name.Name, "Test")
				example[s.dir] = example[s.dir] || s.test && strings.HasPrefix(f.Name.Name, "Example")
			case *ast.GenDecl:
				for _, x := range f.Specs {
					if v, ok := x.(*ast.ValueSpec); ok && len(v.Names) > 0 && v.Names[0].Name == "Spec" {
						spec[s.dir] = true
					}
				}
			}
		}
	}
	if len(spec) < 8 {
		t.Fatalf("only %d component folders found", len(spec))
	}
	for dir, ok := range spec {
		if !ok {
			t.Errorf("%s declares no Spec", dir)
		}
		if !tested[dir] {
			t.Errorf("%s has no test", dir)
		}
		if !example[dir] {
			t.Errorf("%s has no example", dir)
		}
	}
}
