package failure

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A wanted is the answer to one text of the shared corpus.
type wanted struct {
	Headline  *string      `json:"headline"`
	RootCause *wantedCause `json:"rootCause"`
	Chain     []wantedCause
	Strategy  *string `json:"restartStrategy"`
	Suppress  bool    `json:"recoverySuppressed"`
	Task      *string
	Manager   *string `json:"taskManager"`
	Category  *string
	Form      *string
	RootIndex *int    `json:"rootIndex"`
	Frame     *string `json:"frame"`
	AlsoOk    []wantedCause
}

type wantedCause struct {
	Class   string  `json:"class"`
	Message *string `json:"message"`
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// answer brings a result into the shape of the corpus.
func answer(r Result) wanted {
	if r.Failure == nil {
		return wanted{Form: orNil(r.Form), Chain: []wantedCause{}}
	}
	f := r.Failure
	w := wanted{
		Headline: orNil(f.Headline), RootCause: &wantedCause{f.RootCause.Class, orNil(f.RootCause.Message)},
		Strategy: orNil(f.RestartStrategy), Suppress: f.RecoverySuppressed, Task: orNil(f.Task), Manager: orNil(f.TaskManager),
		Category: orNil(f.Category), Form: orNil(f.Form), Frame: orNil(f.RootCause.Frame), Chain: []wantedCause{},
	}
	if f.RootIndex >= 0 {
		w.RootIndex = &f.RootIndex
	}
	for _, c := range f.Chain {
		w.Chain = append(w.Chain, wantedCause{c.Class, orNil(c.Message)})
	}
	return w
}

// differences names every field in which two answers differ.
func differences(got, want wanted) []string {
	var out []string
	a, b := asFields(got), asFields(want)
	for name, w := range b {
		if g := a[name]; !bytes.Equal(g, w) {
			out = append(out, name+"\n   got "+string(g)+"\n  want "+string(w))
		}
	}
	return out
}

func asFields(w wanted) map[string]json.RawMessage {
	w.AlsoOk = nil
	raw, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		panic(err)
	}
	return fields
}

// shared returns a folder of the shared material, or skips the test.
func shared(t testing.TB, folder string) string {
	root := os.Getenv("RUNNER_SHARED")
	if root == "" {
		t.Skip("RUNNER_SHARED is not set: the corpus of failure texts lies outside of the repository")
	}
	return filepath.Join(root, folder)
}

func corpus(t testing.TB) map[string]wanted {
	dir := shared(t, filepath.Join("data", "failures"))
	wants, err := filepath.Glob(filepath.Join(dir, "*.want.json"))
	if err != nil || len(wants) == 0 {
		t.Fatalf("no answers in %s: %v", dir, err)
	}
	out := map[string]wanted{}
	for _, path := range wants {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var w wanted
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		input := strings.TrimSuffix(path, ".want.json") + ".txt"
		if _, err := os.Stat(input); err != nil {
			input = strings.TrimSuffix(path, ".want.json") + ".json"
		}
		out[input] = w
	}
	return out
}

// TestCorpus holds that every text of the shared corpus is answered right in every field.
func TestCorpus(t *testing.T) {
	for path, want := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Parse(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			got := answer(r)
			for _, other := range want.AlsoOk {
				if got.RootCause != nil && got.RootCause.Class == other.Class {
					want.RootCause, want.RootIndex, want.Frame = &other, got.RootIndex, got.Frame
				}
			}
			for _, d := range differences(got, want) {
				t.Error(d)
			}
		})
	}
}
