package runner_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// secretly parses a plan whose environment is env.
func secretly(t *testing.T, file, text string, env map[string]string) *plans.Plan {
	t.Helper()
	cat := catalogs(t)
	known := plans.KnownOf(cat.Connectors, cat.Operators)
	known.Lookup.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	p, found := plans.Parse(file, []byte(text), nil, known)
	if found.Failed() {
		t.Fatal(found)
	}
	return p
}

// TestReplayOfSecretPaths: a report hides what is secret of a path, and the replay finds the file by the plan
// read again. Nothing that is written or said has the secret.
func TestReplayOfSecretPaths(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"hunter22", "swordfish"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, folder), "o.csv", "id,qty\n1,2\n2,two\n3,3\n")
	}
	write(t, filepath.Join(dir, "swordfish"), "o.csv", "id,qty\n1,2\n2,two\n3,3\n4,4\n")
	text := func(qty string) string {
		return `
params: {in: "${env:IN}", out: "${env:OUT}"}
sources: {o: {csv: {path: "${in}/o.csv", columns: {id: BIGINT, qty: ` + qty + `}}, on_error: skip}}
sinks:
  out: {from: o, csv: {path: "${out}/good", mode: append}}
  bad: {from: o.rejected, csv: {path: "${out}/bad", mode: overwrite}}
`
	}
	file, saved := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "r.json")
	env := map[string]string{"IN": filepath.Join(dir, "hunter22"), "OUT": filepath.Join(dir, "outsecret")}
	o, err := config.Load(config.LoadInput{Embedded: true, CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	settings := runner.Settings{Options: o, SpillDir: t.TempDir(), EncodeMessages: true}
	t.Run("kept beside the report", func(t *testing.T) {
		settings := settings
		settings.ReportFile = func(string, string) string { return saved }
		alone := strings.Replace(text("BIGINT"), `  bad: {from: o.rejected, csv: {path: "${out}/bad", mode: overwrite}}`, "", 1)
		env := map[string]string{"IN": env["IN"], "OUT": filepath.Join(dir, "third")}
		first, err := runner.Run(t.Context(), catalogs(t), secretly(t, file, alone, env), settings)
		if err != nil || first.State != "FINISHED" || first.Sources[0].Rejects == nil {
			t.Fatal(err, first.Failure, first.Warnings)
		}
		if s := read(t, saved+".o.rejects"); strings.Contains(s, "hunter22") {
			t.Fatalf("a secret is kept: %q", s)
		}
		right := strings.Replace(alone, "qty: BIGINT", "qty: STRING", 1)
		r, err := runner.Replay(t.Context(), catalogs(t), secretly(t, file, right, env), settings, runner.ReplayOf{Earlier: first, File: saved, Again: true})
		if err != nil || r.State != "FINISHED" || r.Sources[0].Files[0].Rows != 1 {
			t.Fatal(err, r.Failure)
		}
		if err := os.Remove(saved + ".replayed"); err != nil {
			t.Fatal(err)
		}
	})
	quiet := func(what any) {
		t.Helper()
		b, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(b); strings.Contains(s, "hunter22") || strings.Contains(s, "outsecret") || strings.Contains(s, "swordfish") {
			t.Fatalf("a secret is shown: %s", s)
		}
	}
	first, err := runner.Run(t.Context(), catalogs(t), secretly(t, file, text("BIGINT"), env), settings)
	if err != nil || first.State != "FINISHED" || !strings.Contains(first.Sources[0].Files[0].Path, plans.Hidden) {
		t.Fatal(err, first.Failure)
	}
	quiet(first)
	again := func(qty string, env map[string]string) (report.Report, error) {
		return runner.Replay(t.Context(), catalogs(t), secretly(t, file, text(qty), env), settings, runner.ReplayOf{Earlier: first, File: saved})
	}

	// Another folder is another secret: its file is not the one that it was.
	_, err = again("STRING", map[string]string{"IN": filepath.Join(dir, "swordfish"), "OUT": env["OUT"]})
	var refusal *runner.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "has changed since") {
		t.Fatal(err)
	}
	quiet(err.Error())
	// Bad rows elsewhere: what to pass.
	_, err = again("STRING", map[string]string{"IN": env["IN"], "OUT": filepath.Join(dir, "swordfish")})
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "the secret parameters in, out") {
		t.Fatal(err)
	}
	quiet(err.Error())

	r, err := again("STRING", env)
	if err != nil || r.State != "FINISHED" || r.Sources[0].Files[0].Rows != 1 {
		t.Fatal(err, r.Failure)
	}
	quiet(r)
	quiet(read(t, saved+".replayed"))
	if got := recordsOf(t, filepath.Join(dir, "outsecret", "good")); len(got) != 4 {
		t.Fatalf("%q", got)
	}
}

// TestReplayNamesParams: a file that is none of the source's, since the run before had other parameters.
func TestReplayNamesParams(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "id,qty\n1,2\n2,two\n3,3\n")
	write(t, dir, "p.csv", "id,qty\n1,2\n2,two\n3,3\n")
	file := filepath.Join(dir, "plan.yaml")
	text := func(in string) string {
		return "params: {in: " + in + "}\n" + strings.Replace(markSource, "o.csv", `"${in}.csv"`, 1) + markSinks
	}
	first := run(t, file, text("o"), setup{})
	_, err := replay(t, file, text("p"), nil, runner.ReplayOf{Earlier: first})
	if err == nil || !strings.Contains(err.Error(), "none of its files now; that run had --set in=o") {
		t.Fatal(err)
	}
}
