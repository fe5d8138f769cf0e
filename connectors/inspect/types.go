package inspect

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A shape is what a value looks like; a column has the shape that fits all its values.
type shape struct {
	values, empty int
	text          string // the first value that is no number, date or truth value
	textLine      int64
	code          string // the first whole number with leading zeros or a plus sign
	codeLine      int64

	bools, whole, point, comma, commaExp, group, groupComma, exp int  // how many values look so
	digits, scale                                                int  // most before and behind the decimal mark
	dots                                                         bool // a number with a decimal comma has points too
	iso, isoTime, zoned                                          int
	zones                                                        map[string]int64 // and the line each was seen first; "" is none
	commaLine                                                    int64            // of the first number with a decimal comma
	blankLine                                                    int64            // of the first value with a blank at its edge
	precision                                                    int              // most digits of a second's fraction
	formats                                                      []int
	nulls                                                        map[string]int
}

// A judge looks at values.
type judge struct {
	comma, commaExp, group, groupComma, exp, code, zoned *regexp.Regexp
	formats                                              []func([]byte) bool
	names                                                []string // of formats
}

func newJudge() (*judge, error) {
	j := &judge{
		comma:      regexp.MustCompile(`^-?(\d+|\d{1,3}(?:\.\d{3})+),(\d+)$`),
		commaExp:   regexp.MustCompile(`^[+-]?\d+,\d+[eE][+-]?\d+$`),
		group:      regexp.MustCompile(`^-?\d{1,3}(?:\.\d{3})+$`),
		groupComma: regexp.MustCompile(`^-?\d{1,3}(?:,\d{3})+(?:\.(\d+))?$`),
		exp:        regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^-?(NaN|Infinity|inf)$`),
		code:       regexp.MustCompile(`^(-?0\d+|\+\d+)$`),
		zoned:      regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d(:?\d\d)?)$`),
	}
	j.names = columntext.DateFormats()
	for _, f := range j.names {
		m, err := csv.Matches(f)
		if err != nil {
			return nil, err
		}
		j.formats = append(j.formats, m)
	}
	return j, nil
}

// add looks at a value.
func (j *judge) add(s *shape, b []byte, quoted bool, line int64) {
	if len(b) == 0 {
		s.empty++
		return
	}
	v := string(b)
	if !quoted && slices.Contains(columntext.NullWords(), v) {
		if s.nulls == nil {
			s.nulls = map[string]int{}
		}
		s.nulls[v]++
		return
	}
	s.values++
	if s.formats == nil {
		s.formats = make([]int, len(j.formats))
	}
	if s.blankLine == 0 && !quoted && (blank(b[0]) || blank(b[len(b)-1])) {
		s.blankLine = max(line, 1)
	}
	if j.times(s, b, v, line) {
		return
	}
	switch {
	case j.code.MatchString(v):
		if s.code == "" {
			s.code, s.codeLine = v, line
		}
	case j.numbers(s, v):
		if s.comma == 1 && s.commaLine == 0 {
			s.commaLine = line
		}
	case strings.EqualFold(v, "true") || strings.EqualFold(v, "false"):
		s.bools++
	default:
		if s.text == "" {
			s.text, s.textLine = v, line
		}
	}
}

// numbers notes how a number is written; it may be so in several ways.
func (j *judge) numbers(s *shape, v string) bool {
	hit := false
	note := func(whole, frac string) {
		hit = true
		s.digits = max(s.digits, len(whole)-strings.Count(whole, ".")-strings.Count(whole, ","))
		s.scale = max(s.scale, len(frac))
	}
	if whole, frac, ok := plainNumber(v); ok {
		note(whole, frac)
		if frac != "" {
			s.point++
		} else {
			s.whole++
		}
	}
	if comma := strings.IndexByte(v, ','); comma < 0 && hit && strings.IndexByte(v, '.') != len(v)-4 {
		s.exp++ // a plain number, with which nothing else can be meant
		return true
	}
	if m := j.comma.FindStringSubmatch(v); m != nil {
		note(m[1], m[2])
		s.comma++
		s.dots = s.dots || strings.Contains(m[1], ".")
	}
	if j.group.MatchString(v) {
		hit = true
		s.group++
	}
	if m := j.groupComma.FindStringSubmatch(v); m != nil {
		note(strings.TrimSuffix(v, "."+m[1]), m[1])
		s.groupComma++
	}
	if j.exp.MatchString(v) {
		hit = true
		s.exp++
	}
	if j.commaExp.MatchString(v) {
		hit = true
		s.commaExp++
	}
	return hit
}

// plainNumber takes a number of digits with a point, or without one, apart.
func plainNumber(v string) (whole, frac string, ok bool) {
	whole, frac, point := strings.Cut(strings.TrimPrefix(v, "-"), ".")
	for _, c := range []byte(whole + frac) {
		if c < '0' || c > '9' {
			return "", "", false
		}
	}
	return whole, frac, whole != "" && (frac != "" || !point)
}

