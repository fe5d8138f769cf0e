package expr

import (
	"fmt"
	"math"
)

// A calendar gives dates of days and remembers some: the days of a batch are mostly few.
type calendar struct {
	date       // of the day asked for last
	zone *Zone // of a TIMESTAMP_LTZ, whose local time is taken; nil for others
	seen [1 << 10]struct {
		days int64
		date date
	}
}

type date struct {
	year       int64
	month, day int
}

func (k *calendar) at(days int64) {
	s := &k.seen[days&(1<<10-1)]
	if s.days != days || s.date.day == 0 {
		s.days = days
		s.date.year, s.date.month, s.date.day = civil(days)
	}
	k.date = s.date
}

// instant is a DATE or TIMESTAMP as days and microseconds of the day, a TIME one of 1970-01-01.
func (v *vec) instant(i int) (days, micros int64) {
	n := v.num(i)
	switch v.t.Kind {
	case Date:
		return n, 0
	case Time:
		return 0, n
	}
	days = floorDiv(n, microsPerDay)
	return days, n - days*microsPerDay
}

// unitOf is the call's unit, its first argument.
func unitOf(nd *node) (string, error) {
	a := nd.e.Args[0]
	if a.Op != OpLiteral || a.Value == nil || a.Value.Null {
		return "", fmt.Errorf("the unit of %s is a literal", nd.e.Name)
	}
	return a.Value.Text, nil
}

// bindExtract is EXTRACT(unit, x).
func bindExtract(nd *node) error {
	unit, err := unitOf(nd)
	if err != nil {
		return err
	}
	k, err := newCalendar(nd.e, 1)
	if err != nil {
		return err
	}
	if unit == UnitEpoch {
		k.zone = nil // seconds are counted in UTC
	}
	f := k.field(unit)
	if f == nil {
		return fmt.Errorf("there is no unit %s to extract", unit)
	}
	nd.run = perRow(func(nd *node, i int) error {
		days, micros := k.instant(nd.in[1], i)
		nd.out.i64[i] = f(days, micros)
		return nil
	})
	return nil
}

func (k *calendar) field(unit string) func(days, micros int64) int64 {
	switch unit {
	case UnitYear:
		return func(d, _ int64) int64 { k.at(d); return k.year }
	case UnitQuarter:
		return func(d, _ int64) int64 { k.at(d); return int64(k.month+2) / 3 }
	case UnitMonth:
		return func(d, _ int64) int64 { k.at(d); return int64(k.month) }
	case UnitDay:
		return func(d, _ int64) int64 { k.at(d); return int64(k.day) }
	case UnitWeek:
		return func(d, _ int64) int64 { return k.week(d) }
	case UnitDOW:
		return func(d, _ int64) int64 { return weekday(d) + 1 }
	case UnitDOY:
		return func(d, _ int64) int64 { k.at(d); return d - daysOf(k.year, 1, 1) + 1 }
	case UnitHour:
		return func(_, t int64) int64 { return t / microsPerHour }
	case UnitMinute:
		return func(_, t int64) int64 { return t / microsPerMinute % 60 }
	case UnitSecond:
		return func(_, t int64) int64 { return t / microsPerSecond % 60 }
	}
	return k.furtherField(unit)
}

// furtherField are the units that dialects rarely have. Centuries and millennia end with the year 100
// and 1000, as in Calcite.
func (k *calendar) furtherField(unit string) func(days, micros int64) int64 {
	era := func(years int64) func(d, _ int64) int64 {
		return func(d, _ int64) int64 {
			k.at(d)
			if k.year > 0 {
				return (k.year + years - 1) / years
			}
			return (k.year - years + 1) / years
		}
	}
	switch unit {
	case UnitISODOW:
		return func(d, _ int64) int64 { return (weekday(d)+6)%7 + 1 }
	case UnitISOYEAR:
		return func(d, _ int64) int64 { k.week(d); return k.year }
	case UnitDecade:
		return func(d, _ int64) int64 { k.at(d); return floorDiv(k.year, 10) }
	case UnitCentury:
		return era(100)
	case UnitMillennium:
		return era(1000)
	case UnitEpoch:
		return func(d, t int64) int64 { return d*(microsPerDay/microsPerSecond) + t/microsPerSecond }
	case UnitMillisecond:
		return func(_, t int64) int64 { return t % microsPerSecond / 1000 }
	case UnitMicrosecond:
		return func(_, t int64) int64 { return t % microsPerSecond }
	}
	return nil
}

// weekday is 0 on Sunday; 1970-01-01 was a Thursday.
func weekday(days int64) int64 {
	w := (days + 4) % 7
	if w < 0 {
		w += 7
	}
	return w
}

