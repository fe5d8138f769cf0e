package expr

import (
	"math"
	"time"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// A Zone tells the local time of instants and back. It remembers the stretch of time it was asked for
// last, and belongs to one goroutine.
type Zone struct {
	loc      *time.Location
	from, to int64 // the offset holds in [from, to), microseconds since 1970-01-01 00:00:00 UTC
	offset   int64 // microseconds east of UTC
}

// LoadZone finds a zone by the name that [spec.ParseZone] reads; "" is UTC.
func LoadZone(name string) (*Zone, error) {
	if name == "" {
		name = "UTC"
	}
	loc, err := spec.ParseZone(name)
	if err != nil {
		return nil, err
	}
	return &Zone{loc: loc, from: math.MaxInt64}, nil
}

// parseOffset reads ±hh, ±hhmm, ±hh:mm or ±hh:mm:ss, at most 18 hours, in microseconds.
func parseOffset(b []byte) (int64, bool) {
	digits, neg := sign(b)
	if len(digits) == len(b) {
		return 0, false
	}
	var parts [3]int
	n := 0
	for rest := digits; ; n++ {
		if n == len(parts) || len(rest) < 2 || two(rest) > 59 {
			return 0, false
		}
		parts[n] = two(rest)
		if rest = rest[2:]; len(rest) == 0 {
			break
		}
		if rest[0] == ':' {
			rest = rest[1:]
		} else if len(digits) != 4 {
			return 0, false
		}
	}
	seconds := int64(parts[0]*3600 + parts[1]*60 + parts[2])
	if seconds > 18*3600 {
		return 0, false
	}
	if neg {
		seconds = -seconds
	}
	return seconds * microsPerSecond, true
}

// at is the offset at an instant.
func (z *Zone) at(micros int64) int64 {
	if micros >= z.from && micros < z.to {
		return z.offset
	}
	t := time.UnixMicro(micros).In(z.loc)
	_, seconds := t.Zone()
	begin, end := t.ZoneBounds()
	z.from, z.to, z.offset = math.MinInt64, math.MaxInt64, int64(seconds)*microsPerSecond
	if !begin.IsZero() {
		z.from = bounded(begin)
	}
	if !end.IsZero() {
		z.to = bounded(end)
	}
	return z.offset
}

// bounded is a time in microseconds, the last or first that 64 bits hold where it lies beyond.
func bounded(t time.Time) int64 {
	const most = math.MaxInt64 / microsPerSecond
	switch s := t.Unix(); {
	case s >= most:
		return math.MaxInt64
	case s <= -most:
		return math.MinInt64
	}
	return t.UnixMicro()
}

// clock is the local date and time of an instant: days since 1970-01-01 and microseconds of the day.
func (z *Zone) clock(micros int64) (days, ofDay int64) {
	days = floorDiv(micros, microsPerDay)
	ofDay = micros - days*microsPerDay + z.at(micros)
	more := floorDiv(ofDay, microsPerDay)
	return days + more, ofDay - more*microsPerDay
}

// A localTime says what a local time is in a zone.
type localTime uint8

const (
	localOnce    localTime = iota // or twice, of which the first is taken
	localSkipped                  // there is none: clocks were put forward
	localBeyond                   // outside of what 64 bits of microseconds hold
)

// instant is the instant of a local time in microseconds since 1970-01-01 00:00:00. Of two the
// earlier one is taken; a time that clocks skip is moved on by what they skip. Both as in Java.
func (z *Zone) instant(local int64) (int64, localTime) {
	const most = 26 * microsPerHour // beyond every offset, and what clocks are ever put on by
	if local < math.MinInt64+most || local > math.MaxInt64-most {
		v := local - z.at(local)
		if (v < local) != (z.at(local) > 0) && v != local {
			return 0, localBeyond
		}
		return v, localOnce
	}
	skipped := int64(math.MinInt64)
	for t := local - most; t <= local+most; {
		offset := z.at(t)
		t = max(z.to, t+microsPerHour) // bounds may be short at the end of a year that has no rules of its own
		v := local - offset
		if z.at(v) == offset {
			return v, localOnce
		}
		skipped = max(skipped, v) // by the offset before clocks were put forward
	}
	return skipped, localSkipped
}
