// Package exchange holds result partitions: what a subtask writes for the subtasks of the next vertex.
package exchange

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// A ResultID names the result partition that one attempt of one subtask writes for one edge.
type ResultID struct {
	Job      string `json:"job"`
	Edge     string `json:"edge"`
	Producer int    `json:"producer"` // subtask
	Attempt  int    `json:"attempt"`
}

// EventKind is what an event in a stream of records says.
type EventKind uint8

// The events.
const (
	NoEvent EventKind = iota
	WatermarkEvent
	IdleEvent
	BarrierEvent
	EndEvent
	BucketEvent // a bucket is complete, in all channels
)

// An Event travels in order with the records of its channel.
type Event struct {
	Kind       EventKind
	Time       int64 // milliseconds, of a watermark
	Checkpoint int64 // of a barrier
}

// A Writer writes one result partition. Its records are plain Arrow records with no selection.
type Writer interface {
	// Write owns r's reference. It blocks on credit (PIPELINED) or spills (BLOCKING).
	Write(sub int, r arrow.Record) error
	Event(e Event) error // to all subpartitions, in order with records
	// Finish seals the partition and gives bytes and rows of each subpartition.
	Finish() (bytes, rows []int64, err error)
	Abort(cause error)
}

// A BucketWriter keeps the rows of a subpartition in buckets, from 1. Where all records of a range of subpartitions that
// a gate reads are in buckets, whoever wrote them, it reads bucket by bucket, with a BucketEvent after each. So all
// writers of an edge have to mean the same keys by a bucket.
type BucketWriter interface {
	Writer
	// WriteBucket is Write to a bucket of a subpartition.
	WriteBucket(sub, bucket int, r arrow.Record) error
}

// A Gate reads a range of subpartitions of some result partitions, as one input.
type Gate interface {
	// Next gives a record (the caller's reference) or an event of a channel; EndEvent comes once per
	// channel, io.EOF after the last.
	Next(ctx context.Context) (channel int, r arrow.Record, e Event, err error)
	Block(channel int, on bool)
	Close() error
}

// A Service keeps result partitions.
type Service interface {
	Create(id ResultID, subs int, blocking bool) (Writer, error)
	// Open reads the subpartitions lo..hi-1 of each partition. A lost one gives LostError.
	Open(ctx context.Context, from []ResultID, lo, hi int) (Gate, error)
	Release(id ResultID) error
}

// A Range is what a gate reads of one edge: the subpartitions Lo..Hi-1 of the results of its producers.
type Range struct {
	From   []ResultID
	Lo, Hi int
}

// A StreamGate reads pipelined results while they are written, all edges of a task as one. Its channels
// are numbered through: range by range, of each producer by producer, of each subpartition by
// subpartition. Next takes turns among the channels that have something.
type StreamGate interface {
	Gate
	// Ready reports whether Next would return at once.
	Ready() bool
	// Bytes is the size of the records read so far.
	Bytes() int64
	// Enough tells the producers that the reader has all it needs. It goes on to read what still comes.
	Enough()
}

// A Wanted writer knows whether anybody needs what it writes: not so when all its consumers have said that
// they have enough, or have closed.
type Wanted interface{ Wanted() bool }

// Streams keeps results that flow while they are written. A channel holds a bounded number of bytes; beyond
// them Write waits until the consumer has read some, or ctx is done. A consumer may connect before its
// producer has begun. One that closes its gate early leaves its producers free to go on: what they write for
// it is dropped. A producer that aborts leaves its consumers waiting: they are stopped by those who know why.
type Streams interface {
	Service
	Pipe(ctx context.Context, id ResultID, subs int) (Writer, error)
	Connect(from []Range) (StreamGate, error)
}

// A LostError says that a partition is gone, so that its producer has to run again.
type LostError struct{ ID ResultID }

// Error names the partition.
func (e *LostError) Error() string {
	return fmt.Sprintf("the result partition of subtask %d, attempt %d on edge %s is lost", e.ID.Producer, e.ID.Attempt, e.ID.Edge)
}