// week is the ISO week: the one of its Thursday.
func (k *calendar) week(days int64) int64 {
	thursday := days - (weekday(days)+6)%7 + 3
	k.at(thursday)
	return (thursday-daysOf(k.year, 1, 1))/7 + 1
}

// bindFloorTo is FLOOR_TO(unit, x) and CEIL_TO(unit, x).
func bindFloorTo(nd *node) error {
	unit, err := unitOf(nd)
	if err != nil {
		return err
	}
	k, err := newCalendar(nd.e, 1)
	if err != nil {
		return err
	}
	step, ok := microsIn(unit)
	if !ok && k.first(unit) == nil {
		return fmt.Errorf("there is no unit %s to round to", unit)
	}
	up := nd.e.Name == "CEIL_TO"
	nd.run = perRow(func(nd *node, i int) error {
		d, t := k.instant(nd.in[1], i)
		days, micros := k.floorTo(unit, d, t)
		if up && (days != d || micros != t) {
			days, micros = k.next(unit, days, micros)
		}
		if k.zone != nil && ok && step < microsPerDay { // the offset stays, also where clocks show an hour twice
			v := nd.in[1].num(i)
			return nd.setMicros(i, v, (days-d)*microsPerDay+micros-t)
		}
		return k.set(nd, i, days, micros)
	})
	return nil
}

// newCalendar is for a call whose date or time is an argument.
func newCalendar(e *Expr, arg int) (*calendar, error) {
	k := &calendar{}
	if e.Args[arg].Type.Kind != TimestampLTZ {
		return k, nil
	}
	z, err := LoadZone(e.Zone)
	k.zone = z
	return k, err
}

// instant is a value as days and microseconds of the day, those of the zone if there is one.
func (k *calendar) instant(v *vec, i int) (days, micros int64) {
	if k.zone != nil {
		return k.zone.clock(v.num(i))
	}
	return v.instant(i)
}

// set writes a date or time of the zone, if there is one.
func (k *calendar) set(nd *node, i int, days, micros int64) error {
	if k.zone == nil {
		return nd.setInstant(i, days, micros)
	}
	if local, ok := microsAt(days, micros); ok {
		if v, what := k.zone.instant(local); what != localBeyond {
			nd.out.i64[i] = v
			return nil
		}
	}
	return nd.overflows(i)
}

// setMicros writes a time so far from another.
func (nd *node) setMicros(i int, v, more int64) error {
	sum := v + more
	if (v^sum)&(more^sum) < 0 {
		return nd.overflows(i)
	}
	nd.out.i64[i] = sum
	return nil
}

func (k *calendar) floorTo(unit string, days, micros int64) (int64, int64) {
	if step, ok := microsIn(unit); ok && step < microsPerDay {
		return days, micros - micros%step
	}
	if f := k.first(unit); f != nil {
		days = f(days)
	}
	return days, 0
}

// next is the begin of the unit after the one that begins at an instant.
func (k *calendar) next(unit string, days, micros int64) (int64, int64) {
	if months, ok := monthsIn(unit); ok {
		return k.addMonths(days, months), micros
	}
	step, _ := microsIn(unit)
	micros += step
	return days + micros/microsPerDay, micros % microsPerDay
}

// first gives the first day of the unit a day lies in; nil for units below a week.
func (k *calendar) first(unit string) func(days int64) int64 {
	switch unit {
	case UnitYear:
		return func(d int64) int64 { k.at(d); return daysOf(k.year, 1, 1) }
	case UnitQuarter:
		return func(d int64) int64 { k.at(d); return daysOf(k.year, (k.month-1)/3*3+1, 1) }
	case UnitMonth:
		return func(d int64) int64 { k.at(d); return d - int64(k.day) + 1 }
	case UnitWeek:
		return func(d int64) int64 { return d - weekday(d) }
	}
	return nil
}

// microsIn is the length of a unit that has one.
func microsIn(unit string) (int64, bool) {
	switch unit {
	case UnitMicrosecond:
		return 1, true
	case UnitMillisecond:
		return 1000, true
	case UnitSecond:
		return microsPerSecond, true
	case UnitMinute:
		return microsPerMinute, true
	case UnitHour:
		return microsPerHour, true
	case UnitDay:
		return microsPerDay, true
	case UnitWeek:
		return 7 * microsPerDay, true
	}
	return 0, false
}

// monthsIn is the number of months of a unit that is counted in them.
func monthsIn(unit string) (int64, bool) {
	switch unit {
	case UnitMonth:
		return 1, true
	case UnitQuarter:
		return 3, true
	case UnitYear:
		return 12, true
	}
	return 0, false
}

