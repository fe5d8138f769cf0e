package expr

import "math"

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// ParseDate reads a DATE as days since 1970-01-01.
func ParseDate(b []byte) (int32, Status) {
	if len(b) == 10 {
		if d, ok := shortDate(b); ok {
			return int32(d), OK
		}
	}
	days, rest, s := parseDate(trim(b))
	if s != OK {
		return 0, s
	}
	if len(rest) > 0 {
		if _, s := parseTime(rest); s != OK {
			return 0, s
		}
	}
	if days != int64(int32(days)) {
		return 0, OutOfRange
	}
	return int32(days), OK
}

// ParseTimestamp reads a TIMESTAMP(precision) as microseconds since 1970-01-01 00:00:00.
func ParseTimestamp(b []byte, precision int) (int64, Status) {
	if len(b) >= 19 && (b[10] == ' ' || b[10] == 'T') && b[13] == ':' && b[16] == ':' {
		if v, ok := shortTimestamp(b, precision); ok {
			return v, OK
		}
	}
	days, rest, s := parseDate(trim(b))
	if s != OK {
		return 0, s
	}
	var t int64
	if len(rest) > 0 {
		if t, s = parseTime(rest); s != OK {
			return 0, s
		}
	}
	v, ok := microsAt(days, t-t%microsOf(precision))
	if !ok {
		return 0, OutOfRange
	}
	return v, OK
}

// microsAt is an instant in microseconds since 1970-01-01 00:00:00, if 64 bits hold it. Neither
// the first nor the last day of that range is a whole one.
func microsAt(days, micros int64) (int64, bool) {
	const most = math.MaxInt64 / microsPerDay
	if days < 0 {
		days, micros = days+1, micros-microsPerDay
	}
	if days < -most || days > most {
		return 0, false
	}
	v := days * microsPerDay
	sum := v + micros
	return sum, (v^sum)&(micros^sum) >= 0
}

// microsOf is the smallest step of TIMESTAMP(precision), in microseconds.
func microsOf(precision int) int64 { return int64(pow10[6-precision]) }

// two reads two digits; 100 and more where they are none.
func two(b []byte) int {
	h, l := uint(b[0]-'0'), uint(b[1]-'0')
	if h > 9 || l > 9 {
		return 100
	}
	return int(h*10 + l)
}

// shortDate reads the 10 bytes yyyy-mm-dd.
func shortDate(b []byte) (int64, bool) {
	_ = b[9]
	c, y, m, d := two(b), two(b[2:]), two(b[5:]), two(b[8:])
	if b[4] != '-' || b[7] != '-' || c > 99 || y > 99 || m < 1 || m > 12 || d < 1 {
		return 0, false
	}
	y += c * 100
	if d > 28 && d > daysIn(int64(y), m) {
		return 0, false
	}
	return daysOf(int64(y), m, d), true
}

// shortTimestamp reads yyyy-mm-dd hh:mm:ss with a fraction or without.
func shortTimestamp(b []byte, precision int) (int64, bool) {
	days, ok := shortDate(b)
	h, m, s := two(b[11:]), two(b[14:]), two(b[17:])
	if !ok || h > 23 || m > 59 || s > 59 {
		return 0, false
	}
	micros := int64(0)
	if len(b) > 19 {
		if b[19] != '.' || len(b) == 20 || len(b) > 26 {
			return 0, false
		}
		for _, c := range b[20:] {
			d := int64(c) - '0'
			if d < 0 || d > 9 {
				return 0, false
			}
			micros = micros*10 + d
		}
		micros *= int64(pow10[26-len(b)])
		micros -= micros % microsOf(precision)
	}
	return days*microsPerDay + int64(h*3600+m*60+s)*microsPerSecond + micros, true
}

