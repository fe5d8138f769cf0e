package datagen

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// A reader makes the rows of its splits, one block a batch, always of the split that is the least far.
type reader struct {
	*source
	alloc  memory.Allocator
	makers []maker // of all columns
	reach  int64   // rows whose values all columns hold
	narrow int     // the column that holds the fewest
	timed  int     // the column of the watermark, -1: none
	times  []connectors.SplitTime
	open   []cursor
	start  time.Time // when row 0 was due; zero before the first split
	wake   <-chan struct{}
	stop   func()
	tally  connectors.Tally
	read   bool // something was
	err    error
}

// A cursor is a split that is being read.
type cursor struct {
	splitState
	layout layout
	id     string
	latest int64     // event time so far, in microseconds; math.MinInt64: none
	gave   time.Time // when it gave a row last, or was begun
}

// Add takes splits.
func (r *reader) Add(splits []connectors.Split) {
	for _, s := range splits {
		var c cursor
		if err := json.Unmarshal(s.State, &c.splitState); err != nil {
			r.err = fmt.Errorf("reading split %s: %w", s.ID, err)
			return
		}
		if c.Version != stateVersion || c.Splits < 1 {
			r.err = fmt.Errorf("split %s has version %d: expected %d", s.ID, c.Version, stateVersion)
			return
		}
		c.layout, c.id, c.latest = r.layout(c.Splits), s.ID, math.MinInt64
		r.open = append(r.open, c)
	}
}

// Next makes the next block of rows that is due.
func (r *reader) Next(ctx context.Context) (operators.Batch, connectors.Status, error) {
	r.quiet()
	if err := ctx.Err(); err != nil {
		return operators.Batch{}, 0, err
	}
	if r.err != nil {
		return operators.Batch{}, 0, r.err
	}
	if len(r.open) == 0 {
		return operators.Batch{}, connectors.NeedSplit, nil
	}
	now := r.clock.Now()
	r.begin(now)
	c := r.least()
	if c == nil {
		return r.silent(now)
	}
	from, to := c.layout.bounds(c.Block)
	if wait := c.layout.due(to-1) - now.Sub(r.start); c.layout.rate > 0 && wait > 0 {
		r.sleep(now, wait)
		return operators.Batch{}, connectors.Idle, nil
	}
	b, err := r.block(c, from, to)
	if err != nil {
		return b, 0, err
	}
	c.Block, c.Begun, c.gave = c.layout.next(c.Split, c.Block), true, now
	r.end(now)
	return b, connectors.More, nil
}

// begin sets the time from which rows are due. Splits that were begun elsewhere go on from their place.
func (r *reader) begin(now time.Time) {
	for i := range r.open {
		if c := &r.open[i]; c.gave.IsZero() {
			c.gave = now
		}
	}
	if !r.start.IsZero() {
		return
	}
	r.start = now
	if c := r.least(); c != nil && c.Begun {
		from, _ := c.layout.bounds(c.Block)
		r.start = now.Add(-c.layout.due(from))
	}
}

// least is the split whose next block comes first, nil where all are silent.
func (r *reader) least() *cursor {
	var best *cursor
	for i := range r.open {
		if c := &r.open[i]; c.Block >= 0 && (best == nil || c.Block*c.layout.block < best.Block*best.layout.block) {
			best = c
		}
	}
	return best
}

// silent waits for the end of splits that give nothing more.
func (r *reader) silent(now time.Time) (operators.Batch, connectors.Status, error) {
	r.end(now)
	if len(r.open) == 0 {
		return operators.Batch{}, connectors.NeedSplit, nil
	}
	wait := time.Duration(math.MaxInt64)
	if l := r.open[0].layout; l.bounded() {
		wait = l.due(l.rows-1) - now.Sub(r.start)
	}
	r.sleep(now, wait)
	return operators.Batch{}, connectors.Idle, nil
}

// sleep sees to it that Wake is closed when rows are due, or before, when a split becomes idle.
func (r *reader) sleep(now time.Time, wait time.Duration) {
	for _, c := range r.open {
		if left := c.gave.Add(r.idleAfter()).Sub(now); left > 0 {
			wait = min(wait, left)
		}
	}
	if wait < math.MaxInt64 {
		r.wake, r.stop = r.clock.After(wait)
	}
}

// idleAfter is how long a split may give nothing; 0: as long as it likes.
func (r *reader) idleAfter() time.Duration {
	if r.timed < 0 {
		return 0
	}
	return time.Duration(r.Watermark.IdleMs) * time.Millisecond
}