// setInstant writes a DATE, TIME or TIMESTAMP if the type reaches that far.
func (nd *node) setInstant(i int, days, micros int64) error {
	out := &nd.out
	if out.t.Kind == Date {
		if days != int64(int32(days)) {
			return nd.overflows(i)
		}
		out.i32[i] = int32(days)
		return nil
	}
	v, ok := microsAt(days, micros)
	if !ok || out.t.Kind == Time && days != 0 {
		return nd.overflows(i)
	}
	out.i64[i] = v
	return nil
}

// bindTimestampAdd is TIMESTAMPADD(unit, n, x).
func bindTimestampAdd(nd *node) error {
	unit, err := unitOf(nd)
	if err != nil {
		return err
	}
	k, err := newCalendar(nd.e, 2)
	if err != nil {
		return err
	}
	if months, ok := monthsIn(unit); ok {
		nd.run = perRow(func(nd *node, i int) error {
			days, micros := k.instant(nd.in[2], i)
			n, over := mulLong(nd.in[1].num(i), months)
			if over < 0 || n > 1<<40 || n < -1<<40 {
				return nd.overflows(i)
			}
			return k.set(nd, i, k.addMonths(days, n), micros)
		})
		return nil
	}
	step, ok := microsIn(unit)
	if !ok || nd.e.Args[2].Type.Kind == Date && step < microsPerDay {
		return fmt.Errorf("there is no unit %s to add to %s", unit, nd.e.Args[2].Type)
	}
	nd.run = perRow(func(nd *node, i int) error {
		x, n := nd.in[2], nd.in[1].num(i)
		if x.t.Kind == Date {
			n, over := mulLong(n, step/microsPerDay)
			if over < 0 || n > 1<<40 || n < -1<<40 {
				return nd.overflows(i)
			}
			return nd.setInstant(i, x.num(i)+n, 0)
		}
		if x.t.Kind == Time { // which goes round
			nd.out.i64[i] = modulo(x.num(i)+n%(microsPerDay/step)*step, microsPerDay)
			return nil
		}
		n, over := mulLong(n, step)
		if over < 0 {
			return nd.overflows(i)
		}
		return nd.setMicros(i, x.num(i), n)
	})
	return nil
}

// addMonths cuts the day to the last one of the month it comes to.
func (k *calendar) addMonths(days, n int64) int64 {
	k.at(days)
	m := k.year*12 + int64(k.month-1) + n
	year := floorDiv(m, 12)
	month := int(m-year*12) + 1
	return daysOf(year, month, min(k.day, daysIn(year, month)))
}

// bindTimestampDiff is TIMESTAMPDIFF(unit, a, b): whole units from a to b, cut towards zero.
func bindTimestampDiff(nd *node) error {
	unit, err := unitOf(nd)
	if err != nil {
		return err
	}
	k, err := newCalendar(nd.e, 1)
	if err != nil {
		return err
	}
	months, ok := monthsIn(unit)
	step, known := microsIn(unit)
	if !ok && (!known || nd.e.Args[1].Type.Kind == Date && step < microsPerDay) {
		return fmt.Errorf("there is no unit %s to count %s in", unit, nd.e.Args[1].Type)
	}
	nd.run = perRow(func(nd *node, i int) error {
		a, b := nd.in[1], nd.in[2]
		var n int64
		switch {
		case ok:
			n = k.months(a, b, i) / months
		case a.t.Kind == Date:
			n = (b.num(i) - a.num(i)) / (step / microsPerDay)
		default:
			x, y := a.num(i), b.num(i)
			if d := y - x; (y^x)&(y^d) >= 0 {
				n = d / step
			} else {
				n = math.MaxInt64 // further apart than 64 bits tell is beyond INT in any unit but the longest
				if step >= microsPerDay {
					n = (y/2 - x/2) / (step / 2)
				}
			}
		}
		if n != int64(int32(n)) {
			return nd.overflows(i)
		}
		nd.out.i32[i] = int32(n)
		return nil
	})
	return nil
}

// months counts the whole months from a to b.
func (k *calendar) months(a, b *vec, i int) int64 {
	d1, t1 := k.instant(a, i)
	d2, t2 := k.instant(b, i)
	y1, m1, day1 := civil(d1)
	y2, m2, day2 := civil(d2)
	n := (y2-y1)*12 + int64(m2-m1)
	before := day2 < day1 || day2 == day1 && t2 < t1
	after := day2 > day1 || day2 == day1 && t2 > t1
	switch {
	case n > 0 && before:
		n--
	case n < 0 && after:
		n++
	}
	return n
}