// parseDate reads a date in any of its forms and gives what follows it.
func parseDate(b []byte) (days int64, rest []byte, s Status) {
	if len(b) == 0 {
		return 0, nil, Empty
	}
	b, neg := sign(b)
	n := run(b)
	if n < 4 || n > 9 || len(b) <= n || b[n] != '-' {
		return 0, nil, Malformed
	}
	var year int64
	for _, c := range b[:n] {
		year = year*10 + int64(c-'0')
	}
	month, b, ok := short(b[n+1:])
	if !ok || len(b) == 0 || b[0] != '-' {
		return 0, nil, Malformed
	}
	day, b, ok := short(b[1:])
	if !ok {
		return 0, nil, Malformed
	}
	if len(b) > 4 && string(b[len(b)-5:]) == " (BC)" {
		if neg || year == 0 {
			return 0, nil, Malformed
		}
		b = b[:len(b)-5]
		year = 1 - year
	}
	if neg {
		year = -year
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, nil, OutOfRange
	}
	return daysOf(year, month, day), b, OK
}

// short reads a number of one or two digits.
func short(b []byte) (int, []byte, bool) {
	n := run(b)
	if n < 1 || n > 2 {
		return 0, b, false
	}
	v := int(b[0] - '0')
	if n == 2 {
		v = v*10 + int(b[1]-'0')
	}
	return v, b[n:], true
}

// parseTime reads what follows a date: a space or T and hh:mm[:ss[.fraction]], as microseconds.
func parseTime(b []byte) (int64, Status) {
	if b[0] != ' ' && b[0] != 'T' {
		if zone(b) {
			return 0, Zoned
		}
		return 0, Malformed
	}
	micros, rest, s := parseClock(b[1:])
	switch {
	case s != OK:
		return 0, s
	case len(rest) > 0 && zone(rest):
		return 0, Zoned
	case len(rest) > 0:
		return 0, Malformed
	}
	return micros, OK
}

// parseClock reads hh:mm[:ss[.fraction]] as microseconds and gives what follows it.
func parseClock(b []byte) (int64, []byte, Status) {
	h, b, ok := short(b)
	if !ok || len(b) == 0 || b[0] != ':' {
		return 0, nil, Malformed
	}
	m, b, ok := short(b[1:])
	if !ok {
		return 0, nil, Malformed
	}
	sec, micros := 0, int64(0)
	if len(b) > 0 && b[0] == ':' {
		if sec, b, ok = short(b[1:]); !ok {
			return 0, nil, Malformed
		}
		if len(b) > 0 && b[0] == '.' {
			n := run(b[1:])
			for i := range 6 {
				micros *= 10
				if i < n {
					micros += int64(b[1+i] - '0')
				}
			}
			b = b[1+n:]
		}
	}
	if h > 23 || m > 59 || sec > 59 {
		return 0, nil, OutOfRange
	}
	return int64(h*3600+m*60+sec)*microsPerSecond + micros, b, OK
}

// zone reports whether a text looks like a zone: Z, an offset, a region or an abbreviation.
func zone(b []byte) bool {
	b = trim(b)
	if len(b) == 0 {
		return false
	}
	if b[0] == '+' || b[0] == '-' {
		return run(b[1:]) > 0
	}
	upper, slash := true, false
	for _, c := range b {
		if l := c | 0x20; (l < 'a' || l > 'z') && c != '/' && c != '_' {
			return false
		}
		upper = upper && c < 'a'
		slash = slash || c == '/'
	}
	return slash || upper && len(b) <= 5 || equalFold(b, "z")
}

// daysIn is the number of days of a month.
func daysIn(year int64, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysOf counts the days from 1970-01-01 to a date of the proleptic Gregorian calendar. Years are
// taken from March, so that the leap day is the last one, and in eras of 400 years.
func daysOf(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	y := year - era*400
	inYear := int64(153*(month-3)+2)/5 + int64(day) - 1
	return era*146097 + y*365 + y/4 - y/100 + inYear - 719468
}

// civil is the date of a count of days since 1970-01-01.
func civil(days int64) (year int64, month, day int) {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	d := z - era*146097
	y := (d - d/1460 + d/36524 - d/146096) / 365
	inYear := d - (365*y + y/4 - y/100)
	m := (5*inYear + 2) / 153
	day = int(inYear-(153*m+2)/5) + 1
	month = int(m) + 3
	year = y + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}