// Times are the event times of the open splits: of each the latest one that it gave, less the delay, and
// one millisecond less, since rows of that very time may still come.
func (r *reader) Times() []connectors.SplitTime {
	r.times = r.times[:0]
	if r.timed < 0 {
		return nil
	}
	now, idle := r.clock.Now(), r.idleAfter()
	for _, c := range r.open {
		t := connectors.SplitTime{Split: c.id, WatermarkMs: connectors.NoWatermark}
		if c.latest > math.MinInt64 {
			t.WatermarkMs = floor(c.latest, microsPerMilli)/microsPerMilli - r.Watermark.DelayMs - 1
		}
		t.Idle = idle > 0 && !c.gave.IsZero() && now.Sub(c.gave) >= idle
		r.times = append(r.times, t)
	}
	return r.times
}

// end takes out the splits that have ended: an idle one does when the last row of the source is due.
func (r *reader) end(now time.Time) {
	kept := r.open[:0]
	for _, c := range r.open {
		silent := c.Split >= c.layout.active() && (!c.layout.bounded() || now.Sub(r.start) < c.layout.due(c.layout.rows-1))
		if c.Block >= 0 || silent {
			kept = append(kept, c)
		}
	}
	r.open = kept
}

// block makes rows of a split.
func (r *reader) block(c *cursor, from, to int64) (operators.Batch, error) {
	if to > r.reach {
		f := r.Options.Columns[r.narrow]
		return operators.Batch{}, &connectors.DataError{
			Kind: "Overflow", Message: fmt.Sprintf("column %s is %s, which holds the values of %d rows; another type, start or interval would hold more", f.Name, f.Type, r.reach),
			File: r.Path, Line: r.reach + 1, Column: int64(r.narrow) + 1, Field: f.Name, Wanted: f.Type.String(), Order: [2]int64{1, r.reach},
		}
	}
	cols := make([]arrow.Array, len(r.columns))
	timed := -1
	for i, k := range r.columns {
		cols[i] = r.column(k, from, to)
		defer cols[i].Release()
		if k == r.timed {
			timed = i
		}
	}
	switch {
	case timed >= 0:
		c.note(cols[timed])
	case r.timed >= 0: // nobody wants the column, but what it holds counts
		col := r.column(r.timed, from, to)
		c.note(col)
		col.Release()
	}
	r.read = true
	r.tally.Rows += to - from
	r.tally.Read += to - from
	if r.Bounded() {
		r.tally.Bytes += r.bytes(to - from)
	}
	rec := column.NewRecord(r.Schema().Pick(r.columns).Fields, cols, to-from)
	return operators.Batch{Rec: rec, From: operators.Origin{File: 1, Offset: from}}, nil
}

// note takes the latest of some event times.
func (c *cursor) note(col arrow.Array) {
	times := col.(*array.Timestamp)
	for i, v := range times.TimestampValues() {
		if int64(v) > c.latest && times.IsValid(i) {
			c.latest = int64(v)
		}
	}
}

// column makes the values of a column for some rows.
func (r *reader) column(k int, from, to int64) arrow.Array {
	b := array.NewBuilder(r.alloc, r.Options.Columns[k].Type.Arrow())
	defer b.Release()
	b.Reserve(int(to - from))
	value := r.makers[k].make
	for row := from; row < to; row++ {
		value(b, row)
	}
	return b.NewArray()
}

// Locate tells which row of all it is, from 1, and makes a value again.
func (r *reader) Locate(ctx context.Context, o operators.Origin, row int64, field string) (connectors.Place, error) {
	if err := ctx.Err(); err != nil {
		return connectors.Place{}, err
	}
	n := o.Offset + o.Row + row
	p := connectors.Place{File: r.Path, Line: n + 1}
	if field == "" {
		return p, nil
	}
	k := r.Schema().Index(field)
	if k < 0 {
		return p, fmt.Errorf("source %s has no column %s", r.Path, field)
	}
	values := r.column(k, n, n+1)
	defer values.Release()
	p.Column = int64(k) + 1
	p.Value = string(column.AppendText(nil, values, r.Options.Columns[k].Type, 0))
	return p, nil
}

// Wake is closed when rows are due again.
func (r *reader) Wake() <-chan struct{} { return r.wake }

// quiet ends a waiting that is over.
func (r *reader) quiet() {
	if r.stop != nil {
		r.stop()
	}
	r.wake, r.stop = nil, nil
}

// Snapshot is the splits as they are left.
func (r *reader) Snapshot() ([]connectors.Split, error) {
	var left []connectors.Split
	for _, c := range r.open {
		s, err := r.split(c.layout, c.splitState)
		if err != nil {
			return nil, err
		}
		left = append(left, s)
	}
	return left, nil
}

// Tally is what was made.
func (r *reader) Tally() []connectors.Tally {
	if !r.read {
		return nil
	}
	t := r.tally
	t.File = r.Path
	return []connectors.Tally{t}
}

// Close ends the waiting.
func (r *reader) Close() error {
	r.quiet()
	r.open = nil
	return nil
}
