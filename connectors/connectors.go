// Package connectors is the contract between the runtime and what reads and writes data: sources with
// their enumerators and readers, sinks with their writers and committers.
package connectors

import (
	"context"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Split is a piece of a source's input that one reader reads. Order sorts splits in file order
// (place of the file from 1, byte offset); State is versioned and holds the position.
type Split struct {
	ID    string   `json:"id"`
	Order [2]int64 `json:"order"`
	Bytes int64    `json:"bytes"`
	Rows  int64    `json:"rows"` // 0 where not known before reading
	State []byte   `json:"state"`
}

// A Pushdown is work that a source may do itself. Columns are places in Schema, in the order they
// are wanted; Where is over Schema; Limit -1 means all.
//
// A source that takes Where parses (and so checks) the columns of Where for all rows and the other
// columns only for rows that pass. Only those two sets of columns are parsed at all.
type Pushdown struct {
	Columns []int      `json:"columns"`
	Where   *expr.Expr `json:"where,omitempty"`
	Limit   int64      `json:"limit"`
	// Paths are, for columns of nested types, the fields that are looked at, each as the names below the column:
	// what else a ROW has may be NULL, whatever it is in the source. Elements of an ARRAY and values of a MAP are
	// looked at by the same names. A column without an entry is looked at as a whole.
	Paths map[int][][]string `json:"paths,omitempty"`
	// Rejects asks for the records that are left out as bad: the reader is a [Rejecting] one then. Only a
	// [Skipping] source is asked.
	Rejects bool `json:"rejects,omitempty"`
}

// FileColumn is the hidden column that sources have which read files: the name of the row's file, as the plan
// writes it. It is no part of Schema; the runtime adds it to batches by their Origin.
const FileColumn = "_file"

// A Source is a bound source: it knows its files and its schema.
type Source interface {
	Bounded() bool
	Schema() expr.Schema             // all declared columns
	Inventory() Inventory            // what the scheduler and the report need to know
	Push(p Pushdown) (left Pushdown) // what it does not take is left to the graph; no I/O
	Enumerator(ctx context.Context, o SplitOptions, restored []byte) (Enumerator, error)
	Reader(t *operators.Task) (Reader, error)
}

// A Partial source found columns that it cannot read and that are no part of its Schema. A plan that
// names one is to be told why, and so is one that takes all columns without naming them.
type Partial interface{ Unreadable() []Unreadable }

// An Unreadable is a column that a source cannot read.
type Unreadable struct {
	Name string `json:"name"`
	Why  string `json:"why"` // "it is nested (LIST), which cannot be read yet"
}

// SplitOptions are the job's wishes for splits.
type SplitOptions struct {
	SplitBytes int64 // runner.source.split-size: no split of a splittable file is larger
	ReadBytes  int64 // bytes one read of a reader may take; 0 = the reader's own choice
}

// An Inventory is what a source found when it was bound.
type Inventory struct {
	Files    []File     `json:"files"`              // Origin.File of a batch is the place here, from 1
	Inferred *Inference `json:"inferred,omitempty"` // nil where the columns were declared, or stand in the files
}

// A File is an input file.
type File struct {
	Name       string `json:"name,omitempty"` // as the plan writes it, which is what _file gives: relative to the plan's folder, or absolute; "" = Path
	Path       string `json:"path"`           // as the plan's reader would write it: relative to the working directory where below it
	Bytes      int64  `json:"bytes"`
	Rows       int64  `json:"rows"`          // of the footer; -1 where not known
	Splittable bool   `json:"splittable"`    // false: compressed as a whole, and so on
	Units      int    `json:"units"`         // most splits it can give: row groups; 0 = any number
	Why        string `json:"why,omitempty"` // why it is not splittable
	// Extra is how many columns it has that the plan does not declare, and that are passed over.
	Extra int `json:"extra,omitempty"`
	// Generated: there is no such file; it stands for rows that the source makes up.
	Generated  bool  `json:"generated,omitempty"`
	ModifiedNs int64 `json:"modifiedNs"` // when it was changed last, since 1970; 0 = not known
}

// An Enumerator finds splits. It does I/O and runs in the JobManager's driver; who gets a split is
// decided by the scheduler.
type Enumerator interface {
	Discover(ctx context.Context) (found []Split, done bool, err error)
	Snapshot() ([]byte, error)
	Close() error
}

// Status is what a reader says with a batch.
type Status uint8

// The statuses. With More the batch is valid; with the others it is empty.
const (
	More      Status = iota
	NeedSplit        // all added splits are read
	Idle             // nothing now; Wake says when
	End              // the source has ended by itself
)

// A Reader reads splits one after the other; a batch never crosses splits. One goroutine calls it,
// and Next owns nothing after it returns: the batch's record belongs to the caller.
type Reader interface {
	Add(splits []Split)
	Next(ctx context.Context) (operators.Batch, Status, error)
	// Locate finds the place of a row again, on failure only: it reads the file once more. row is
	// counted from the batch's row 0; field names a column of Schema, "" where the row is meant.
	Locate(ctx context.Context, o operators.Origin, row int64, field string) (Place, error)
	Wake() <-chan struct{}
	Snapshot() ([]Split, error) // unread rest, for a checkpoint
	Tally() []Tally
	Close() error
}

// A Place is where a value stands in the input.
type Place struct {
	File   string
	Line   int64  // from 1; of a file without lines (Parquet) the row, from 1
	Column int64  // from 1, the field's place in its record; 0 where the row is meant
	Value  string // as it stands there
}

// Skipping is a source that can leave bad rows out.
type Skipping interface{ SkipsBadRows() bool }

// A Tally is what a reader did with one file: rows = read + pruned + unread, and of those read,
// Filtered did not pass Where and Rejected were bad.
type Tally struct {
	File     string `json:"file"`
	Rows     int64  `json:"rows"` // footer's, or those found
	Read     int64  `json:"read"`
	Pruned   int64  `json:"pruned"`
	Unread   int64  `json:"unread"`
	Filtered int64  `json:"filtered"`
	Rejected int64  `json:"rejected"`
	Padded   int64  `json:"padded,omitempty"` // records with too few or too many fields that were made to fit
	// FirstReject is the first in file order of the rows that were bad; nil where none was.
	FirstReject *Reject `json:"firstReject,omitempty"`
	// Sample are the first of them in file order, at most [MostSampled]; see [Tally.Keep].
	Sample []Reject `json:"sample,omitempty"`
	Bytes  int64    `json:"bytes"` // bytes of the file's splits; over all readers they sum to the file's size
	// ReadBytes are those of Bytes that were read, where UnreadBytes is not 0: columns that nobody asks for, pages and
	// footers are left out. Bytes = ReadBytes + UnreadBytes + those of Pruning.
	ReadBytes   int64 `json:"readBytes,omitempty"`
	UnreadBytes int64 `json:"unreadBytes,omitempty"`
	// Pruning is what statistics in the file said; nil where nobody asked them.
	Pruning *Pruning `json:"pruning,omitempty"`
}

// A Sink is a bound sink.
type Sink interface {
	Writer(t *operators.Task, run string, recovered []Committable) (Writer, error)
	Committer() (Committer, error)
}

// A Writer writes one subtask's rows, invisible until they are committed. A batch may have Sel and
// dictionary columns.
type Writer interface {
	Write(b operators.Batch) error // owns b.Rec's reference
	// Prepare makes what was written durable and still invisible. Batch: once, end = true.
	Prepare(checkpoint int64, end bool) ([]Committable, error)
	Snapshot() ([]byte, error)
	Close() error // unprepared Close leaves nothing
}

// A Showing writer lets rows be seen before they are committed, as a terminal does: nobody can take them back.
type Showing interface {
	// Shown is how many rows were seen so far, at any time after Write.
	Shown() int64
}

// A Committer publishes. It runs in the driver after the intent was journalled. Both calls are
// idempotent; Abort also sweeps the leavings of dead runs.
type Committer interface {
	Commit(ctx context.Context, run string, checkpoint int64, all []Committable) (files []string, err error)
	Abort(ctx context.Context, run string, all []Committable) error
}

// A Checker is a Committer that can tell before anything is published whether Commit would be refused, as
// by a target that came to be meanwhile. All sinks of a run are asked before the first one publishes.
type Checker interface {
	Check(ctx context.Context, run string) error
}

// A Committable is something to publish.
type Committable struct {
	State   []byte `json:"state"`
	Subtask int    `json:"subtask"`
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"`
}

// A Format turns bytes into rows and back without a file, so that message queues and files share it.
type Format interface {
	Decoder(s expr.Schema) (Decoder, error)
	Encoder(s expr.Schema) (Encoder, error)
}

// A Decoder decodes messages.
type Decoder interface {
	Decode(messages [][]byte) (operators.Batch, error)
}

// An Encoder encodes the live rows of a batch, one message a row.
type Encoder interface {
	Encode(b operators.Batch) ([][]byte, error)
}
