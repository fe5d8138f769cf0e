package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// reported runs a plan, or replays earlier through it. Where saved is a file its report is to be there, and
// bad rows are kept beside it.
func reported(t *testing.T, file, text, saved string, options map[string]string, earlier *report.Report) (r report.Report, err error) {
	t.Helper()
	p, s := planned(t, file, text, options)
	of := runner.ReplayOf{File: saved, Again: true}
	if saved == "" {
		of.File = filepath.Join(t.TempDir(), "r.json")
	} else {
		s.ReportFile = func(string, string) string { return saved }
	}
	if earlier == nil {
		r, err = runner.Run(t.Context(), catalogs(t), p, s)
	} else {
		if saved != "" {
			s.ReportFile = func(string, string) string { return saved + ".second" }
		}
		of.Earlier = *earlier
		r, err = runner.Replay(t.Context(), catalogs(t), p, s, of)
	}
	if left, lerr := os.ReadDir(s.SpillDir); lerr != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, lerr)
	}
	return r, err
}

// TestKeptRejects: what is kept, when, and what is said where it is not there.
func TestKeptRejects(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", badRows(2000))
	file, saved := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "r.json")
	text := func(types, more string) string {
		return `
sources: {o: {csv: {path: o.csv, columns: {` + types + `}, ragged: error}, on_error: ` + more + `}}
sinks: {out: {from: o, csv: {path: out, mode: append}}}
`
	}
	const wrong, right = "id: BIGINT, note: STRING, qty: BIGINT", "id: STRING, note: STRING, qty: STRING"
	journal := saved + ".o.rejects"
	absent := func() {
		t.Helper()
		if _, err := os.Stat(journal); !os.IsNotExist(err) {
			t.Fatalf("%s: %v", journal, err)
		}
	}
	replays := func(first *report.Report, words ...string) report.Report {
		t.Helper()
		r, err := reported(t, file, text(right, "skip"), saved, nil, first)
		if len(words) == 0 {
			if err != nil || r.State != "FINISHED" {
				t.Fatal(err, r.Failure)
			}
			return r
		}
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Fatalf("%v says nothing of %q", err, w)
			}
		}
		return r
	}

	// A run that does not publish keeps nothing, nor does one that is told not to.
	if r, err := reported(t, file, text(wrong, "{skip: {max_rows: 3}}"), saved, nil, nil); err != nil || r.State != "FAILED" {
		t.Fatal(err, r.State)
	}
	absent()
	off, err := reported(t, file, text(wrong, "skip"), saved, map[string]string{"runner.rejects.journal": "false"}, nil)
	if err != nil || off.State != "FINISHED" || off.Sources[0].Rejects != nil {
		t.Fatal(err, off.State)
	}
	absent()
	replays(&off, "which were not kept beside it", "runner.rejects.journal")

	first, err := reported(t, file, text(wrong, "skip"), saved, map[string]string{"runner.source.split-size": "100b"}, nil)
	if err != nil || first.State != "FINISHED" {
		t.Fatal(err, first.Failure)
	}
	// What is still bad is kept again.
	second := replays(&first)
	if k := second.Sources[0].Rejects; k == nil || k.Rows != second.Sources[0].Files[0].Rejected || k.Rows == 0 || k.Rows >= first.Sources[0].Rejects.Rows {
		t.Fatalf("%+v", k)
	}
	good := []byte(read(t, journal))
	write(t, dir, filepath.Base(journal), string(good[:len(good)-1]))
	replays(&first, "are not there any more", filepath.Base(journal))
	good[len(good)/2] ^= 1
	write(t, dir, filepath.Base(journal), string(good))
	replays(&first, "damaged")
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	replays(&first, "are not there any more", filepath.Base(journal))

	// A stream keeps them too, and is replayed as one.
	stream := func(types string) string { return "mode: streaming" + text(types, "skip") }
	first, err = reported(t, file, stream(wrong), saved, nil, nil)
	if err != nil || first.State != "FINISHED" || first.Sources[0].Rejects == nil || first.Sources[0].Rejects.Rows != first.Sources[0].Files[0].Rejected {
		t.Fatal(err, first.Failure, first.Sources)
	}
	if r, err := reported(t, file, stream(right), saved, nil, &first); err != nil || r.State != "FINISHED" || r.Sources[0].Files[0].Rows != first.Sources[0].Rejects.Rows {
		t.Fatal(err, r.Failure)
	}

	// A folder that cannot be written to is a warning, and the run goes on.
	if r, err := reported(t, file, text(wrong, "skip"), filepath.Join(dir, "o.csv", "r.json"), nil, nil); err != nil || r.State != "FINISHED" {
		t.Fatal(err, r.Failure)
	} else if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, "the bad rows of source o are not kept for a replay") {
		t.Fatal(w)
	}
}
