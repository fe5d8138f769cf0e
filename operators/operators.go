// Package operators is the contract between the runtime and what transforms rows: batches, operators,
// keyed state, and how a component declares itself.
package operators

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Batch is a set of rows inside a chain. An exchange compacts it to a plain record.
//
// Rec's columns have the physical type of their logical one ([expr.Type.Arrow]), except that a
// STRING may be plain or dictionary<int32, utf8>. Who receives a batch owns one reference of Rec
// and releases it unless it hands the batch on.
type Batch struct {
	Rec  arrow.Record
	Sel  []int32  // ascending live rows, nil = all; columns are unspecified at other rows. Valid until the producer's next batch: copy to keep
	Dict []uint64 // per column the id of a growing dictionary: same id, same codes, codes never change meaning; 0 = none; nil = none at all
	From Origin   // where row 0 came from; zero after a shuffle
}

// Rows is the number of live rows.
func (b Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return int(b.Rec.NumRows())
}

// An Origin says where row 0 of a batch came from, in terms of the reader that made it: the file's
// place in its source's list from 1, byte offset of the split (or first record) and the number of
// the row counted from there. The zero Origin means unknown.
type Origin struct {
	File   int64 `json:"file"`
	Offset int64 `json:"offset"`
	Row    int64 `json:"row"`
}

// An Operator transforms batches. One goroutine calls it: Open, then Process and EndInput, then
// Close. Process owns b.Rec's reference. Emit blocks under back-pressure and fails on cancel; its
// error is returned as it is.
type Operator interface {
	Open(t *Task) error // state already restored
	Process(input int, b Batch, out Collector) error
	EndInput(input int, out Collector) error // bounded end only, never on cancel
	Close() error                            // frees what is held; also after an error
}

// What an operator may also be. Barriers never reach operators: the task aligns them, calls Flush
// and snapshots the handles.
type (
	// A Watermarker is told of watermarks: the least over channels and inputs, in milliseconds; the last one
	// of an input that ends is the largest int64. What it emits goes before the watermark, which the task then
	// hands on.
	Watermarker interface {
		Watermark(ms int64, out Collector) error
	}
	// A Flusher holds rows outside keyed state (a local aggregate) and gives them out before a barrier and
	// before a watermark.
	Flusher interface{ Flush(out Collector) error }
	// A Timed operator set timers with [Table.At].
	Timed interface {
		Timer(k TimeKind, ms int64, t Table, slots []uint32, out Collector) error
	}
	// A Sated operator may say that no further input row can change its output (a full LIMIT), so
	// that the task may end its inputs early. It is asked between batches; batches that still come
	// are counted as Filtered.
	Sated interface{ Sated() bool }
	// A Picker says which input it wants next (build side first), -1 for any.
	Picker interface{ NextInput() int }
	// A Partial operator only reduces its rows ahead of an exchange by key. What it gives to a BLOCKING one is kept
	// there in buckets by key, so that a Bucketed consumer need not hold all keys at once.
	Partial interface{ Partial() bool }
	// A Bucketed operator is told that none of the keys of the rows that have come will come again, so that it may give
	// their results out and forget them. More rows may come, of other keys; without buckets it is never told.
	Bucketed interface{ EndBucket(out Collector) error }
	// A TryCaster counts the rows for which its expressions' TRY_CASTs gave NULL. It is asked by the task's
	// goroutine, between batches and at the end, before Close. A reader may be one too.
	TryCaster interface{ TryCasts() []expr.TryCast }
)

// TimeKind tells event-time timers from processing-time ones.
type TimeKind uint8

// The kinds of timers.
const (
	EventTime TimeKind = iota
	ProcessingTime
)

// A Collector takes what an operator gives out.
type Collector interface {
	Emit(b Batch) error
	Side(port string, b Batch) error // Spec.Ports: "rejected", "late"
	Count(c Counter, rows int64)
}

// A Counter is a line of the books: what became of an operator's rows. For every operator
// in = passed + filtered + rejected + late + absorbed, and out = passed + released. The task counts
// in and out itself and takes passed as in less the others; an operator counts only these:
type Counter uint8

// The counters an operator keeps.
const (
	Filtered Counter = iota // dropped by a predicate, a limit or as a duplicate
	Rejected
	Late
	Absorbed // kept in state: grouped, sorted
	Released // given out of state
	NumCounters
)

// A Task is what an operator may use of its subtask.
type Task struct {
	Ctx            context.Context
	UID            string // plan node and role ("revenue/local"): savepoint identity, stable under the optimizer
	Subtask        int
	Parallelism    int
	MaxParallelism int // number of key groups
	Alloc          memory.Allocator
	Memory         Memory
	States         States
}

// Memory is the managed memory of the task's slot.
type Memory interface {
	Reserve(bytes int64) bool
	Release(bytes int64)
	// OnPressure registers what the operator can free when another one of the slot is short; it is
	// called on the task's goroutine, between batches.
	OnPressure(free func(want int64) (freed int64))
	// Spill opens a temporary file, counted as spilled bytes and removed at the end.
	Spill(name string) (SpillFile, error)
}

// A SpillFile is a temporary file. Close removes it.
type SpillFile interface {
	io.ReadWriteSeeker
	io.Closer
}

// States gives out the state of a subtask.
type States interface {
	// Table is keyed state and hash table in one, divided by key group.
	Table(name string, key, value expr.Schema, o TableOptions) (Table, error)
	List(name string, m ListMode) (List, error)
}

// ListMode says how operator state is handed out when the parallelism changes.
type ListMode uint8

// The list modes.
const (
	SplitList ListMode = iota
	UnionList
	BroadcastList
)

// A List is operator state without a key.
type List interface {
	Get() [][]byte
	Set([][]byte)
}

// TableOptions of a keyed table.
type TableOptions struct {
	Words    int   // 64-bit value columns
	BytesCol int   // byte-string value columns
	Rare     []int // of the word columns: those that take no memory until they are first asked for
}

// A Table maps keys to slots, and slots to values. It works per batch, never per row; slots are
// valid until the next call, so that a disk backend fits. NULL keys equal each other, as do NaN and
// NaN, and -0.0 and 0.0.
type Table interface {
	// Upsert finds or adds the keys of the selected rows and writes each row's slot to slots
	// (aligned to sel, or to the rows where sel is nil). New slots are numbered from the old Len
	// upwards in the order of first sight; fresh is how many there are. On ErrMemory nothing changed.
	Upsert(keys []arrow.Array, dict []uint64, sel []int32, slots []uint32) (fresh int, err error)
	// Find is Upsert that adds nothing; absent keys give NoSlot.
	Find(keys []arrow.Array, dict []uint64, sel []int32, slots []uint32) error
	Len() int
	Words(col int) []uint64 // one per slot; zero when fresh
	Bytes(col int) BytesColumn
	Delete(slots []uint32) error
	At(k TimeKind, ms int64, slots []uint32) error // timers rescale and restore with their key
	// Scan visits slots of the key groups from..to-1 (0, MaxParallelism: all) with their keys.
	Scan(fromGroup, toGroup int, each func(keys arrow.Record, slots []uint32) error) error
	Clear() // forgets all keys and keeps the memory
	Close()
}

// NoSlot is what Find gives for an absent key.
const NoSlot = ^uint32(0)

// A BytesColumn holds one byte string per slot.
type BytesColumn interface {
	Get(slot uint32) []byte // valid until the next Set
	Set(slot uint32, v []byte)
}
