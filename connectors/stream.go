package connectors

import "math"

// NoWatermark is the watermark before the first one, EndWatermark the one behind which nothing comes: the
// task gives it at the end of a bounded source.
const (
	NoWatermark  = math.MinInt64
	EndWatermark = math.MaxInt64
)

// A Timed reader knows the event time of its splits. In a stream the task asks for it after each Next; the
// source's watermark is the least over the splits that are not idle, and never falls. A source whose
// reader is not Timed, or has no event time, gives no watermark before its end.
type Timed interface {
	// Times are the splits that were added and are not yet read to their end; none where nothing is known.
	// The list is valid until the next call of a method of the reader.
	Times() []SplitTime
}

// A SplitTime is how far the event time of a split has come. WatermarkMs, in milliseconds since 1970, says
// that rows up to it are all there, NoWatermark that this is not known yet. An Idle split has given nothing
// for its source's idle timeout and does not hold the watermark back; the reader decides by its own clock,
// and wakes the task (Reader.Wake) when a split becomes idle while Next has nothing to give.
type SplitTime struct {
	Split       string
	WatermarkMs int64
	Idle        bool
}

// A Watermark is what a plan says about the event time of a source: a TIMESTAMP column, how late rows may
// be, and after how long without a row a split is idle (0: never).
type Watermark struct {
	Column  string `json:"column"`
	DelayMs int64  `json:"delayMs"`
	IdleMs  int64  `json:"idleMs"`
}

// Watermarking is a source whose readers are [Timed] where its Env has a Watermark.
type Watermarking interface{ GivesWatermarks() bool }

// Partitioned is a source whose splits are to be read side by side, as the partitions of a log are. In a
// stream each of its subtasks gets its whole share at once (split i goes to subtask i mod parallelism, in
// the order of Split.Order) and is told that no more will come; its reader takes turns among them. A
// source that is not Bounded is treated so too. Other splits are handed out a few at a time.
type Partitioned interface{ Partitioned() bool }
