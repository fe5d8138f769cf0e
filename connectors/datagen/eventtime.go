package datagen

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const microsPerMilli = 1000

// eventTime gives row n the time start + n intervals, less a random part of the disorder.
func (b *bound) eventTime(c expr.Field, f Field) (m maker, err error) {
	if c.Type.Kind.Storage() != expr.Timestamp {
		return m, wrong("kind", "event_time takes a TIMESTAMP or TIMESTAMP_LTZ column, and %s is %s", c.Name, c.Type)
	}
	start, err := timestamp("start", f.Start, "2024-01-01 00:00:00", c.Type)
	if err != nil {
		return m, err
	}
	const longest = math.MaxInt64 / 8 / microsPerMilli // ms
	// The time of row n is start + n * over / under microseconds.
	over, under := int64(microsPerMilli), int64(1)
	switch rate := b.rate(); {
	case f.Interval < 0 || f.Interval > longest:
		return m, wrong("interval", "%s is too long", f.Interval)
	case f.Disorder < 0 || f.Disorder > longest:
		return m, wrong("disorder", "%s is too long", f.Disorder)
	case f.Interval > 0:
		over = int64(f.Interval) * microsPerMilli
	case rate > 0:
		over, under = 1_000_000, rate
	}
	m.end, m.reach, m.width = math.MaxInt64, quotient(math.MaxInt64/2-max(start, 0), under, over), 8
	late := stream(b.Options.Seed, c.Name, "disorder")
	most, grain := uint64(f.Disorder)*microsPerMilli+1, tenTo(6-c.Type.Precision)
	m.make = func(b array.Builder, row int64) {
		t := start + quotient(row, over, under) - int64(at(late, row).below(0, most))
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(floor(t, grain)))
	}
	return m, nil
}

// floor is the largest multiple of grain up to t.
func floor(t, grain int64) int64 {
	over := t % grain
	if over < 0 {
		over += grain
	}
	return t - over
}

// quotient is n * over / under of numbers that are not negative, at most math.MaxInt64.
func quotient(n, over, under int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(over))
	if hi >= uint64(under) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(under))
	return int64(min(q, math.MaxInt64))
}

// rate is rows_per_second, or what stands in for it.
func (b *bound) rate() int64 {
	switch {
	case b.Options.RowsPerSecond != nil:
		return *b.Options.RowsPerSecond
	case b.Options.NumberOfRows == nil && !b.Options.sequenceEnds():
		return defaultRate
	}
	return 0
}

func (o Options) sequenceEnds() bool {
	for _, f := range o.Fields {
		if f.Kind == sequence && f.End != "" {
			return true
		}
	}
	return false
}
