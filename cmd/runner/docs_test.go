package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-4b0e9f7c/runner/plans"
)

// rewrite puts what the commands print into the pages, where no lines are left out.
var rewrite = flag.Bool("rewrite-pages", false, "rewrite the outputs in the pages that differ")

// elsewhere are the commands of the pages that this test does not run, and why.
var elsewhere = map[string]string{
	"go test ./...":                 "it would run this test again",
	"go build -o bin/ ./cmd/runner": "this test runs the program it was built with",
	"go run ./bench":                "it installs other engines and takes minutes",
	"make ":                         "TestMake holds that the targets are there; they run the commands above",
}

// A block is a fenced block of a page: ```info, text.
type block struct {
	line    int
	kind    string
	attrs   map[string]string
	text    string
	follows bool // nothing but empty lines stands between it and the block before
}

// pagesOf are the pages that a person reads first; those of docs/reference are generated.
func pagesOf(t *testing.T) []string {
	t.Helper()
	root := repository(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 5 {
		t.Fatal(pages, err)
	}
	return append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "examples", "lab", "README.md"))
}

func blocks(t *testing.T, file string) []block {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	var open *block
	between := true
	for i, line := range strings.Split(string(b), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			words := strings.Fields(info)
			if len(words) == 0 {
				t.Fatalf("%s:%d: a block without kind", file, i+1)
			}
			open = &block{line: i + 1, kind: words[0], attrs: map[string]string{}, follows: !between}
			for _, w := range words[1:] {
				k, v, _ := strings.Cut(w, "=")
				open.attrs[k] = v
			}
		case fence:
			out = append(out, *open)
			open, between = nil, false
		case open != nil:
			open.text += line + "\n"
		case strings.TrimSpace(line) != "":
			between = true
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is not closed", file, open.line)
	}
	return out
}

// TestPages runs what the pages say: commands with their exit codes and outputs, plans, and the files
// that a page makes with file=NAME for its commands.
func TestPages(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh in PATH: the commands of the pages are a shell's")
	}
	for _, file := range pagesOf(t) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			p := &reader{t: t, file: file, dir: workplace(t)}
			for _, b := range blocks(t, file) {
				p.block = b
				p.read()
			}
			p.rewrite()
		})
	}
}

