package config

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// What the components stand for in a process of runner, which has no JVM: nothing here is a switch of
// a virtual machine.
const (
	hereProcess     = "what the process may take of the machine: the limit to give its container"
	hereFlink       = "everything but the program itself"
	hereHeap        = "Go heap; Flink starts its JVM with this as -Xmx and -Xms, a Go heap grows as needed and has no size of its own"
	hereFramework   = "graphs, schedules, messages and reports"
	hereTaskHeap    = "batches on their way through operators, dictionaries of readers, open files"
	hereOffHeap     = "memory that is counted by hand"
	hereManaged     = "what blocking operators reserve for hash tables and sort runs, and beyond which they spill to disk; divided evenly among the slots"
	hereDirect      = "Flink's -XX:MaxDirectMemorySize; here the buffers of batches, kept for reuse"
	hereNetwork     = "results of exchanges that wait for their consumers in memory"
	hereFrameworkOH = "buffers of file systems and of the transport"
	hereTaskOffHeap = "nothing by itself: user code that calls outside the heap"
	hereMetaspace   = "no counterpart: a Go program loads no classes; Flink's -XX:MaxMetaspaceSize"
	hereOverhead    = "stacks of goroutines, the program's code, garbage that is not collected yet"
	hereJMHeap      = "Go heap: execution graphs, splits and the histories of jobs; Flink's -Xmx and -Xms"
)

func (m *memoryModel) taskManagerBudget(p processMemory, t taskManagerParts) MemoryBudget {
	heap := m.sum(TotalHeap, t.frameworkHeap, t.taskHeap)
	direct := m.sum(TotalDirect, t.frameworkOff, t.taskOff, t.network)
	off := m.rest(TotalOffHeap, p.flink, heap)
	b := MemoryBudget{Process: "taskmanager", Notes: m.notes, Parts: []MemoryPart{
		part(0, p.total, hereProcess),
		part(1, p.flink, hereFlink),
		part(2, heap, hereHeap), part(3, t.frameworkHeap, hereFramework), part(3, t.taskHeap, hereTaskHeap),
		part(2, off, hereOffHeap), part(3, t.managed, hereManaged),
		part(3, direct, hereDirect), part(4, t.frameworkOff, hereFrameworkOH), part(4, t.taskOff, hereTaskOffHeap), part(4, t.network, hereNetwork),
		part(1, p.metaspace, hereMetaspace), part(1, p.overhead, hereOverhead),
	}}
	b.Answer = fmt.Sprintf("%s; of that %s, so %s is left for tasks as heap.", outer(p),
		takes(t.managed, t.network, m.sum("the framework", t.frameworkHeap, t.frameworkOff), t.taskOff), share(t.taskHeap, p.total))
	if t.taskHeap.origin == MemorySet {
		b.Answer = fmt.Sprintf("%s; of that %s is set as task heap, %s, so %s is left for exchanges as Network Memory.", outer(p),
			share(t.taskHeap, p.total), takes(t.managed, m.sum("the framework", t.frameworkHeap, t.frameworkOff), t.taskOff), share(t.network, p.total))
		if strings.Contains(t.network.how, "of the whole") {
			b.Answer = fmt.Sprintf("Task heap (%s) and managed memory (%s) are set, and the whole is what comes on top: %s.", Readable(t.taskHeap.bytes),
				Readable(t.managed.bytes), takes(t.network, m.sum("the framework", t.frameworkHeap, t.frameworkOff), t.taskOff, p.metaspace, p.overhead))
		}
	}
	return b.withNotes()
}

func (m *memoryModel) jobManagerBudget(p processMemory, heap, off amount) MemoryBudget {
	b := MemoryBudget{Process: "jobmanager", Notes: m.notes, Parts: []MemoryPart{
		part(0, p.total, hereProcess),
		part(1, p.flink, hereFlink), part(2, heap, hereJMHeap), part(2, off, hereFrameworkOH),
		part(1, p.metaspace, hereMetaspace), part(1, p.overhead, hereOverhead),
	}}
	b.Answer = fmt.Sprintf("%s; of that %s, so %s is left as heap.", outer(p), takes(off), share(heap, p.total))
	if heap.origin == MemorySet {
		b.Answer = fmt.Sprintf("The heap is set to %s, and the whole is what comes on top: %s.", Readable(heap.bytes), takes(off, p.metaspace, p.overhead))
	}
	return b.withNotes()
}

func (b MemoryBudget) withNotes() MemoryBudget {
	if b.Notes == nil {
		b.Notes = []string{}
	}
	return b
}

func part(level int, a amount, here string) MemoryPart {
	return MemoryPart{Name: a.name, Level: level, Option: a.option, Bytes: a.bytes, Origin: a.origin, How: a.how, Here: here}
}

// outer says what is left of the process for Flink.
func outer(p processMemory) string {
	if p.total.origin != MemorySet {
		return fmt.Sprintf("%s is set as %s, and the process needs %s on top", Readable(p.flink.bytes), TotalFlink,
			spec.And([]string{sized(p.metaspace), sized(p.overhead)}))
	}
	return fmt.Sprintf("Of %s for the process %s, which leaves %s as %s", Readable(p.total.bytes), takes(p.metaspace, p.overhead), Readable(p.flink.bytes), TotalFlink)
}

// takes lists what some components take; those that take nothing are left out.
func takes(list ...amount) string {
	var texts []string
	for _, a := range list {
		if a.bytes > 0 {
			texts = append(texts, sized(a))
		}
	}
	switch len(texts) {
	case 0:
		return "nothing is taken"
	case 1:
		return texts[0] + " is taken"
	}
	return spec.And(texts) + " are taken"
}

func sized(a amount) string { return fmt.Sprintf("%s (%s)", a.name, Readable(a.bytes)) }

// share is an amount with how much of the whole it is.
func share(a, whole amount) string {
	if whole.bytes == 0 {
		return Readable(a.bytes)
	}
	return fmt.Sprintf("%s (%.0f %%)", Readable(a.bytes), math.Round(100*float64(a.bytes)/float64(whole.bytes)))
}
