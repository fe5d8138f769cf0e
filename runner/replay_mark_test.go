package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner"
)

const markSource = `sources: {o: {csv: {path: o.csv, columns: {id: BIGINT, qty: BIGINT}}, on_error: skip}}
`

const markSinks = `sinks: {out: {from: o, csv: {path: out, mode: append}}, bad: {from: o.rejected, csv: {path: bad.csv, mode: overwrite}}}
`

// TestReplayTwice: bad rows are published once, unless somebody says that twice is meant. A replay that
// published nothing does not count.
func TestReplayTwice(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "id,qty\n1,2\n2,two\n3,3\n")
	file, saved := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "first.json")
	first := run(t, file, markSource+markSinks, setup{})
	bad := read(t, filepath.Join(dir, "bad.csv"))
	right := strings.Replace(markSource, "qty: BIGINT", "qty: STRING", 1) + markSinks
	of := runner.ReplayOf{Earlier: first, File: saved}
	rows := func() int { return len(recordsOf(t, filepath.Join(dir, "out"))) }

	// A replay that fails, and one whose rows are still bad.
	failing := strings.Replace(right, "sinks:", "transforms: {q: {from: o, select: {qty: CAST(qty AS BIGINT)}}}\nsinks:", 1)
	failing = strings.Replace(failing, "out: {from: o", "out: {from: q", 1)
	if r, err := replay(t, file, failing, nil, of); err != nil || r.State != "FAILED" {
		t.Fatal(err, r.State)
	}
	if r, err := replay(t, file, markSource+markSinks, nil, of); err != nil || r.State != "FINISHED" || r.Sources[0].Files[0].Rejected != 1 {
		t.Fatal(err, r.State)
	}
	if _, err := os.Stat(saved + ".replayed"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("nothing was published, and it is marked: %v", err)
	}

	r, err := replay(t, file, right, nil, of)
	if err != nil || r.State != "FINISHED" || rows() != 4 {
		t.Fatal(err, r.State, rows())
	}
	write(t, dir, "bad.csv", bad)
	mark := read(t, saved+".replayed")
	var refusal *runner.Refusal
	if _, err := replay(t, file, right, nil, of); !errors.As(err, &refusal) || !strings.Contains(err.Error(), r.RunID) || !strings.Contains(err.Error(), "--again") {
		t.Fatalf("a second replay: %v", err)
	}
	if rows() != 4 {
		t.Fatal("rows were written twice")
	}
	// A report that was written anew is that of another run.
	anew := of
	anew.Earlier.RunID = "another"
	if r, err := replay(t, file, markSource+markSinks, nil, anew); err != nil || r.State != "FINISHED" {
		t.Fatal(err)
	}
	write(t, dir, "bad.csv", bad)
	write(t, dir, "first.json.replayed", mark)
	of.Again = true
	second, err := replay(t, file, right, nil, of)
	if err != nil || second.State != "FINISHED" {
		t.Fatal(err, second.State)
	}
	if mark = read(t, saved+".replayed"); !strings.Contains(mark, r.RunID) || !strings.Contains(mark, second.RunID) || !strings.Contains(mark, "FINISHED") {
		t.Fatal(mark)
	}
}

// TestReplayInDoubt: a replay that began and whose end nobody noted is named, and so is a mark that cannot be read.
func TestReplayInDoubt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "id,qty\n1,2\n2,two\n")
	file, saved := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "first.json")
	first := run(t, file, markSource+markSinks, setup{})
	of := runner.ReplayOf{Earlier: first, File: saved}
	for mark, want := range map[string]string{
		`{"of": "` + first.RunID + `", "replays": [{"runId": "r7", "state": "RUNNING", "plan": "p.yaml"}]}`: "run r7 began to replay",
		``: "cannot be told",
	} {
		write(t, dir, "first.json.replayed", mark)
		if _, err := replay(t, file, markSource+markSinks, nil, of); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--again") {
			t.Fatalf("%s: %v", mark, err)
		}
		forced := of
		forced.Again = true
		if r, err := replay(t, file, markSource+markSinks, nil, forced); err != nil || r.State != "FINISHED" {
			t.Fatal(err)
		}
	}
}

// TestReplayCancelled: a replay that is cancelled before it publishes can be repeated, one that publishes already is
// marked; while it runs there is a mark in any case.
func TestReplayCancelled(t *testing.T) {
	for _, at := range []phase{atWriter, atWrite, atPrepare, atCheck, atCommit} {
		dir := t.TempDir()
		write(t, dir, "o.csv", "id,qty\n1,2\n2,two\n")
		file, saved := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "first.json")
		sinks := strings.Replace(markSinks, "csv: {path: out, mode: append}", "json: {path: out, mode: append}", 1)
		of := runner.ReplayOf{Earlier: run(t, file, markSource+sinks, setup{}), File: saved}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cat := catalogs(t)
		during := ""
		cat.Connectors["json"] = phased{cat.Connectors["json"], func(p phase) {
			if p == at {
				b, err := os.ReadFile(saved + ".replayed")
				if err != nil {
					t.Error(err)
				}
				during = string(b)
				cancel()
			}
		}}
		p, s := planned(t, file, strings.Replace(markSource, "qty: BIGINT", "qty: STRING", 1)+sinks, nil)
		r, err := runner.Replay(ctx, cat, p, s, of)
		if err != nil || !strings.Contains(during, `"state": "RUNNING"`) {
			t.Fatalf("%s: %v, %q", at, err, during)
		}
		_, missing := os.Stat(saved + ".replayed")
		if published := r.State == "FINISHED"; published != (at == atCheck || at == atCommit) || published == errors.Is(missing, os.ErrNotExist) {
			t.Fatalf("%s: %s, mark: %v", at, r.State, missing)
		}
	}
}