// times notes how a date or time is written. Every value is tried with every format that fitted all
// values before it.
func (j *judge) times(s *shape, b []byte, v string, line int64) bool {
	hit := false
	if len(b) >= 8 && len(b) <= 40 && bytes.ContainsAny(b, "/.-") && b[0] >= '0' && b[0] <= '9' || len(b) >= 6 && bytes.ContainsAny(b, "/.-") && b[0] >= '0' && b[0] <= '9' {
		for k, m := range j.formats {
			if s.formats[k] == s.values-1 && m(b) {
				s.formats[k]++
				hit = hit || j.names[k] != "yyyyMMdd"
			}
		}
	}
	if len(b) < 10 || b[4] != '-' {
		return hit
	}
	// An offset ends in Z or a digit, and its sign stands behind the time.
	if m := j.zoned.FindStringSubmatch(v[:len(v)*ends(b)]); m != nil {
		s.zoned++
		s.zone(m[3], line)
		hit = true
	} else if _, st := expr.ParseTimestamp(b, 6); st == expr.OK {
		hit = true
		if s.iso++; len(b) > 10 {
			s.isoTime++
			s.zone("", line)
		}
	}
	if k := strings.IndexByte(v, '.'); hit && k > 0 {
		n := 0
		for k+1+n < len(v) && v[k+1+n] >= '0' && v[k+1+n] <= '9' {
			n++
		}
		s.precision = max(s.precision, n)
	}
	return hit
}

// ends is 1 where a text may end with an offset, else 0.
func ends(b []byte) int {
	if c := b[len(b)-1]; c == 'Z' || len(b) > 16 && bytes.ContainsAny(b[16:], "+-") {
		return 1
	}
	return 0
}

func (s *shape) zone(name string, line int64) {
	if s.zones == nil {
		s.zones = map[string]int64{}
	}
	if _, seen := s.zones[name]; !seen {
		s.zones[name] = line
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// A verdict is the type of a column, and what the source has to say about it.
type verdict struct {
	typ, note, format string
	german            bool // numbers are right only with a decimal comma
	english           bool // or only with a point
	grouped           bool // has thousands marks
}

// instants is what is said of times with an offset.
const instants = "times with an offset, as instants"

// judge gives the type that all values have. Nothing is a number that would lose something by it.
func (s *shape) judge() verdict {
	n := s.values
	switch {
	case n == 0:
		return verdict{typ: "STRING", note: "no values were seen"}
	case s.bools == n:
		return verdict{typ: "BOOLEAN"}
	case s.iso+s.zoned == n && s.zoned > 0:
		note := instants
		if s.iso > 0 {
			note = "times with an offset and without; those without are of the option zone"
		}
		return verdict{typ: strings.Replace(timestamp(s.precision), "TIMESTAMP", "TIMESTAMP_LTZ", 1), note: note}
	case s.iso == n && s.isoTime == 0:
		return verdict{typ: "DATE"}
	case s.iso == n:
		return verdict{typ: timestamp(s.precision)}
	}
	if v, ok := s.dated(); ok {
		return v
	}
	switch {
	case s.code != "":
		return verdict{typ: "STRING", note: fmt.Sprintf("leading zeros or signs, as in %s%s: a number would lose them", s.code, atLine(s.codeLine))}
	case s.whole == n && s.digits <= 18:
		return verdict{typ: "BIGINT"}
	case s.whole+s.point == n && s.group < n:
		return s.decimal(verdict{english: s.point > 0})
	case s.group == n && s.whole == 0:
		return s.decimal(verdict{english: true, note: "either thousands marks or decimal points"})
	case s.whole+s.comma+s.group == n && s.comma > 0, s.whole+s.comma == n:
		return s.decimal(verdict{german: true, grouped: s.group > 0 || s.dots})
	case s.whole+s.point+s.groupComma == n:
		return s.decimal(verdict{english: true, grouped: true})
	case s.exp == n:
		return verdict{typ: "DOUBLE", english: true}
	case s.whole+s.comma+s.commaExp == n:
		return verdict{typ: "DOUBLE", german: true}
	}
	v := verdict{typ: "STRING"}
	if numbers := s.whole + s.point + s.comma; numbers > 0 && s.text != "" && numbers >= n-n/10-1 {
		v.note = fmt.Sprintf("numbers but for %s%s", clip(s.text), atLine(s.textLine))
	}
	return v
}

// dated finds the one format that all values fit. Where day and month may be either the column stays
// text.
func (s *shape) dated() (verdict, bool) {
	var fit []string
	for k, n := range s.formats {
		if n == s.values {
			fit = append(fit, columntext.DateFormats()[k])
		}
	}
	if len(fit) == 0 || fit[0] == "yyyyMMdd" {
		return verdict{}, false
	}
	for _, a := range fit {
		swapped := strings.NewReplacer("d", "M", "M", "d").Replace(a)
		if a != swapped && slices.Contains(fit, swapped) {
			return verdict{typ: "STRING", note: fmt.Sprintf("dates that may be %s or %s: say which one in `formats` and declare DATE or TIMESTAMP", a, swapped)}, true
		}
	}
	v := verdict{typ: "DATE", format: fit[0]}
	if strings.ContainsAny(fit[0], "Hh") {
		v.typ = "TIMESTAMP(0)"
	}
	return v, true
}

func timestamp(precision int) string { return fmt.Sprintf("TIMESTAMP(%d)", min(max(precision, 0), 6)) }

// decimal is a DECIMAL with room for larger numbers than were seen.
func (s *shape) decimal(v verdict) verdict {
	switch need := s.digits + s.scale; {
	case need > expr.MaxDecimal:
		v.typ = "STRING"
		v.note = fmt.Sprintf("numbers of up to %d digits, more than DECIMAL has", need)
	case need > 16:
		v.typ = fmt.Sprintf("DECIMAL(%d, %d)", expr.MaxDecimal, s.scale)
	default:
		v.typ = fmt.Sprintf("DECIMAL(18, %d)", s.scale)
	}
	return v
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
