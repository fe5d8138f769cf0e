package config_test

import (
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// loaded loads a file of options from its text, and gives what is wrong with it.
func loaded(text string) (config.Loaded, string) {
	root, found := plans.ReadYAML("config.yaml", []byte(text))
	if found.Failed() {
		return config.Loaded{}, found.Error()
	}
	o, err := config.Load(config.LoadInput{File: "config.yaml", Root: root})
	if err != nil {
		return o, err.Error()
	}
	return o, ""
}

// TestFile: options stand in a file flat, nested or both, in any case of letters, with their places.
func TestFile(t *testing.T) {
	o, wrong := loaded(`
parallelism.default: 2
TaskManager:
  numberoftaskslots: 3
  memory.managed.size: 100 mb
execution:
  batch.adaptive:
    auto-parallelism: {max-parallelism: 16}
slot.request.timeout: "9 s"
`)
	if wrong != "" {
		t.Fatal(wrong)
	}
	for name, want := range map[string][2]string{
		config.ParallelismDefault: {"2", "config.yaml:2:1"}, config.TaskSlots: {"3", "config.yaml:4:3"}, config.ManagedMemory: {"100 mb", "config.yaml:5:3"},
		config.AutoMax: {"16", "config.yaml:8:24"}, config.SlotRequestTimeout: {"9 s", "config.yaml:9:1"},
	} {
		if s := o.Get(name); s.Value != want[0] || s.Where != want[1] || s.Source != config.FromFile {
			t.Errorf("%s = %s at %s from %s, want %v", name, s.Value, s.Where, s.Source, want)
		}
	}
	for _, text := range []string{"", "\n\n", "# nothing\n", "{}", "---\n"} {
		if _, wrong := loaded(text); wrong != "" {
			t.Errorf("%q: %s", text, wrong)
		}
	}
}

// TestFileFaults: what is wrong with a file of options is said in our own words, with its places.
func TestFileFaults(t *testing.T) {
	for text, want := range map[string]string{
		"taskmanager.numberOfTaskSlots: 2\ntaskmanager:\n  numberOfTaskSlots: 3\n": "config.yaml:3:3: taskmanager.numberOfTaskSlots is set twice; the first is at config.yaml:1:1; keep one of the two",
		"parallelism:\n  default: 3\nPARALLELISM.default: 2\n":                     "config.yaml:3:1: parallelism.default is set twice; the first is at config.yaml:2:3; keep one of the two",
		"parallelism.default: 1\nparallelism.default: 2\n":                         "config.yaml:2:1: parallelism.default is given twice",
		"- parallelism.default: 1\n":                                               "config.yaml:1:1: the file is a list: expected options and their values, such as parallelism.default: 2",
		"just text\n":                                                              "config.yaml:1:1: the file is \"just text\": expected options and their values",
		"parallelism.default: [1, 2]\n":                                            "config.yaml:1:22: parallelism.default is a list: expected an integer",
		"parallelism:\n  default:\n    of: 3\n":                                    "parallelism.default is a mapping: expected an integer",
		"parallelism.default:\n":                                                   "config.yaml:1:1: parallelism.default has no value: expected an integer",
		"parallelism:\n\tdefault: 2\n":                                             "config.yaml:2:1: ",
		"parallelism.default: 1\n---\nparallelism.default: 2\n":                    "config.yaml:2:1: a second document begins here",
		"a: [1":                        "config.yaml:1:",
		"\xff\xfep\x00":                "the file is UTF-16",
		"paralelism:\n  default: 2\n":  `config.yaml:2:3: unknown option "paralelism.default" (did you mean parallelism.default?)`,
		"parallelism:\n  default: x\n": `config.yaml:2:3: parallelism.default is "x": expected an integer`,
	} {
		_, got := loaded(text)
		if !strings.Contains(got, want) || strings.Contains(got, "plan") {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}
