package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// A MemoryOrigin says where a component's size comes from.
type MemoryOrigin string

// The origins.
const (
	MemorySet     MemoryOrigin = "set"
	MemoryDefault MemoryOrigin = "default"
	MemoryDerived MemoryOrigin = "derived"
)

// The components of a process that messages and callers name.
const (
	TotalProcess      = "Total Process Memory"
	TotalFlink        = "Total Flink Memory"
	TotalHeap         = "Total JVM Heap Memory"
	FrameworkHeap     = "Framework Heap Memory"
	TaskHeap          = "Task Heap Memory"
	TotalOffHeap      = "Total Off-heap Memory"
	Managed           = "Managed Memory"
	TotalDirect       = "Total JVM Direct Memory"
	FrameworkOffHeap  = "Framework Off-Heap Memory"
	TaskOffHeap       = "Task Off-Heap Memory"
	Network           = "Network Memory"
	JVMMetaspace      = "JVM Metaspace"
	JVMOverhead       = "JVM Overhead"
	JobManagerHeap    = "JVM Heap Memory"
	JobManagerOffHeap = "Off-heap Memory"
)

// A MemoryPart is one component of a process's memory.
type MemoryPart struct {
	Name   string       `json:"name"`
	Level  int          `json:"level"` // 0 for the process, one more for each part of a part
	Option string       `json:"option,omitempty"`
	Bytes  int64        `json:"bytes"`
	Origin MemoryOrigin `json:"origin"`
	How    string       `json:"how"`  // the formula in words
	Here   string       `json:"here"` // what it stands for in a process of runner, which is no JVM
}

// A MemoryBudget is the memory of one process, from the whole to its parts.
type MemoryBudget struct {
	Process string       `json:"process"` // taskmanager or jobmanager
	Parts   []MemoryPart `json:"parts"`
	Notes   []string     `json:"notes"` // in Flink's words
	Answer  string       `json:"answer"`
}

// Bytes is the size of a component, 0 where the process has none of that name.
func (b MemoryBudget) Bytes(name string) int64 { return b.part(name).Bytes }

func (b MemoryBudget) part(name string) MemoryPart {
	i := slices.IndexFunc(b.Parts, func(p MemoryPart) bool { return p.Name == name })
	if i < 0 {
		return MemoryPart{}
	}
	return b.Parts[i]
}

// A MemoryError says why no budget comes of the options, in Flink's words.
type MemoryError struct{ Text string }

// Error is Flink's text.
func (e *MemoryError) Error() string { return e.Text }

// TaskManagerMemory divides the memory of a TaskManager as Flink 2.3 does, to the byte. set holds the
// options that somebody set, by name: what is left out has its default or is derived. The error is a
// *MemoryError with the text Flink gives.
func TaskManagerMemory(set map[string]string) (MemoryBudget, error) {
	m := &memoryModel{set: set, prefix: "taskmanager.memory."}
	var parts taskManagerParts
	process := m.process([]string{m.prefix + "task.heap.size", m.prefix + "managed.size"},
		func() amount { parts = m.taskManagerFine(); return m.sum(TotalFlink, parts.list()...) },
		func(flink amount) { parts = m.taskManagerOf(flink) })
	m.slots()
	if m.err != nil {
		return MemoryBudget{}, &MemoryError{Text: "TaskManager memory configuration failed: " + m.err.Text}
	}
	return m.taskManagerBudget(process, parts), nil
}

// JobManagerMemory divides the memory of a JobManager; see [TaskManagerMemory].
func JobManagerMemory(set map[string]string) (MemoryBudget, error) {
	m := &memoryModel{set: set, prefix: "jobmanager.memory."}
	var heap, off amount
	process := m.process([]string{m.prefix + "heap.size"},
		func() amount { heap, off = m.jobManagerFine(); return m.sum(TotalFlink, heap, off) },
		func(flink amount) { heap, off = m.jobManagerOf(flink) })
	if m.err != nil {
		return MemoryBudget{}, m.err
	}
	return m.jobManagerBudget(process, heap, off), nil
}

// taskManagerParts are the components of a TaskManager's Flink memory.
type taskManagerParts struct {
	frameworkHeap, taskHeap, frameworkOff, taskOff, network, managed amount
}

func (p taskManagerParts) list() []amount {
	return []amount{p.frameworkHeap, p.frameworkOff, p.taskHeap, p.taskOff, p.managed, p.network}
}

// withoutNetwork are the components in the order in which the message lists them.
func (p taskManagerParts) withoutNetwork() []amount {
	return []amount{p.frameworkHeap, p.frameworkOff, p.taskHeap, p.taskOff, p.managed}
}

// taskManagerFine begins with task heap and managed memory, both set.
func (m *memoryModel) taskManagerFine() taskManagerParts {
	var p taskManagerParts
	p.taskHeap = m.size("task.heap.size", TaskHeap)
	p.managed = m.size("managed.size", Managed)
	m.fixedParts(&p)
	if m.has("flink.size") {
		m.networkIsRest(&p, m.size("flink.size", TotalFlink))
		return p
	}
	rest := m.sum("the other parts of Total Flink Memory", p.withoutNetwork()...)
	p.network = m.inverseFraction(Network, "network memory", rest, m.bounds("network"))
	return p
}

