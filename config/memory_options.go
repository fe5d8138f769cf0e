package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

const (
	taskManagerMemory = "taskmanager.memory."
	jobManagerMemory  = "jobmanager.memory."
	leastManaged      = 1 << 20 // a run without any could not begin to group or to sort
)

// memoryOptions are the options of the memory model apart from managed.size, which every run reads.
func memoryOptions() Registry {
	tm := func(name, standard, doc string) Option {
		return memoryOption(taskManagerMemory+name, standard, "the TaskManager", doc)
	}
	jm := func(name, standard, doc string) Option {
		return memoryOption(jobManagerMemory+name, standard, "the JobManager", doc)
	}
	return Registry{
		tm("process.size", "", "All memory of a TaskManager's process. Set, it bounds what managed memory is derived from."),
		tm("flink.size", "", "Memory of a TaskManager without JVM metaspace and overhead. Set, managed memory is derived from it."),
		tm("framework.heap.size", "128 mb", "Heap that is kept from tasks."),
		tm("framework.off-heap.size", "128 mb", "Memory outside the heap that is kept from tasks."),
		tm("task.heap.size", "", "Heap of tasks. Unset: what the other parts leave of Total Flink Memory."),
		tm("task.off-heap.size", "0 bytes", "Memory outside the heap that user code of tasks takes."),
		tm("managed.fraction", "0.4", "Share of Total Flink Memory that is managed where managed.size is not set."),
		tm("network.fraction", "0.1", "Share of Total Flink Memory for the buffers of exchanges."),
		tm("network.min", "64 mb", "Least memory for the buffers of exchanges."),
		tm("network.max", "", "Most memory for the buffers of exchanges. Unset: unlimited."),
		tm("jvm-metaspace.size", "256 mb", "Memory for the classes of a JVM."),
		tm("jvm-overhead.fraction", "0.1", "Share of Total Process Memory for what a process needs besides: stacks, code, bookkeeping."),
		tm("jvm-overhead.min", "192 mb", "Least JVM overhead."),
		tm("jvm-overhead.max", "1 gb", "Most JVM overhead."),
		jm("process.size", "", "All memory of a JobManager's process."),
		jm("flink.size", "", "Memory of a JobManager without JVM metaspace and overhead."),
		jm("heap.size", "", "Heap of a JobManager. Unset: what off-heap memory leaves of Total Flink Memory."),
		jm("off-heap.size", "128 mb", "Memory of a JobManager outside the heap."),
		jm("jvm-metaspace.size", "256 mb", "Memory for the classes of a JVM."),
		jm("jvm-overhead.fraction", "0.1", "Share of Total Process Memory for what a process needs besides."),
		jm("jvm-overhead.min", "192 mb", "Least JVM overhead."),
		jm("jvm-overhead.max", "1 gb", "Most JVM overhead."),
	}
}

func memoryOption(name, standard, reader, doc string) Option {
	t := Size
	if strings.HasSuffix(name, ".fraction") {
		t = Fraction
	}
	return Option{Name: name, Type: t, Default: standard, Scope: Cluster, Reader: reader, Doc: doc}
}

// judgedByModel tells the options that a memory budget judges all together.
func judgedByModel(name string) bool {
	return name == TaskSlots || name == ManagedMemory || isMemoryOption(name)
}

// isMemoryOption tells options that nothing but the memory model reads.
func isMemoryOption(name string) bool {
	return name != ManagedMemory && name != SegmentSize && (strings.HasPrefix(name, taskManagerMemory) || strings.HasPrefix(name, jobManagerMemory))
}

// MemorySettings are the options of the memory model that somebody set, for [TaskManagerMemory] and
// [JobManagerMemory].
func (o Loaded) MemorySettings() map[string]string { return memorySettings(o.Settings) }

func memorySettings(list []Setting) map[string]string {
	out := map[string]string{}
	for _, s := range list {
		if judgedByModel(s.Name) && isSet(s) {
			out[s.Name] = s.Value
		}
	}
	return out
}

// isSet tells what somebody set from what the program chose.
func isSet(s Setting) bool {
	return s.Source != FromDefault && s.Source != FromEmbedded && s.Source != FromDerived
}

// memory derives managed memory where a total is set, as a TaskManager does. The other parts bound
// nothing in an embedded run: setting one of them alone is worth a warning.
func (l *loader) memory() {
	set := memorySettings(l.out)
	var total *Setting
	for _, name := range []string{taskManagerMemory + "flink.size", taskManagerMemory + "process.size"} {
		if s := l.at(name); total == nil && isSet(*s) {
			total = s
		}
	}
	l.idleMemory(set, total != nil)
	if total == nil || len(l.errs) > 0 {
		return
	}
	b, err := TaskManagerMemory(set)
	if err != nil {
		l.fail(&Error{Rule: RuleInvalidOption, Option: total.Name, Message: err.Error()}, total.Where)
		return
	}
	managed := l.at(ManagedMemory)
	if isSet(*managed) {
		return
	}
	if n := b.Bytes(Managed); n < leastManaged {
		l.fail(&Error{Rule: RuleInvalidOption, Option: ManagedMemory, Message: fmt.Sprintf("managed memory comes to %d bytes", n),
			Expected: "at least " + spec.FormatBytes(leastManaged), Hint: "runner memory shows the parts"}, total.Where)
		return
	}
	managed.Value, managed.Source, managed.Where = spec.FormatBytes(b.Bytes(Managed)), FromDerived, "derived from "+total.Name
}

func (l *loader) idleMemory(set map[string]string, hasTotal bool) {
	var idle []string
	for name := range set {
		if isMemoryOption(name) && !(hasTotal && strings.HasPrefix(name, taskManagerMemory)) {
			idle = append(idle, name)
		}
	}
	if len(idle) == 0 {
		return
	}
	slices.Sort(idle)
	l.warnings = append(l.warnings, fmt.Sprintf("%s: no effect on an embedded run, whose only memory budget is %s; runner memory shows what would come of it",
		spec.And(idle), ManagedMemory))
}
