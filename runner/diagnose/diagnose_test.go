package diagnose

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
)

// TestPrint holds what people and programs are told about texts of our own making: `text` prints for
// people, `json` as one object.
func TestPrint(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r, err := failure.Parse(strings.NewReader(d.Input + "\n"))
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var b strings.Builder
			switch d.Cmd {
			case "text":
				err = Print(&b, "", r)
			case "json":
				err = WriteJSON(&b, "", r)
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			if err != nil {
				t.Fatal(err)
			}
			return b.String()
		})
	})
}

// TestCorpusAsJSON holds that the JSON has every field of the shared corpus's answers as wanted there.
func TestCorpusAsJSON(t *testing.T) {
	root := os.Getenv("RUNNER_SHARED")
	if root == "" {
		t.Skip("RUNNER_SHARED is not set: the corpus of failure texts lies outside of the repository")
	}
	wants, err := filepath.Glob(filepath.Join(root, "data", "failures", "*.want.json"))
	if err != nil || len(wants) == 0 {
		t.Fatal("no answers", err)
	}
	for _, path := range wants {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want := readObject(t, path)
			input := strings.TrimSuffix(path, ".want.json") + ".txt"
			raw, err := os.ReadFile(input)
			if errors.Is(err, os.ErrNotExist) {
				raw, err = os.ReadFile(strings.TrimSuffix(input, ".txt") + ".json")
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := failure.Parse(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := WriteJSON(&b, "", r); err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(b.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			for name, value := range want {
				if name == "why" || name == "alsoOk" {
					continue
				}
				if !reflect.DeepEqual(got[name], value) {
					t.Errorf("%s\n got %v\nwant %v", name, got[name], value)
				}
			}
		})
	}
}

func readObject(t *testing.T, path string) map[string]any {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// ours is a failure as a run of ours leaves it in its report.
func ours() failure.Failure {
	f := failure.New([]failure.Cause{
		{Class: "CastError", Message: "Source: orders[1] -> Calc[2] (1/2) failed"},
		{
			Class: "CastError", Message: "cannot convert 'two' to INT\nin row 3", Operator: "Calc[2]", File: "in/orders.csv", Line: 4, Column: 3,
			Field: "qty", Value: "two; or three", Expression: "CAST(qty AS INT)",
		},
	}, failure.Where{Task: "Source: orders[1] -> Calc[2] (1/2)", TaskManager: "tm-1"})
	s, err := failure.NewStrategy(failure.StrategyOptions{Type: "none"})
	if err != nil {
		panic(err)
	}
	f.Refused(s, 0)
	return f
}

// TestReportIsReadBack holds that a report of ours is diagnosed as what it says, field by field.
func TestReportIsReadBack(t *testing.T) {
	want := ours()
	raw, err := json.MarshalIndent(map[string]any{"schemaVersion": 1, "runId": "r1", "state": "FAILED", "failure": want}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	r, err := failure.ParseReport(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Own || r.Failure == nil || !reflect.DeepEqual(*r.Failure, want) {
		t.Errorf("got  %+v\nwant %+v", r.Failure, want)
	}
	// What diagnose prints as JSON is read back too, whatever wrote it.
	var b bytes.Buffer
	if err := WriteJSON(&b, "", r); err != nil {
		t.Fatal(err)
	}
	again, err := failure.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	again.Failure.Form = want.Form
	if again.Failure == nil || !reflect.DeepEqual(*again.Failure, want) {
		t.Errorf("from JSON\ngot  %+v\nwant %+v", again.Failure, want)
	}
}

// TestReportWithoutFailure holds that a run that went well is a text in which nothing failed.
func TestReportWithoutFailure(t *testing.T) {
	r, err := failure.Parse(strings.NewReader(`{"schemaVersion": 1, "runId": "r", "state": "FINISHED", "verdict": "it read 3 rows", "failure": null, "restarts": []}`))
	if err != nil || r.Failure != nil || r.Form != "report" || !r.Own {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := failure.ParseReport(strings.NewReader("java.lang.IllegalStateException: x\n\tat a.b.C.d(C.java:1)\n")); !errors.Is(err, failure.ErrNotReport) {
		t.Errorf("a text of Flink as a report: %v", err)
	}
}

// TestConsoleIsReadBack holds that the text printed for people keeps everything but what only JSON has.
func TestConsoleIsReadBack(t *testing.T) {
	want := ours()
	var b strings.Builder
	if err := Print(&b, "", failure.Result{Failure: &want, Own: true}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{b.String(), strings.ReplaceAll(b.String(), "\n", "\r\n"), "starting\n\n" + b.String() + "\ndone\n"} {
		r, err := failure.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure == nil {
			t.Fatalf("nothing was found in\n%s", text)
		}
		got := *r.Failure
		if *got.RootCause != *want.RootCause || got.Headline != want.Headline || got.RootIndex != want.RootIndex || got.Category != want.Category ||
			got.Task != want.Task || got.TaskManager != want.TaskManager || got.RestartStrategy != want.RestartStrategy ||
			got.RecoverySuppressed != want.RecoverySuppressed || len(got.Chain) != len(want.Chain) || got.Chain[0].Message != want.Chain[0].Message {
			t.Errorf("got\n%s\nwant\n%s", failure.Text(got), failure.Text(want))
		}
	}
}

// TestAdviceForEveryClass holds that each class of ours and each category has advice and a sentence.
func TestAdviceForEveryClass(t *testing.T) {
	for _, d := range failure.Classes() {
		f := failure.New([]failure.Cause{{Class: string(d.Class), Message: "x"}}, failure.Where{})
		if !strings.HasSuffix(Advice(f), ".") || !strings.HasSuffix(Sentence(f), ".") {
			t.Errorf("%s: %q, %q", d.Class, Advice(f), Sentence(f))
		}
	}
}
