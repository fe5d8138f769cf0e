// # Texts of values
//
// The Parse functions are what CAST(… AS …) and the readers of text formats use, so a text means the
// same everywhere. The rules:
//
//	blanks      bytes up to U+0020 around a value are cut off, as Flink's CAST does; what is
//	            empty after that is Empty (a reader decides before whether an empty field is NULL)
//	INT, BIGINT (and TINYINT, SMALLINT) an optional sign and decimal digits. "3.0" is a Fraction, an error: nothing is
//	            dropped without a word (Flink would give 3). "1e3" is Malformed
//	DECIMAL     an optional sign, digits with at most one point, an optional exponent. More digits
//	            than the scale are rounded half away from zero, as Flink does; more digits before
//	            the point than precision - scale are OutOfRange
//	DOUBLE      as DECIMAL ("1.", ".097", "1e3"), and NaN, Infinity, Inf with a sign and in any case;
//	            the nearest double; beyond the largest one is OutOfRange. No hexadecimal, no
//	            underscores, no suffixes
//	FLOAT       as DOUBLE, the nearest value that 32 bits hold
//	BOOLEAN     true t yes y 1 and false f no n 0, in any case
//	DATE        yyyy-mm-dd of the proleptic Gregorian calendar within 32-bit days; year of 4 or more
//	            digits with an optional sign (year 0 is 1 BC) or "(BC)" at the end, month and day
//	            of 1 or 2. A timestamp's text is taken for its date part, as Flink does
//	TIMESTAMP   a date, then a space or T, hh:mm, :ss and .fraction, each of the later parts optional;
//	            a date alone is midnight; digits beyond the precision are cut off, as Flink does.
//	            A zone (Z, +02:00, UTC) is Zoned, an error: an instant is a TIMESTAMP_LTZ
//	TIMESTAMP_LTZ as TIMESTAMP, a local time of a zone that is known otherwise, or with Z, UTC, GMT or an
//	            offset at the end, of which it is that instant. Of two instants with one local time (clocks put back) it is
//	            the earlier; a local time that clocks skip is Skipped, an error
//	TIME        hh:mm[:ss[.fraction]] with parts of 1 or 2 digits; digits beyond the precision are cut off
//	BYTES       base64 with its padding, as Flink's formats have it
//
// A date or time that does not exist (2021-02-30, 25:00) is OutOfRange.
//
// CAST to STRING writes what Append does, with exceptions where Flink's texts differ from what stands in files:
// BOOLEAN becomes TRUE or FALSE; DOUBLE and FLOAT are Java's (1.0E20); a TIMESTAMP_LTZ is its local time
// in the session's zone, where files have the one of UTC and a Z. CAST between STRING and BYTES is UTF-8.
//
// The Append functions write texts that Parse reads back to the same value: DECIMAL with all digits
// of its scale, TIMESTAMP with all digits of its precision, DATE with 4 or more digits of year and a
// minus before year 0, DOUBLE with the fewest digits that give the same value, always with a point or
// an exponent, which appears below 1e-4 and from 1e16.
package expr

import "fmt"

// A Status says what a text is for the type it is read as.
type Status uint8

// The statuses.
const (
	OK Status = iota
	Empty
	Malformed
	OutOfRange
	Fraction // digits after a point where an integer is wanted
	Zoned    // a zone where a TIMESTAMP has none
	Skipped  // a local time that the zone's clocks skip
	NotUTF8  // bytes that are no text
)

// Cause is the status as the end of a sentence about a text and a type.
func (s Status) Cause(t Type) string {
	switch s {
	case OK:
		return "fits"
	case Empty:
		return "it is empty"
	case OutOfRange:
		return rangeText(t)
	case Fraction:
		return "it has a fraction; write DOUBLE or DECIMAL and round it"
	case Zoned:
		return "it has a time zone and " + kindOf(t) + " has none"
	case Skipped:
		return "clocks in the zone skip that time"
	case NotUTF8:
		return "its bytes are no UTF-8"
	}
	return formatText(t)
}

func kindOf(t Type) string {
	if t.Kind == Time {
		return "TIME"
	}
	return "TIMESTAMP"
}

func rangeText(t Type) string {
	switch t.Kind {
	case TinyInt, SmallInt:
		least, most := t.wholeRange()
		return fmt.Sprintf("the range is %d to %d", least, most)
	case Int:
		return "the range is -2147483648 to 2147483647"
	case BigInt:
		return "the range is -9223372036854775808 to 9223372036854775807"
	case Decimal:
		return fmt.Sprintf("at most %d digits fit before the point", t.Precision-t.Scale)
	case Date, Time, Timestamp, TimestampLTZ:
		return "there is no such date or time in the calendar, or it is too far away"
	}
	return "it is out of range"
}

func formatText(t Type) string {
	switch t.Kind {
	case TinyInt, SmallInt, Int, BigInt:
		return "expected digits with an optional sign"
	case Decimal, Float, Double:
		return "expected a number such as -12.50"
	case Boolean:
		return "expected true or false, yes or no, 1 or 0"
	case Date:
		return "expected yyyy-mm-dd"
	case Time:
		return "expected hh:mm:ss"
	case Timestamp:
		return "expected yyyy-mm-dd hh:mm:ss"
	case TimestampLTZ:
		return "expected yyyy-mm-dd hh:mm:ss, with an offset or Z after it or without"
	case Bytes:
		return "expected base64"
	}
	return "it is malformed"
}

// trim cuts blanks off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// sign cuts a sign off.
func sign(b []byte) (rest []byte, negative bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return b[1:], b[0] == '-'
	}
	return b, false
}
