package failure

import (
	"strings"
	"testing"
)

// TestRunConsole reads what a failed run prints at its end.
func TestRunConsole(t *testing.T) {
	text := `VERTEX  PARALLELISM  STATE
report: runs/bad/1.json
FAILED: task Source: orders[1] -> Calc[2] (1/1) failed
  caused by EvaluationError: row 3
  restart: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=2, backoffTimeMS=500)
  concurrent failures: 2
root cause: CastError: cannot cast to INT: expected digits (in/bad.csv:4:2), value "tw\"o"
`
	r, err := Parse(strings.NewReader(text))
	if err != nil || r.Failure == nil {
		t.Fatal(err, r)
	}
	f := r.Failure
	root := f.RootCause
	if r.Form != formConsole || !r.Own || f.Headline != "task Source: orders[1] -> Calc[2] (1/1) failed" || f.Task != "Source: orders[1] -> Calc[2] (1/1)" ||
		len(f.Chain) != 3 || f.RootIndex != 2 || f.Chain[1].Class != "EvaluationError" || root.Class != "CastError" || root.File != "in/bad.csv" ||
		root.Line != 4 || root.Column != 2 || root.Value != `tw"o` || f.RestartStrategy != StrategyFixedDelay || !f.RecoverySuppressed || f.Category != CategoryData {
		t.Errorf("%+v\n%+v", *f, *root)
	}
	single, err := Parse(strings.NewReader("FAILED: nothing matches in/*.csv\nroot cause: MissingFile: nothing matches in/*.csv\n"))
	if err != nil || single.Failure == nil || len(single.Failure.Chain) != 1 || single.Failure.RootIndex != 0 || single.Failure.Category != CategoryConfig {
		t.Errorf("%+v %v", single.Failure, err)
	}
	other, err := Parse(strings.NewReader("FAILED: one test\njava.lang.IllegalStateException: x\n\tat a.b.C.d(C.java:1)\n"))
	if err != nil || other.Failure == nil || other.Own || other.Failure.RootCause.Class != "java.lang.IllegalStateException" {
		t.Errorf("%+v %v", other.Failure, err)
	}
}
