package spec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory or data, written with Flink's units: "4 mb".
type Bytes int64

// Duration is a span of time in milliseconds, written with Flink's units: "500 ms", "PT1.5S".
type Duration int64

// ParseBool reads true or false and nothing else: what other YAML readers take for a boolean is
// text here, so the error says what to write.
func ParseBool(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	switch strings.ToLower(s) {
	case "yes", "on", "y", "1", "true":
		return false, errors.New("write true")
	case "no", "off", "n", "0", "false":
		return false, errors.New("write false")
	}
	return false, errors.New("")
}

// ParseInt reads an integer in decimal digits: no underscores, no leading zeros, no 0x.
func ParseInt(s string) (int64, error) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		if strings.ContainsAny(digits, "_ ") && strings.Trim(digits, "0123456789_ ") == "" {
			return 0, errors.New("write the digits without separators")
		}
		return 0, errors.New("")
	}
	if len(digits) > 1 && digits[0] == '0' {
		return 0, errors.New("write it without leading zeros")
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the range is %d to %d", int64(math.MinInt64), int64(math.MaxInt64))
	}
	return n, nil
}

// A unit of size or time with the names Flink knows for it.
type unit struct {
	factor int64
	names  []string
}

func byteUnits() []unit {
	return []unit{
		{1, []string{"b", "bytes"}},
		{1 << 10, []string{"k", "kb", "kibibytes"}},
		{1 << 20, []string{"m", "mb", "mebibytes"}},
		{1 << 30, []string{"g", "gb", "gibibytes"}},
		{1 << 40, []string{"t", "tb", "tebibytes"}},
	}
}

func timeUnits() []unit {
	return []unit{
		{1, []string{"ms", "milli", "millis", "millisecond", "milliseconds"}},
		{1000, []string{"s", "sec", "secs", "second", "seconds"}},
		{60_000, []string{"min", "m", "minute", "minutes"}},
		{3_600_000, []string{"h", "hour", "hours"}},
		{86_400_000, []string{"d", "day", "days"}},
	}
}

// ParseBytes reads a size as Flink does: "64 mb", "64mb", "65536" (bytes). Units are powers of 1024.
func ParseBytes(s string) (int64, error) { return parseUnits(s, byteUnits(), "b, kb, mb, gb or tb") }

// ParseDuration reads a span of time in milliseconds as Flink does: "1 s", "500 ms", "3 min", "2 h",
// "1 d", a bare number (milliseconds), or ISO-8601: "PT1.5S".
func ParseDuration(s string) (int64, error) {
	if len(s) > 1 && (s[0] == 'P' || s[0] == 'p') {
		return parseISODuration(s)
	}
	return parseUnits(s, timeUnits(), "ms, s, min, h or d")
}

func parseUnits(s string, units []unit, known string) (int64, error) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, errors.New("")
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0, errors.New("the number is too large")
	}
	name := strings.ToLower(strings.TrimSpace(s[end:]))
	if name == "" {
		return n, nil
	}
	if name[0] == '.' || name[0] == ',' {
		return 0, errors.New("write a whole number and a smaller unit")
	}
	for _, u := range units {
		for _, known := range u.names {
			if name != known {
				continue
			}
			if n > math.MaxInt64/u.factor {
				return 0, errors.New("the number is too large")
			}
			return n * u.factor, nil
		}
	}
	return 0, fmt.Errorf("%s is not a unit: the units are %s", quote(name), known)
}

// parseISODuration reads PnDTnHnMn.nS to the millisecond.
func parseISODuration(s string) (int64, error) {
	bad := errors.New("an ISO-8601 duration is P, days, T, hours, minutes and seconds: PT1M30S")
	rest := strings.ToUpper(s)[1:]
	inTime, total, parts := false, 0.0, 0
	for rest != "" {
		if rest[0] == 'T' && !inTime {
			inTime, rest = true, rest[1:]
			continue
		}
		end := strings.IndexAny(rest, "DHMS")
		if end <= 0 || strings.Trim(rest[:end], "0123456789.") != "" {
			return 0, bad
		}
		n, err := strconv.ParseFloat(rest[:end], 64)
		factor := map[string]float64{"D": 86_400_000, "TH": 3_600_000, "TM": 60_000, "TS": 1000}[timePrefix(inTime)+rest[end:end+1]]
		if err != nil || factor == 0 || factor != 1000 && strings.Contains(rest[:end], ".") {
			return 0, bad
		}
		total, parts, rest = total+float64(n*factor), parts+1, rest[end+1:]
	}
	if parts == 0 {
		return 0, bad
	}
	if total > 1<<53 {
		return 0, errors.New("the number is too large")
	}
	return int64(math.Round(total)), nil
}

func timePrefix(inTime bool) string {
	if inTime {
		return "T"
	}
	return ""
}

// ParseShare reads a part of the whole: "0.1 %", "5%" or "0.001"; the result is 0 to 1.
func ParseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	number = strings.TrimSpace(number)
	if number == "" || strings.Trim(number, "0123456789.") != "" {
		return 0, errors.New("")
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, errors.New("")
	}
	if percent {
		x /= 100
	}
	if x > 1 {
		return 0, errors.New("more than the whole; the most is 100 %")
	}
	return x, nil
}

// FormatBytes writes a size as Flink's documentation does: "4 mb"; bytes where no unit divides it.
func FormatBytes(n int64) string {
	units := byteUnits()
	for i := len(units) - 1; i > 0; i-- {
		if n != 0 && n%units[i].factor == 0 {
			return fmt.Sprintf("%d %s", n/units[i].factor, units[i].names[1])
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// FormatDuration writes milliseconds in the largest unit that divides them: "5 min".
func FormatDuration(ms int64) string {
	units := timeUnits()
	for i := len(units) - 1; i > 0; i-- {
		if ms != 0 && ms%units[i].factor == 0 {
			return fmt.Sprintf("%d %s", ms/units[i].factor, units[i].names[0])
		}
	}
	return fmt.Sprintf("%d ms", ms)
}
