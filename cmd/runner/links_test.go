package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	target  = regexp.MustCompile(`(?m)^([a-z]+):.*?(?:## (.*))?$`)
	makes   = regexp.MustCompile(`\bmake ([a-z]+)\b`)
)

// TestLinks holds that links inside the tree lead somewhere, headings included.
func TestLinks(t *testing.T) {
	root := repository(t)
	pages := pagesOf(t)
	for _, pattern := range []string{"docs/reference/*.md", "docs/adr/*.md", "CHANGELOG.md"} {
		more, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(more) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, more...)
	}
	found := 0
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(text(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			file, anchor, _ := strings.Cut(m[1], "#")
			path := page
			if file != "" {
				path = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %s leads nowhere", filepath.Base(page), m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(text(t, path)), anchor) {
				t.Errorf("%s: %s has no heading #%s", filepath.Base(page), file, anchor)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d links found", found)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// anchors are the link targets of a page's headings.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		out = append(out, strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1]))
	}
	return out
}

// TestMake holds that `make help` lists every target, that each can be made, and that the pages name
// no others.
func TestMake(t *testing.T) {
	root := repository(t)
	file := text(t, filepath.Join(root, "Makefile"))
	if n := strings.Count(file, "\n"); n >= 60 {
		t.Errorf("the Makefile has %d lines: fewer than 60", n)
	}
	phony, _, _ := strings.Cut(file, "\n")
	named := strings.Fields(strings.TrimPrefix(phony, ".PHONY:"))
	var targets []string
	for _, m := range target.FindAllStringSubmatch(file, -1) {
		targets = append(targets, m[1])
		if m[2] == "" {
			t.Errorf("make %s does not say what it does", m[1])
		}
	}
	if len(targets) < 5 || targets[0] != "help" {
		t.Errorf("the targets are %v, expected help first", targets)
	}
	slices.Sort(named)
	if sorted := slices.Sorted(slices.Values(targets)); !slices.Equal(sorted, named) {
		t.Errorf(".PHONY names %v, the targets are %v", named, sorted)
	}
	for _, page := range pagesOf(t) {
		for _, b := range blocks(t, page) {
			for _, m := range makes.FindAllStringSubmatch(b.text, -1) {
				if b.kind == "sh" && !slices.Contains(targets, m[1]) {
					t.Errorf("%s:%d: there is no target %s", filepath.Base(page), b.line, m[1])
				}
			}
		}
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make in PATH")
	}
	run := func(args ...string) string {
		c := exec.Command("make", args...)
		c.Dir = root
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("make %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	help := run("help")
	for _, name := range targets {
		if !regexp.MustCompile(`(?m)^` + name + `\s+\S`).MatchString(help) {
			t.Errorf("make help does not list %s", name)
		}
		if run("--dry-run", name) == "" {
			t.Errorf("make %s does nothing", name)
		}
	}
}

// TestClosedLists holds that the pages name every reason of the scheduler and every exit code.
func TestClosedLists(t *testing.T) {
	root := repository(t)
	for _, c := range []struct{ source, pattern, page, row string }{
		{"runner/scheduler/decision.go", `Reason\w+ +(?:Reason +)?= "([a-z-]+)"`, "docs/parallelism.md", "\n| `%s` |"},
		{"cmd/runner/main.go", `exit[A-Z]\w+ += (\d+)`, "README.md", "\n| %s |"},
	} {
		found := regexp.MustCompile(c.pattern).FindAllStringSubmatch(text(t, filepath.Join(root, filepath.FromSlash(c.source))), -1)
		if len(found) < 5 {
			t.Errorf("%s: only %d found", c.source, len(found))
		}
		page := text(t, filepath.Join(root, filepath.FromSlash(c.page)))
		for _, m := range found {
			if row := strings.Replace(c.row, "%s", m[1], 1); !strings.Contains(page, row) {
				t.Errorf("%s does not name %s", c.page, m[1])
			}
		}
	}
}
