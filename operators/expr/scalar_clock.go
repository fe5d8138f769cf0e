package expr

import "encoding/base64"

// ParseTime reads a TIME(precision) as microseconds of the day.
func ParseTime(b []byte, precision int) (int64, Status) {
	b = trim(b)
	if len(b) == 0 {
		return 0, Empty
	}
	t, rest, s := parseClock(b)
	switch {
	case s != OK:
		return 0, s
	case len(rest) > 0 && zone(rest):
		return 0, Zoned
	case len(rest) > 0:
		return 0, Malformed
	}
	return t - t%microsOf(precision), OK
}

// AppendTime writes the TIME(precision) of microseconds of the day, with all digits of the precision.
func AppendTime(dst []byte, micros int64, precision int) []byte {
	dst = append(appendTwo(dst, int(micros/microsPerHour)), ':')
	dst = append(appendTwo(dst, int(micros/microsPerMinute%60)), ':')
	dst = appendTwo(dst, int(micros/microsPerSecond%60))
	if precision == 0 {
		return dst
	}
	dst = append(dst, '.')
	f := micros % microsPerSecond / microsOf(precision)
	for i := precision - 1; i >= 0; i-- {
		dst = append(dst, '0'+byte(f/int64(pow10[i])%10))
	}
	return dst
}

// ParseTimestampLTZ reads a TIMESTAMP_LTZ(precision) as microseconds since 1970-01-01 00:00:00 UTC. A text
// that ends with Z, UTC, GMT or an offset is that instant; another one is a local time of the zone, the
// earlier instant where clocks show it twice, and Skipped where they never do.
func ParseTimestampLTZ(b []byte, precision int, z *Zone) (int64, Status) {
	b = trim(b)
	text, offset, fixed := cutZone(b)
	v, s := ParseTimestamp(text, precision)
	if s != OK {
		return 0, s
	}
	if !fixed {
		at, what := z.instant(v)
		switch what {
		case localSkipped:
			return 0, Skipped
		case localBeyond:
			return 0, OutOfRange
		}
		return at, OK
	}
	at := v - offset
	if (v^offset)&(v^at) < 0 {
		return 0, OutOfRange
	}
	return at, OK
}

// cutZone takes Z, UTC, GMT or an offset off the end of a timestamp's text.
func cutZone(b []byte) (text []byte, offset int64, ok bool) {
	n := len(b)
	if n > 0 && b[n-1]|0x20 == 'z' {
		return trim(b[:n-1]), 0, true
	}
	if n > 3 && (equalFold(b[n-3:], "utc") || equalFold(b[n-3:], "gmt")) {
		return trim(b[:n-3]), 0, true
	}
	// An offset follows a time of day, whose colon tells it from a date's minus.
	colon := false
	for i, c := range b {
		colon = colon || c == ':'
		if colon && (c == '+' || c == '-') {
			if offset, ok = parseOffset(b[i:]); !ok {
				return b, 0, false
			}
			return trim(b[:i]), offset, true
		}
	}
	return b, 0, false
}

// AppendTimestampLTZ writes the TIMESTAMP_LTZ(precision) of microseconds since 1970-01-01 00:00:00 UTC
// as its date and time in UTC with a Z after it, which every reader takes for the same instant.
func AppendTimestampLTZ(dst []byte, micros int64, precision int) []byte {
	return append(AppendTimestamp(dst, micros, precision), 'Z')
}

// appendLocal writes an instant's date and time in a zone, as CAST to STRING does.
func appendLocal(dst []byte, micros int64, precision int, z *Zone) []byte {
	days, t := z.clock(micros)
	return AppendTime(append(appendDate(dst, days), ' '), t, precision)
}

// ParseBytes reads base64 with its padding.
func ParseBytes(b []byte) ([]byte, Status) {
	b = trim(b)
	out := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Strict().Decode(out, b)
	if err != nil {
		return nil, Malformed
	}
	return out[:n], OK
}

// AppendBytes writes BYTES as base64 with its padding.
func AppendBytes(dst, v []byte) []byte { return base64.StdEncoding.AppendEncode(dst, v) }