func (m *memoryModel) fixedParts(p *taskManagerParts) {
	p.frameworkHeap = m.size("framework.heap.size", FrameworkHeap)
	p.frameworkOff = m.size("framework.off-heap.size", FrameworkOffHeap)
	p.taskOff = m.size("task.off-heap.size", TaskOffHeap)
}

// taskManagerOf divides a known total: task heap is the rest, or where it is set, network is.
func (m *memoryModel) taskManagerOf(flink amount) taskManagerParts {
	var p taskManagerParts
	m.fixedParts(&p)
	if m.has("task.heap.size") {
		p.taskHeap = m.size("task.heap.size", TaskHeap)
		p.managed = m.managedOf(flink)
		m.networkIsRest(&p, flink)
		return p
	}
	p.managed = m.managedOf(flink)
	p.network = m.fraction(Network, "network memory", flink, m.bounds("network"))
	others := []amount{p.frameworkHeap, p.frameworkOff, p.taskOff, p.managed, p.network}
	m.fits(others, flink)
	p.taskHeap = m.rest(TaskHeap, flink, others...)
	return p
}

func (m *memoryModel) managedOf(flink amount) amount {
	if m.has("managed.size") {
		return m.size("managed.size", Managed)
	}
	return m.fraction(Managed, "managed memory", flink, m.freeBounds("managed"))
}

func (m *memoryModel) networkIsRest(p *taskManagerParts, flink amount) {
	m.fits(p.withoutNetwork(), flink)
	p.network = m.rest(Network, flink, p.withoutNetwork()...)
	if b := m.bounds("network"); p.network.bytes < b.min.bytes || p.network.bytes > b.max.bytes {
		m.fail("If Total Flink, Task Heap and (or) Managed Memory sizes are explicitly configured then the Network Memory size " +
			"is the rest of the Total Flink memory after subtracting all other configured types of memory, " +
			"but the derived Network Memory is inconsistent with its configuration.")
	}
}

// fits holds parts against their total, in the words of the message.
func (m *memoryModel) fits(parts []amount, flink amount) {
	if sum := m.sum("", parts...); sum.bytes <= flink.bytes {
		return
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = fmt.Sprintf("%s (%s)", p.name, memoryText(p.bytes))
	}
	last := len(texts) - 1
	m.fail("Sum of configured %s and %s exceed configured Total Flink Memory (%s).", strings.Join(texts[:last], ", "), texts[last], memoryText(flink.bytes))
}

// slots is judged last: a TaskManager has as many CPU cores as slots, and needs some.
func (m *memoryModel) slots() {
	value, set := m.set[TaskSlots]
	if !set {
		return
	}
	if n, err := spec.ParseInt(value); err != nil || n <= 0 {
		m.fail("TaskExecutors need to be started with a positive number of CPU cores. Please configure taskmanager.cpu.cores accordingly.")
	}
}

// jobManagerFine begins with the heap, which is set.
func (m *memoryModel) jobManagerFine() (heap, off amount) {
	heap = m.size("heap.size", JobManagerHeap)
	off = m.size("off-heap.size", JobManagerOffHeap)
	if m.has("flink.size") {
		flink := m.size("flink.size", TotalFlink)
		switch {
		case m.has("off-heap.size") && m.sum("", heap, off).bytes != flink.bytes:
			m.fail("Sum of the configured JVM Heap Memory (%s) and the configured Off-heap Memory (%s) does not match the configured Total Flink Memory (%s). "+
				"Please, make the configuration consistent or configure only one option: either JVM Heap or Total Flink Memory.",
				memoryText(heap.bytes), memoryText(off.bytes), memoryText(flink.bytes))
		case heap.bytes > flink.bytes:
			m.fail("The configured JVM Heap Memory (%s) exceeds the configured Total Flink Memory (%s). "+
				"Please, make the configuration consistent or configure only one option: either JVM Heap or Total Flink Memory.",
				memoryText(heap.bytes), memoryText(flink.bytes))
		case !m.has("off-heap.size"):
			off = m.rest(JobManagerOffHeap, flink, heap)
		}
	}
	m.smallHeap(heap)
	return heap, off
}

// jobManagerOf divides a known total: the heap is what off-heap memory leaves.
func (m *memoryModel) jobManagerOf(flink amount) (heap, off amount) {
	off = m.size("off-heap.size", JobManagerOffHeap)
	if flink.bytes <= off.bytes {
		m.fail("The configured Total Flink Memory (%s) is less than the configured Off-heap Memory (%s).", memoryText(flink.bytes), memoryText(off.bytes))
	}
	heap = m.rest(JobManagerHeap, flink, off)
	m.smallHeap(heap)
	return heap, off
}

const leastJobManagerHeap = 128 << 20

func (m *memoryModel) smallHeap(heap amount) {
	if heap.bytes < leastJobManagerHeap {
		m.note("The configured or derived JVM heap memory size (%s) is less than its recommended minimum value (%s)",
			memoryText(heap.bytes), memoryText(leastJobManagerHeap))
	}
}
