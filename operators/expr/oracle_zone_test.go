package expr_test

import (
	"encoding/base64"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Further values of the oracle: TIME, TIMESTAMP_LTZ and BYTES.
type (
	clock   int64  // microseconds of the day
	instant int64  // microseconds since 1970-01-01 00:00:00 UTC
	blob    string // bytes
)

// locations keeps zones that were read once.
var locations sync.Map

func location(zone string) *time.Location {
	if l, ok := locations.Load(zone); ok {
		return l.(*time.Location)
	}
	l := readLocation(zone)
	locations.Store(zone, l)
	return l
}

func readLocation(zone string) *time.Location {
	for _, fixed := range regexp.MustCompile(`^(?:GMT)?([+-])(\d\d):(\d\d)$`).FindAllStringSubmatch(zone, -1) {
		h, _ := strconv.Atoi(fixed[2])
		m, _ := strconv.Atoi(fixed[3])
		if fixed[1] == "-" {
			h, m = -h, -m
		}
		return time.FixedZone(zone, h*3600+m*60)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return loc
}

// wall is the local date and time of an instant, as if it were one of UTC.
func wall(v instant, zone string) time.Time {
	t := time.UnixMicro(int64(v)).In(location(zone))
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instantsOf tries every offset that the zone has within two days of a local time: the instants at which
// clocks show it, and the one it would be with the least of the offsets.
func instantsOf(local stamp, zone string) (at []*big.Int, moved *big.Int) {
	offsets := map[int]bool{}
	for h := -50; h <= 50; h += 2 {
		_, o := goTime(local).Add(time.Duration(h) * time.Hour).In(location(zone)).Zone()
		offsets[o] = true
	}
	for o := range offsets {
		u := new(big.Int).Sub(big.NewInt(int64(local)), big.NewInt(int64(o)*1e6))
		if moved == nil || u.Cmp(moved) > 0 {
			moved = u
		}
		if t := time.UnixMicro(int64(local)).Add(-time.Duration(o) * time.Second); wallEquals(t, local, zone) {
			at = append(at, u)
		}
	}
	return at, moved
}

func wallEquals(t time.Time, local stamp, zone string) bool {
	l := t.In(location(zone))
	w := time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
	return w.Equal(goTime(local))
}

// toInstant is the instant of a local time; strict says that one which clocks skip is none.
func toInstant(local stamp, zone string, strict bool) any {
	at, u := instantsOf(local, zone)
	if len(at) > 0 {
		u = slices.MinFunc(at, func(a, b *big.Int) int { return a.Cmp(b) })
	} else if strict {
		panic(raised("CastError"))
	}
	if !u.IsInt64() {
		panic(raised("CastError"))
	}
	return instant(u.Int64())
}

func cut(n int64, precision int) int64 {
	step := int64(math.Pow10(6 - precision))
	return n - (n%step+step)%step
}

// castIn is castTo with the session's zone, and for the further types.
func castIn(zone string, v any, from, to expr.Type) any {
	switch x := v.(type) {
	case clock:
		switch to.Kind {
		case expr.String:
			return textOf(x, from)
		case expr.Time:
			return clock(cut(int64(x), to.Precision))
		case expr.TimestampLTZ:
			return toInstant(stamp(cut(int64(x), to.Precision)), zone, false)
		}
		return stamp(cut(int64(x), to.Precision))
	case blob:
		if to.Kind == expr.String {
			if !utf8.ValidString(string(x)) {
				panic(raised("CastError"))
			}
			return string(x)
		}
		return x
	case instant:
		if to.Kind == expr.TimestampLTZ {
			return instant(cut(int64(x), to.Precision))
		}
		return castWall(wall(x, zone), from, to)
	case string:
		switch to.Kind {
		case expr.Bytes:
			return blob(x)
		case expr.Time, expr.TimestampLTZ:
			return fromFurtherText(x, to, zone)
		}
	case date:
		if to.Kind == expr.TimestampLTZ {
			return toInstant(castTo(v, from, expr.TimestampOf(0)).(stamp), zone, false)
		}
	case stamp:
		switch to.Kind {
		case expr.Time:
			t := goTime(x)
			return clock(cut(int64(t.Hour()*3600+t.Minute()*60+t.Second())*1e6+int64(t.Nanosecond()/1000), to.Precision))
		case expr.TimestampLTZ:
			return toInstant(stamp(cut(int64(x), to.Precision)), zone, false)
		}
	}
	return castTo(v, from, to)
}

// castWall casts a local time as it stands.
func castWall(t time.Time, from, to expr.Type) any {
	switch to.Kind {
	case expr.String:
		return stampText(t, from.Precision)
	case expr.Date:
		return fromTime(t, to)
	case expr.Time:
		return clock(cut(int64(t.Hour()*3600+t.Minute()*60+t.Second())*1e6+int64(t.Nanosecond()/1000), to.Precision))
	}
	step := int(math.Pow10(9 - to.Precision))
	return fromTimeAs(t.Add(-time.Duration(t.Nanosecond()%step)), to)
}

func stampText(t time.Time, precision int) string {
	layout := "-01-02 15:04:05"
	if precision > 0 {
		layout += "." + strings.Repeat("0", precision)
	}
	return yearText(t) + t.Format(layout)
}

var (
	clockText  = regexp.MustCompile(`^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?$`)
	namedZone  = regexp.MustCompile(`(?i)^(.*?)[\x00- ]*(?:Z|UTC|GMT)$`)
	offsetZone = regexp.MustCompile(`^([^:]*:[^+-]*?)[\x00- ]*([+-])(\d\d)(?::?(\d\d))?(?::(\d\d))?$`)
)

func fromFurtherText(s string, to expr.Type, zone string) any {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	bad := raised("CastError")
	if to.Kind == expr.Time {
		m := clockText.FindStringSubmatch(s)
		if m == nil {
			panic(bad)
		}
		at := func(i int) int64 { n, _ := strconv.ParseInt(m[i], 10, 64); return n }
		frac, _ := strconv.ParseInt((m[4] + "000000")[:6], 10, 64)
		if at(1) > 23 || at(2) > 59 || at(3) > 59 {
			panic(bad)
		}
		return clock(cut((at(1)*3600+at(2)*60+at(3))*1e6+frac, to.Precision))
	}
	local := func(text string) stamp { return fromTimeText(text, expr.TimestampOf(to.Precision)).(stamp) }
	offset := int64(0)
	if m := namedZone.FindStringSubmatch(s); m != nil {
		s = m[1]
	} else if m := offsetZone.FindStringSubmatch(s); m != nil && !(m[5] != "" && !strings.Contains(s, m[3]+":"+m[4]+":"+m[5])) {
		n := func(i int) int64 { v, _ := strconv.ParseInt("0"+m[i], 10, 64); return v }
		offset = (n(3)*3600 + n(4)*60 + n(5)) * 1e6
		if offset > 18*3600e6 || n(4) > 59 || n(5) > 59 {
			panic(bad)
		}
		if m[2] == "-" {
			offset = -offset
		}
		s = m[1]
	} else {
		return toInstant(local(s), zone, true)
	}
	u := new(big.Int).Sub(big.NewInt(int64(local(s))), big.NewInt(offset))
	if !u.IsInt64() {
		panic(bad)
	}
	return instant(u.Int64())
}

// temporalIn computes with the local time of a TIMESTAMP_LTZ, and with a TIME on the first day.
func temporalIn(e *expr.Expr, a []any) any {
	unit := a[0].(string)
	short := strings.Contains(" HOUR MINUTE SECOND MILLISECOND MICROSECOND ", " "+unit+" ")
	months := map[string]bool{"MONTH": true, "QUARTER": true, "YEAR": true}[unit]
	switch x := a[len(a)-1].(type) {
	case clock:
		if e.Name == "TIMESTAMPADD" {
			day := big.NewInt(86400e6)
			n := new(big.Int).Mul(a[1].(*big.Int), big.NewInt(unitMicros[unit]))
			return clock(n.Mod(n.Add(n, big.NewInt(int64(x))), day).Int64())
		}
		v := temporal(e, append(slices.Clone(a[:len(a)-1]), stamp(x)))
		if c, ok := v.(clock); ok && c >= 86400e6 {
			panic(raised("Overflow"))
		}
		return v
	case instant:
		switch {
		case e.Name == "TIMESTAMPDIFF" && months:
			return timeDiffOf(unit, wall(a[1].(instant), e.Zone), wall(x, e.Zone))
		case e.Name == "EXTRACT" && unit != "EPOCH":
			return big.NewInt(extract(unit, wall(x, e.Zone)))
		case e.Name == "TIMESTAMPADD" && months:
			return backTo(addTime(unit, a[1].(*big.Int).Int64(), wall(x, e.Zone)), e.Zone)
		case e.Name == "FLOOR_TO" || e.Name == "CEIL_TO":
			return roundedInstant(e, unit, x, short)
		}
	}
	return temporal(e, a)
}

var unitMicros = map[string]int64{"HOUR": 3600e6, "MINUTE": 60e6, "SECOND": 1e6, "MILLISECOND": 1e3, "MICROSECOND": 1}

func roundedInstant(e *expr.Expr, unit string, x instant, short bool) any {
	w := wall(x, e.Zone)
	to := floorTime(unit, w)
	if e.Name == "CEIL_TO" && !to.Equal(w) {
		to = addTime(unit, 1, to)
	}
	if !short {
		return backTo(to, e.Zone)
	}
	return fromTime(time.UnixMicro(int64(x)).UTC().Add(to.Sub(w)), e.Type)
}

// backTo is the instant of a local time, or an overflow.
func backTo(w time.Time, zone string) any {
	local := fromTime(w, expr.TimestampOf(6)).(stamp)
	v, class := attempt(func() any { return toInstant(local, zone, false) })
	if class != "" {
		panic(raised("Overflow"))
	}
	return v
}

// shownFurther is how files have the further types; ok is false for others.
func shownFurther(v any, t expr.Type) (s string, ok bool) {
	switch x := v.(type) {
	case float64:
		bits := 64
		if t.Kind == expr.Float {
			bits = 32
		}
		return fileDouble(x, bits), true
	case instant:
		return stampText(goTime(stamp(x)), t.Precision) + "Z", true
	case blob:
		return base64.StdEncoding.EncodeToString([]byte(x)), true
	}
	return "", false
}

// fileDouble is a DOUBLE as files have it: plain from 0.0001 to below 1E16.
func fileDouble(x float64, bits int) string {
	if a := math.Abs(x); a >= 1e-4 && a < 1e16 {
		s := strconv.FormatFloat(x, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	if s := doubleTextOf(x, bits); x == 0 || strings.ContainsAny(s, "Iy") || s == "NaN" {
		return s
	}
	return strconv.FormatFloat(x, 'e', -1, bits)
}
