package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// replay runs a plan from text over the bad rows of an earlier run.
func replay(t testing.TB, file, text string, options map[string]string, of runner.ReplayOf) (report.Report, error) {
	t.Helper()
	return replayIn(t.Context(), t, file, text, options, of)
}

func replayIn(ctx context.Context, t testing.TB, file, text string, options map[string]string, of runner.ReplayOf) (report.Report, error) {
	t.Helper()
	if of.File == "" {
		of.File = filepath.Join(t.TempDir(), "r.json")
	}
	p, s := planned(t, file, text, options)
	return runner.Replay(ctx, catalogs(t), p, s, of)
}

// planned is a plan from its text, with settings that have these options.
func planned(t testing.TB, file, text string, options map[string]string) (*plans.Plan, runner.Settings) {
	t.Helper()
	cat := catalogs(t)
	p, found := plans.Parse(file, []byte(text), nil, plans.KnownOf(cat.Connectors, cat.Operators))
	if found.Failed() {
		t.Fatal(found)
	}
	in := config.LoadInput{Embedded: true, CPUs: 2}
	for k, v := range options {
		in.Flags = append(in.Flags, config.Value{Name: k, Value: v, Where: "flag"})
	}
	o, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	return p, runner.Settings{Options: o, SpillDir: t.TempDir(), EncodeMessages: true}
}

// A repair is a plan that leaves rows out, and the one that reads them.
type repair struct {
	name, wrong, right string // csv options of the source
	files              map[string]string
	sink               string // of the bad rows
}

func repairs(t testing.TB) []repair {
	wrong, right := `columns: {id: BIGINT, note: STRING, qty: BIGINT}`, `columns: {id: STRING, note: STRING, qty: STRING}, ragged: pad`
	text := badRows(300)
	latin := strings.NewReplacer("n2", "\xe9\xe8", "n3", "ok\xfc").Replace(text)
	return []repair{
		{"plain", wrong, right, map[string]string{"a.csv": text, "b.csv": "id,note,qty\n1,x,2\n", "c.csv": text}, "csv: {path: bad.csv"},
		{"gzip", wrong, right, map[string]string{"a.csv.gz": gzipped(t, text), "b.csv": text}, "csv: {path: bad"},
		{"other text", wrong, right + ", encoding: windows-1252", map[string]string{"a.csv": latin}, "csv: {path: bad.csv"},
		{"same text", wrong + ", encoding: windows-1252", right + ", encoding: windows-1252", map[string]string{"a.csv": latin}, "csv: {path: bad.csv"},
		{"in json", wrong, right, map[string]string{"a.csv": text}, "json: {path: bad"},
		{"in parquet", wrong, right, map[string]string{"a.csv": text}, "parquet: {path: bad"},
		{"joined", wrong + ", quote: ''", right, map[string]string{"a.csv": text + "500,\"a\nb\nc\n1,2,3\",7\n501,x,x\n502,x,x\n"}, "csv: {path: bad.csv"},
		{"other marks", wrong + ", delimiter: ';'", right + ", delimiter: ';', quote: \"'\"", map[string]string{"a.csv": strings.ReplaceAll(text, ",", ";")}, "csv: {path: bad.csv, delimiter: ';'"},
	}
}

// TestReplay: what the first run gives and what the replay of its bad rows gives are together what the
// corrected plan gives, where a sink took them and where they were kept beside the report.
func TestReplay(t *testing.T) {
	for _, c := range repairs(t) {
		t.Run(c.name, func(t *testing.T) { replays(t, c, false) })
		t.Run(c.name+" without a sink", func(t *testing.T) { replays(t, c, true) })
	}
}

