package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// A measuredBudget is one start of a Flink process: what was set, and what came of it.
type measuredBudget struct {
	Settings map[string]string
	Legal    bool
	Bytes    map[string]int64
	Notes    []string
	Error    string
	JVMArgs  string `json:"jvm_args"`
}

// TestMeasuredBudgets holds the model to what Flink itself computed and refused.
func TestMeasuredBudgets(t *testing.T) {
	shared := os.Getenv("RUNNER_SHARED")
	if shared == "" {
		t.Skip("RUNNER_SHARED names no folder with measured budgets")
	}
	for file, budget := range map[string]func(map[string]string) (MemoryBudget, error){
		"memory_tm.json": TaskManagerMemory, "memory_jm.json": JobManagerMemory,
	} {
		text, err := os.ReadFile(filepath.Join(shared, "facts", "flink", file))
		if err != nil {
			t.Fatal(err)
		}
		var cases []measuredBudget
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		if len(cases) < 15 {
			t.Fatalf("%s has %d cases", file, len(cases))
		}
		for _, c := range cases {
			t.Run(fmt.Sprint(file, c.Settings), func(t *testing.T) { c.check(t, budget) })
		}
	}
}

func (c measuredBudget) check(t *testing.T, budget func(map[string]string) (MemoryBudget, error)) {
	b, err := budget(c.Settings)
	if !c.Legal {
		want := strings.TrimPrefix(c.Error, "org.apache.flink.configuration.IllegalConfigurationException: ")
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]string{
		"framework_heap": FrameworkHeap, "task_heap": TaskHeap, "framework_offheap": FrameworkOffHeap, "task_offheap": TaskOffHeap,
		"Managed": Managed, "Network": Network, "JVM Heap": JobManagerHeap, "Off-heap": JobManagerOffHeap,
	}
	for name, want := range c.Bytes {
		ours := name
		if n, renamed := measured[name]; renamed {
			ours = n
		}
		if b.part(ours).Name == "" || b.Bytes(ours) != want {
			t.Errorf("%s is %d, want %d", ours, b.Bytes(ours), want)
		}
	}
	if !slices.Equal(b.Notes, c.Notes) {
		t.Errorf("notes %q, want %q", b.Notes, c.Notes)
	}
	args := fmt.Sprintf("-Xmx%d -Xms%d -XX:MaxDirectMemorySize=%d -XX:MaxMetaspaceSize=%d", b.Bytes(TotalHeap), b.Bytes(TotalHeap), b.Bytes(TotalDirect), b.Bytes(JVMMetaspace))
	if b.Process == "jobmanager" {
		args = fmt.Sprintf("-Xmx%d -Xms%d -XX:MaxMetaspaceSize=%d", b.Bytes(JobManagerHeap), b.Bytes(JobManagerHeap), b.Bytes(JVMMetaspace))
	}
	if args != c.JVMArgs {
		t.Errorf("a JVM would be given %s, want %s", args, c.JVMArgs)
	}
	c.addsUp(t, b)
}

// addsUp holds that every component is the sum of those one level below it.
func (c measuredBudget) addsUp(t *testing.T, b MemoryBudget) {
	for i, p := range b.Parts {
		var sum int64
		below := false
		for _, q := range b.Parts[i+1:] {
			if q.Level <= p.Level {
				break
			}
			if q.Level == p.Level+1 {
				sum, below = sum+q.Bytes, true
			}
		}
		if below && sum != p.Bytes {
			t.Errorf("the parts of %s are %d together, it is %d", p.Name, sum, p.Bytes)
		}
		if p.How == "" || p.Origin == "" || p.Here == "" {
			t.Errorf("%s does not say where it comes from: %+v", p.Name, p)
		}
	}
}

// TestMemoryScripts runs `taskmanager` and `jobmanager` with options, one a line, and `load` as an
// embedded run does.
func TestMemoryScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/memory", func(t *testing.T, d *datadriven.TestData) string {
		in := LoadInput{Embedded: true, CPUs: 2, Budget: d.Cmd != "load"}
		for line := range strings.Lines(d.Input) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			if !ok {
				t.Fatalf("%s: expected option=value", line)
			}
			in.Flags = append(in.Flags, Value{Name: name, Value: value, Where: "-D"})
		}
		o, err := Load(in)
		if err != nil {
			return err.Error() + "\n"
		}
		var b MemoryBudget
		switch d.Cmd {
		case "taskmanager":
			b, err = TaskManagerMemory(o.MemorySettings())
		case "jobmanager":
			b, err = JobManagerMemory(o.MemorySettings())
		case "load":
			s := o.Get(ManagedMemory)
			return fmt.Sprintln(strings.Join(append([]string{s.Value + " " + s.Source}, o.Warnings...), "\n"))
		default:
			t.Fatalf("unknown command %s", d.Cmd)
		}
		if err != nil {
			var m *MemoryError
			if !errors.As(err, &m) {
				t.Errorf("%T", err)
			}
			return err.Error() + "\n"
		}
		var out strings.Builder
		for _, p := range b.Parts {
			fmt.Fprintf(&out, "%s%s %d: %s, %s\n", strings.Repeat("  ", p.Level), p.Name, p.Bytes, p.Origin, p.How)
		}
		for _, n := range b.Notes {
			fmt.Fprintln(&out, "note:", n)
		}
		fmt.Fprintln(&out, b.Answer)
		return out.String()
	})
}
