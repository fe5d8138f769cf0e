package report_test

import (
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// TestWriteFull holds what a report says of a run that did not go well: waves, books, restarts.
func TestWriteFull(t *testing.T) {
	r := report.Report{
		SchemaVersion: 1, State: "FAILED", Verdict: "p failed.",
		Slots: report.Slots{Needed: 4, Available: 1, WaitedMs: 7, LongestWaitMs: 9, Groups: map[string]int{"b": 1, "a": 3}, Waves: []report.Wave{
			{Vertices: []string{"A", "B"}, Needed: 3, Available: 1, Rounds: 3, ReadyMs: 5, WaitedMs: 2},
			{Vertices: []string{"C"}, Needed: 1, Available: 1, Rounds: 1, ReadyMs: 9, WaitedMs: 4},
			{Vertices: []string{"D"}, Needed: 2, Available: 0, ReadyMs: 11},
			{Vertices: []string{"E"}, Needed: 1, Available: 1, Rounds: 1, ReadyMs: 12},
		}},
		Vertices: []report.Vertex{{Name: "A", Parallelism: report.Parallelism{Text: "the job ended before"}}},
		Sinks:    []report.Sink{{Node: "out", Digest: "00"}, {Node: "seen", Shown: 1200}},
		Books:    &jobmaster.Books{Faults: []string{"Calc[2]: 3 in, 2 out"}},
		Restarts: []report.Restart{{AtMs: 8, Strategy: "fixed-delay", Cause: "lost"}},
		Warnings: []string{"careful"},
	}
	var b strings.Builder
	if err := report.WriteFull(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  4 needed (a 3, b 1), 1 held at most; 7 ms without any, and the subtask that waited longest for one waited 9 ms\n",
		"  A and B: waiting for slots: for 3 slots since 5 ms after the start, held 1, so its subtasks ran in 3 rounds (the first began after 2 ms)\n",
		"  C: waited for slots: for 1 slot since 9 ms after the start, for 4 ms\n",
		"  D: waiting for slots: for 2 slots, since 11 ms after the start, and got none\n",
		"  E: ready 12 ms after the start, had its 1 slot at once\n",
		"   parallelism not decided: the job ended before\n",
		"  out: nothing was published\n", "  seen: nothing was published, but 1,200 rows had been shown as they came\n", "    Calc[2]: 3 in, 2 out\n", "  8 ms after the start, by fixed-delay: lost\n", "  careful\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
	if !strings.HasSuffix(b.String(), "\np failed.\n") {
		t.Error("the verdict is not the last line")
	}
}