func replays(t *testing.T, c repair, kept bool) {
	dir := t.TempDir()
	for name, text := range c.files {
		write(t, dir, name, text)
	}
	plan := func(source, out, mode string) string {
		text := fmt.Sprintf(`
sources: {o: {csv: {path: "*.csv*", %s}, on_error: skip}}
transforms: {q: {from: o, select: {id: CAST(id AS STRING), note: note, qty: CAST(qty AS STRING)}}}
sinks:
  out: {from: q, csv: {path: %s, mode: %s}}
`, source, out, mode)
		if !kept {
			text += fmt.Sprintf("  bad: {from: o.rejected, %s, mode: overwrite}}\n", strings.Replace(c.sink, "bad", "rejects/bad-"+out, 1))
		}
		return text
	}
	file := filepath.Join(dir, "plan.yaml")
	whole := run(t, file, plan(c.right, "whole", "overwrite"), setup{})
	want := recordsOf(t, filepath.Join(dir, "whole"))
	if whole.State != "FINISHED" {
		t.Fatalf("%+v", whole.Failure)
	}
	for i, o := range everyWay() {
		out, saved := fmt.Sprintf("out%d", i), ""
		if kept {
			saved = filepath.Join(dir, fmt.Sprintf("r%d.json", i))
		}
		first, err := reported(t, file, plan(c.wrong, out, "append"), saved, o, nil)
		if err != nil || first.State != "FINISHED" {
			t.Fatalf("%v: %v %s %+v", o, err, first.State, first.Failure)
		}
		var bad int64
		for _, f := range first.Sources[0].Files {
			bad += f.Rejected
		}
		if k := first.Sources[0].Rejects; bad == 0 || (k != nil) != kept || kept && (k.Rows != bad || k.File != filepath.Base(saved)+".o.rejects") {
			t.Fatalf("%v: %+v, and %d rows are bad, %v", o, k, bad, first.Warnings)
		}
		r, err := reported(t, file, plan(c.right, out, "append"), saved, o, &first)
		if err != nil || r.State != "FINISHED" || !r.Books.Balanced || r.ReplayOf == nil || r.ReplayOf.RunID != first.RunID || r.Sources[0].Rejects != nil {
			t.Fatalf("%v: %v %s %+v %+v", o, err, r.State, r.Failure, r.ReplayOf)
		}
		if got := recordsOf(t, filepath.Join(dir, out)); !slices.Equal(got, want) {
			t.Fatalf("%v:\n got      %q\n expected %q", o, got, want)
		}
		if read := r.Sources[0].Files[0].Rows; len(r.Sources[0].Files) == 1 && read != bad && !strings.Contains(c.wrong+c.right, "quote") {
			t.Fatalf("%v: %d rows were replayed, and %d were bad", o, read, bad)
		}
	}
}

// TestReplayNamesPlaces: what is still bad, and what fails, is named by its place in the file it came
// from, whatever the parallelism.
func TestReplayNamesPlaces(t *testing.T) {
	for _, name := range []string{"o.csv", "o.csv.gz"} {
		dir := t.TempDir()
		text := "id,qty\n1,2\n2,two\n3,3\n4,\"fo\nur\"\n5,5\n6,six\n"
		if strings.HasSuffix(name, ".gz") {
			text = gzipped(t, text)
		}
		write(t, dir, name, text)
		plan := func(qty, expression, error string) string {
			return fmt.Sprintf(`
sources: {o: {csv: {path: %s, columns: {id: BIGINT, qty: %s}}%s}}
transforms: {q: {from: o, where: "CAST(qty AS STRING) <> 'two'", select: {qty: "%s"}}}
sinks:
  out: {from: q, blackhole: {}}%s
`, name, qty, strings.TrimSuffix(", on_error: "+error, ", on_error: fail"), expression, map[bool]string{true: "\n  bad: {from: o.rejected, csv: {path: bad.csv, mode: overwrite}}"}[error == "skip"])
		}
		file := filepath.Join(dir, "plan.yaml")
		for _, o := range everyWay() {
			first := run(t, file, plan("BIGINT", "qty", "skip"), setup{options: o})
			r, err := replay(t, file, plan("STRING", "CAST(qty AS BIGINT)", "skip"), o, runner.ReplayOf{Earlier: first})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Failure.RootCause
			if c == nil || c.Line != 5 || c.Column != 2 || filepath.Base(c.File) != name || c.Value != "fo\nur" {
				t.Fatalf("%s %v: %+v", name, o, c)
			}
			r, err = replay(t, file, plan("BIGINT", "qty", "fail"), o, runner.ReplayOf{Earlier: first})
			if err != nil {
				t.Fatal(err)
			}
			if c := r.Failure.RootCause; c.Line != 3 || c.Column != 2 || filepath.Base(c.File) != name {
				t.Fatalf("%s %v: %+v", name, o, c)
			}
			r, err = replay(t, file, plan("BIGINT", "qty", "skip"), o, runner.ReplayOf{Earlier: first})
			if err != nil {
				t.Fatal(err)
			}
			if x := r.Sources[0].Files[0].Rejects; len(x) != 3 || x[0].Line != 3 || x[1].Line != 5 || x[2].Line != 8 {
				t.Fatalf("%s %v: %+v", name, o, x)
			}
		}
	}
}