// workplace is a copy of what the commands of the pages need of the tree.
func workplace(t *testing.T) string {
	t.Helper()
	root, dir := repository(t), t.TempDir()
	for _, from := range []string{"plans", "examples/data", "examples/lab"} {
		err := filepath.WalkDir(filepath.Join(root, from), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.MkdirAll(filepath.Join(dir, rel), 0o755)
			}
			if filepath.Ext(path) == ".go" {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, rel), b, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A reader goes through one page.
type reader struct {
	t      *testing.T
	file   string
	dir    string
	block  block
	output string // of the last commands
	ran    bool

	changed []change
}

// A change is a block whose text is to be another.
type change struct {
	block
	to string
}

// rewrite writes the changed blocks into the page, from its end so that lines keep their numbers.
func (p *reader) rewrite() {
	p.t.Helper()
	if len(p.changed) == 0 {
		return
	}
	b, err := os.ReadFile(p.file)
	if err != nil {
		p.t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	for _, c := range slices.Backward(p.changed) {
		end := c.line + strings.Count(c.text, "\n")
		lines = slices.Replace(lines, c.line, end, strings.Split(strings.TrimRight(c.to, "\n"), "\n")...)
	}
	if err := os.WriteFile(p.file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *reader) errorf(format string, args ...any) {
	p.t.Helper()
	p.t.Errorf("%s:%d: %s", filepath.Base(p.file), p.block.line, fmt.Sprintf(format, args...))
}

func (p *reader) read() {
	p.t.Helper()
	if name, ok := p.block.attrs["file"]; ok {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(p.block.text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	switch _, isFile := p.block.attrs["file"]; p.block.kind {
	case "sh":
		p.commands()
	case "text":
		if isFile {
			return
		}
		if !p.block.follows || !p.ran {
			p.errorf("an output without the commands before it")
			return
		}
		p.compare()
	case "json":
		if !p.ran {
			p.errorf("JSON without commands before it")
			return
		}
		p.compare()
	case "yaml":
		p.plan()
	case "csv":
	default:
		p.errorf("a block of kind %s: expected sh, text, json, yaml or csv", p.block.kind)
	}
}

var program = regexp.MustCompile(`^((?:[A-Z_]+=\S* )*)(?:go run \./cmd/runner|bin/runner|runner)( .*)$`)

// commands runs the commands of a block; exit=N is the exit code of the last one.
func (p *reader) commands() {
	p.t.Helper()
	var lines []string
	for _, line := range strings.Split(strings.ReplaceAll(p.block.text, "\\\n", ""), "\n") {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	var out bytes.Buffer
	for i, line := range lines {
		want := 0
		if n, ok := p.block.attrs["exit"]; ok && i == len(lines)-1 {
			var err error
			if want, err = strconv.Atoi(n); err != nil {
				p.t.Fatal(err)
			}
		}
		m := program.FindStringSubmatch(line)
		if m == nil {
			p.others(line)
			continue
		}
		p.ran = true
		c := exec.Command("sh", "-c", m[1]+"runner"+m[2])
		c.Dir, c.Stdout, c.Stderr, c.Env = p.dir, &out, &out, environment()
		err := c.Run()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			p.t.Fatal(err)
		}
		if got := c.ProcessState.ExitCode(); got != want {
			p.errorf("%s ends with %d, expected %d\n%s", line, got, want, out.String())
		}
	}
	p.output = out.String()
}

// environment has two CPUs and no options, so that the pages read alike everywhere.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "RUNNER_") })
	return append(env, "GOMAXPROCS=2")
}

// others holds that a command which is not run here is known.
func (p *reader) others(line string) {
	p.t.Helper()
	for command := range elsewhere {
		if line == command || strings.HasPrefix(line+" ", command) && strings.HasSuffix(command, " ") || strings.HasPrefix(line, command+" ") {
			return
		}
	}
	p.errorf("%s is neither the program nor one of the commands that this test knows", line)
}

// plan reads a whole plan without any finding. A fragment may lack the nodes and parameters it names;
// what is marked as refused has to be refused as something that comes later, and what is marked as
// wrong has to have errors.
func (p *reader) plan() {
	p.t.Helper()
	cat, err := catalogs(io.Discard)
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.dir, "plans", "page.yaml")
	if err := os.WriteFile(path, []byte(p.block.text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	_, found, err := (&planFlags{}).parse(path, cat)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, wrong := p.block.attrs["wrong"]; wrong {
		if !found.Failed() {
			p.errorf("nothing is wrong with this")
		}
		return
	}
	_, fragment := p.block.attrs["fragment"]
	_, refused := p.block.attrs["refused"]
	later := 0
	for _, f := range found {
		switch {
		case f.Rule == plans.RuleNotYet && refused:
			later++
		case (fragment || refused) && slices.Contains([]string{plans.RuleUnknownNode, plans.RuleNoSink, plans.RuleUnusedNode, plans.RuleUnknownParam, plans.RuleUnusedParam}, f.Rule):
		default:
			p.errorf("line %d: %s (%s)", f.Line, f.Error(), f.Rule)
		}
	}
	if refused && later == 0 {
		p.errorf("nothing of this is refused")
	}
}

// compare holds that an output is what the page shows, with "…" for lines left out.
func (p *reader) compare() {
	p.t.Helper()
	want, got := general(p.block.text), general(p.output)
	switch {
	case matches(want, got):
	case *rewrite && !slices.Contains(want, "…"):
		p.changed = append(p.changed, change{p.block, p.output})
	default:
		var missing []string
		for _, line := range want {
			if line != "…" && !slices.Contains(got, line) {
				missing = append(missing, line)
			}
		}
		if len(got) > 60 {
			got = append(got[:60:60], "…")
		}
		p.errorf("the page shows\n%s\nand the program prints\n%s\nlines that it does not print at all:\n%s",
			strings.Join(want, "\n"), strings.Join(got, "\n"), strings.Join(missing, "\n"))
	}
}

// generals are what differs from run to run, and what stands for it.
var generals = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\d{8}T\d{6}\.\d{3}-[0-9a-f]{32}`), "RUN"},
	{regexp.MustCompile(`"jobId": "[0-9a-f]{32}"`), `"jobId": ID`},
	{regexp.MustCompile(`"startedAt": "[^"]*"`), `"startedAt": TIME`},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "DIGEST"},
	{regexp.MustCompile(`"(\w*Ms|\w*Bytes|bytes\w*|recordsIn|recordsOut|splits|slot)": \d+`), `"$1": N`},
	{regexp.MustCompile(`\b\d[\d.,]* ?(ms|s)\b`), "TIME"},
	{regexp.MustCompile(`\b\d[\d.,]* (B|kB|MB|GB)\b`), "SIZE"},
	{regexp.MustCompile(`\b\d+ bytes over`), "N bytes over"},
	{regexp.MustCompile(`\(\d+/\d+\)`), "(I/N)"},
	{regexp.MustCompile(`(FAILED|CANCELED)  +.*`), "$1 NUMBERS"},
	{regexp.MustCompile(`\\u003e`), ">"},
	{regexp.MustCompile(`\s+`), " "},
}

// general is a text as lines without what differs from run to run. Whether a second subtask fails
// before it is told to stop is one of those things.
func general(text string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		for _, g := range generals {
			line = g.pattern.ReplaceAllString(line, g.instead)
		}
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "concurrent failures: ") {
			out = append(out, line)
		}
	}
	return out
}

// matches compares lines; "…" in want stands for any number of them.
func matches(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "…":
		for i := range len(got) + 1 {
			if matches(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && want[0] == got[0] && matches(want[1:], got[1:])
}

// TestGeneral holds that the comparison can fail.
func TestGeneral(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a  1 ms", "a 23 ms", true},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…", "a", true},
		{"…\nc", "a\nb", false},
		{"a", "a\nb", false},
		{"5 rows", "6 rows", false},
		{"1  FAILED  1,250  0", "1  FAILED  9  2", true},
		{"FAILED: a", "FAILED: b", false},
		{`"state": "FINISHED"`, `"state": "FAILED"`, false},
	} {
		if matches(general(c.want), general(c.got)) != c.same {
			t.Errorf("%q and %q: same is not %v", c.want, c.got, c.same)
		}
	}
}

// TestFirstCommands holds that the README begins with the two commands for a fresh machine.
func TestFirstCommands(t *testing.T) {
	var lines []string
	for _, b := range blocks(t, filepath.Join(repository(t), "README.md")) {
		if b.kind == "sh" {
			lines = append(lines, strings.Split(strings.TrimSpace(b.text), "\n")...)
		}
	}
	if len(lines) < 2 || lines[0] != "go run ./cmd/runner run plans/orders.yaml" || !slices.Contains(lines, "go test ./...") {
		t.Errorf("%q", lines)
	}
}

// TestCommands holds that the page of commands has all of them, each with its help.
func TestCommands(t *testing.T) {
	page := text(t, filepath.Join(repository(t), "docs", "commands.md"))
	for _, c := range rootCommand(time.Now()).Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if !strings.Contains(page, "\n## "+c.Name()+"\n") || !strings.Contains(page, "\nrunner "+c.Name()+" --help\n") {
			t.Errorf("docs/commands.md has no section %s with `runner %s --help`", c.Name(), c.Name())
		}
	}
}