// TestReplayIsRefused: with what is wrong, and before anything runs.
func TestReplayIsRefused(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "o.csv", "id,qty\n1,2\n2,two\n3,3\n")
	file := filepath.Join(dir, "plan.yaml")
	source := `sources: {o: {csv: {path: o.csv, columns: {id: BIGINT, qty: STRING}}, on_error: skip}}` + "\n"
	wrong := strings.Replace(source, "STRING", "BIGINT", 1)
	sinks := `sinks: {out: {from: o, csv: {path: out, mode: append}}, bad: {from: o.rejected, csv: {path: bad.csv, mode: overwrite}}}`
	without := run(t, file, wrong+`sinks: {out: {from: o, csv: {path: none}}}`, setup{})
	indirect := run(t, file, wrong+`transforms: {b: {from: o.rejected, where: line > 0}}
sinks: {out: {from: o, csv: {path: none2}}, bad: {from: b, csv: {path: bad2.csv}}}`, setup{})
	clean := run(t, file, source+sinks, setup{})
	first := run(t, file, wrong+sinks, setup{})
	failed := first
	failed.State = "FAILED"
	refused := func(text string, of runner.ReplayOf, words ...string) {
		t.Helper()
		_, err := replay(t, file, text, nil, of)
		var r *runner.Refusal
		if !errors.As(err, &r) {
			t.Fatalf("expected a refusal with %q, got %v", words, err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Fatalf("%q says nothing of %q", err, w)
			}
		}
	}
	refused(source+sinks, runner.ReplayOf{Earlier: without}, "no sink took them", "o_rejects: {from: o.rejected, csv: {path: o_rejects.csv, mode: overwrite}}")
	refused(source+sinks, runner.ReplayOf{Earlier: indirect}, "no sink took them as they came")
	refused(source+sinks, runner.ReplayOf{Earlier: clean}, "nothing to replay")
	refused(source+sinks, runner.ReplayOf{Earlier: failed}, "nothing was published")
	refused(strings.ReplaceAll(source+sinks, "append", "overwrite"), runner.ReplayOf{Earlier: first}, "mode: overwrite would replace the rows in", "--force")
	refused(`sources: {x: {csv: {path: o.csv, columns: {id: BIGINT}}}}
sinks: {out: {from: x, blackhole: {}}}`, runner.ReplayOf{Earlier: first}, "no source of that name")

	bad := filepath.Join(dir, "bad.csv")
	text := read(t, bad)
	write(t, dir, "bad.csv", strings.Replace(text, "two", "2", 1))
	refused(source+sinks, runner.ReplayOf{Earlier: first}, "not the 1 bad rows", "--force")
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	refused(source+sinks, runner.ReplayOf{Earlier: first}, "cannot be read again", "bad.csv")
	write(t, dir, "bad.csv", text)

	write(t, dir, "o.csv", "id,qty\n9,2\n2,two\n3,33\n")
	refused(source+sinks, runner.ReplayOf{Earlier: first}, "has changed since", "--force")
	// Forced, the record is read where it still stands, and is an error where it does not.
	r, err := replay(t, file, source+sinks, nil, runner.ReplayOf{Earlier: first, Force: true})
	if err != nil || r.State != "FINISHED" || r.Sinks[0].Rows+r.Sinks[1].Rows != 1 {
		t.Fatal(err, r.State, r.Failure)
	}
	first = run(t, file, wrong+sinks, setup{})
	write(t, dir, "o.csv", "id,qty\n19,2\n2,two\n")
	r, err = replay(t, file, source+sinks, nil, runner.ReplayOf{Earlier: first, Force: true})
	if err != nil || r.State != "FAILED" || !strings.Contains(r.Failure.RootCause.Message, "does not stand there any more") {
		t.Fatal(err, r.State, r.Failure)
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if r, err = replay(t, file, source+sinks, nil, runner.ReplayOf{Earlier: first}); err != nil || r.State != "FAILED" || r.Failure.RootCause.Class != "MissingFile" {
		t.Fatal(err, r.State, r.Failure)
	}
}

// TestReplayOfSeveralSources: a source of whose rows none were left out is not read again, and it is said.
func TestReplayOfSeveralSources(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "id\n1\nx\n")
	write(t, dir, "b.csv", "id\n3\n4\n")
	file := filepath.Join(dir, "plan.yaml")
	text := `
sources:
  a: {csv: {path: a.csv, columns: {id: BIGINT}}, on_error: skip}
  b: {csv: {path: b.csv, columns: {id: BIGINT}}}
transforms: {u: {from: [a, b], union: {}}}
aggregations: {n: {from: u, measures: {n: COUNT(id)}}}
sinks:
  out: {from: n, csv: {path: out, mode: append}}
  bad: {from: a.rejected, csv: {path: bad.csv, mode: overwrite}}
`
	for _, o := range everyWay() {
		first := run(t, file, text, setup{options: o})
		r, err := replay(t, file, strings.ReplaceAll(text, "BIGINT", "STRING"), o, runner.ReplayOf{Earlier: first})
		if err != nil || r.State != "FINISHED" {
			t.Fatal(err, r.Failure)
		}
		if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, "source b: nothing of it is read") || !strings.Contains(w, "node n: its aggregation sees the replayed rows alone") {
			t.Fatal(w)
		}
		if got := read(t, r.Sinks[0].Files[0]); r.Sinks[0].Node != "out" || got != "n\n1\n" {
			t.Fatalf("%q", got)
		}
	}
}
