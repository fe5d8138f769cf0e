package infer

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Rules are what a plan says about how the values of a column are written.
type Rules struct {
	// Number writes a number with a point and nothing between its digits, appended to dst; ok is false
	// where its marks are not where they belong. nil: it stands so already.
	Number func(dst, b []byte) (_ []byte, ok bool)
	// Match tells whether a date or time is written as Format says; nil: there is none.
	Match  func(b []byte) bool
	Format string // "dd.MM.yyyy", "iso"
}

// A Column is what the values of a column look like, as far as they were added.
type Column struct {
	Rules Rules
	File  string // that the next values are from; "" where there is one alone
	n     int    // values that are not NULL
	count [kinds]int
	first [kinds]Value

	digits, scale, wholes int // most before the point, most behind it, most of a whole number
	fraction              int // most digits behind the seconds of a time
	buf                   []byte
}

// A Value is one of a column, with the line it stands at; 0 where that is not known.
type Value struct {
	Text string
	File string // "" where there is one alone
	Line int64
	seq  int
}

// Add adds a value that is not NULL, as it stands in the file.
func (c *Column) Add(b []byte, line int64) {
	k := c.look(b)
	c.n++
	if c.count[k]++; c.count[k] == 1 {
		c.first[k] = Value{clip(b), c.File, line, c.n}
	}
}

// Bool adds a truth value that no text stands for.
func (c *Column) Bool(v bool, line int64) {
	if v {
		c.Add([]byte("true"), line)
		return
	}
	c.Add([]byte("false"), line)
}

// Text adds a text that is to stay one, whatever it looks like.
func (c *Column) Text(b []byte, line int64) {
	c.n++
	if c.count[text]++; c.count[text] == 1 {
		c.first[text] = Value{clip(b), c.File, line, c.n}
	}
}

// look tells what kind a value is of, and notes how long its parts are.
func (c *Column) look(b []byte) kind {
	if len(b) == 0 {
		return empty
	}
	if c.Rules.Match != nil && c.Rules.Match(b) {
		if _, f, _ := temporal(b); f > c.fraction {
			c.fraction = f
		}
		return format
	}
	switch first := b[0]; {
	case first >= '0' && first <= '9':
		if k, fraction, _ := temporal(b); k != text {
			c.fraction = max(c.fraction, fraction)
			return k
		}
		return c.number(b)
	case first == '-' || first == '+' || first == '.':
		return c.number(b)
	}
	switch {
	case len(b) <= 5 && (strings.EqualFold(string(b), "true") || strings.EqualFold(string(b), "false")):
		return truth
	case wordNumber(b):
		return word
	}
	return text
}

func (c *Column) number(b []byte) kind {
	v := b
	if c.Rules.Number != nil {
		var ok bool
		if c.buf, ok = c.Rules.Number(c.buf[:0], b); !ok || len(b) > 0 && (b[len(b)-1] <= ' ') {
			return text
		}
		v = c.buf
	}
	k, n := numeric(v)
	switch k {
	case whole, point:
		c.digits, c.scale = max(c.digits, n.whole), max(c.scale, n.frac)
		if k == whole {
			c.wholes = max(c.wholes, n.whole)
		}
	case float:
		if !floating(v) {
			return text
		}
	case text:
		if wordNumber(v) {
			return word
		}
	}
	return k
}

func clip(b []byte) string {
	const most = 40
	s := strings.ToValidUTF8(string(b[:min(len(b), 4*most)]), "�")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// A Verdict is the type that fits all values, and why it is no narrower one.
type Verdict struct {
	Type expr.Type
	Note string // "" where the type is plain
	// Odd is the first of few values but for which the type would be Almost; nil where there are none.
	Odd      *Value
	OddCount int
	Almost   expr.Type
	Values   int // that are not NULL
	// Instant is a TIMESTAMP_LTZ that has the values as instants, where they are times of which some have an
	// offset and Type is STRING, because an instant does not keep it; nil for other values.
	Instant *expr.Type
}

// Judge gives the type of the column. whole says that no other values can come: then a time may have just
// the digits that were seen.
func (c *Column) Judge(all bool) Verdict {
	v := Verdict{Type: expr.Of(expr.String), Values: c.n}
	if c.n == 0 {
		v.Note = "no values were seen"
		return v
	}
	if t, note, ok := c.typed(c.n, all); ok {
		v.Type, v.Note = t, note
		return v
	}
	v.Note = c.zones()
	if c.count[zoned] > 0 && c.times() == c.n {
		if t, _, ok := c.timestamp(all); ok {
			v.Instant = &expr.Type{Kind: expr.TimestampLTZ, Precision: t.Precision}
		}
	}
	if k := c.count[code]; k > 0 && k+c.numbers() == c.n {
		v.Note = fmt.Sprintf("leading zeros or signs, as in %s: a number would lose them", c.first[code].place())
		return v
	}
	c.oddities(&v, all)
	return v
}

// times counts the values that are dates or times.
func (c *Column) times() int { return c.count[zoned] + c.count[moment] + c.count[date] }

// numbers counts the values that are numbers.
func (c *Column) numbers() int { return c.count[whole] + c.count[point] + c.count[float] }

// typed gives the type of n values, if there is one but STRING that keeps all of each.
func (c *Column) typed(n int, all bool) (t expr.Type, note string, ok bool) {
	switch {
	case n == 0:
	case c.count[format] == n:
		return c.formatted(all)
	case c.count[truth] == n:
		return expr.Of(expr.Boolean), "", true
	case c.count[date] == n:
		return expr.Of(expr.Date), "", true
	case c.count[date]+c.count[moment] == n:
		return c.timestamp(all)
	case c.count[whole] == n && c.wholes <= 18:
		return expr.Of(expr.BigInt), "", true
	case c.count[whole]+c.count[point] == n:
		return c.decimal()
	case c.numbers() > 0 && c.numbers()+c.count[word] == n && c.wholes <= 15:
		return expr.Of(expr.Double), "", true
	}
	return t, "", false
}

// formatted is the type of dates and times that are written as the plan says.
func (c *Column) formatted(all bool) (expr.Type, string, bool) {
	f := c.Rules.Format
	switch {
	case strings.EqualFold(f, "iso"):
		return c.timestamp(all)
	case strings.ContainsAny(f, "HhmsS"):
		return expr.Type{Kind: expr.Timestamp, Precision: min(strings.Count(f, "S"), 6)}, "", true
	}
	return expr.Of(expr.Date), "", true
}

func (c *Column) timestamp(all bool) (t expr.Type, note string, ok bool) {
	switch {
	case c.fraction > 6:
		return t, "", false
	case !all:
		return expr.Type{Kind: expr.Timestamp, Precision: 6}, "", true // a later one may have more digits
	}
	return expr.Type{Kind: expr.Timestamp, Precision: c.fraction}, "", true
}

// decimal is a DECIMAL with room for larger numbers than were seen.
func (c *Column) decimal() (t expr.Type, note string, ok bool) {
	switch need := c.digits + c.scale; {
	case need > expr.MaxDecimal:
		return t, "", false
	case need > 16:
		return expr.Type{Kind: expr.Decimal, Precision: expr.MaxDecimal, Scale: c.scale}, "", true
	}
	return expr.Type{Kind: expr.Decimal, Precision: 18, Scale: c.scale}, "", true
}

// zones says of times with an offset what makes them TIMESTAMPs.
func (c *Column) zones() string {
	switch {
	case c.count[zoned] > 0 && c.times() == c.n:
		return fmt.Sprintf("times with an offset, as in %s: the format iso turns them to UTC", c.first[zoned].place())
	case c.count[moment] > 0 && c.count[moment]+c.count[date] == c.n:
		return fmt.Sprintf("times with %d digits behind the seconds: a TIMESTAMP has 6", c.fraction)
	case c.count[whole]+c.count[point] == c.n:
		return fmt.Sprintf("numbers of up to %d digits, more than DECIMAL has", c.digits+c.scale)
	case c.numbers() == c.n:
		return fmt.Sprintf("numbers with an exponent and whole ones of %d digits, more than DOUBLE keeps", c.wholes)
	}
	return ""
}

// oddities finds the type that most values have, where few are in the way.
func (c *Column) oddities(v *Verdict, all bool) {
	groups := [][]kind{{whole, point, float}, {date, moment}, {truth}, {format}}
	for _, g := range groups {
		n := 0
		rest := *c
		rest.count = [kinds]int{}
		for _, k := range g {
			n += c.count[k]
			rest.count[k] = c.count[k]
		}
		odd := c.n - n
		if odd == 0 || odd*10 > c.n {
			continue
		}
		t, _, ok := rest.typed(n, all)
		if !ok {
			continue
		}
		var first *Value
		for k := range c.first {
			if rest.count[k] == 0 && c.count[k] > 0 && (first == nil || c.first[k].seq < first.seq) {
				first = &c.first[k]
			}
		}
		v.Odd, v.OddCount, v.Almost = first, odd, t
		v.Note = fmt.Sprintf("%s but for %d of %d values, the first %s", t, odd, c.n, first.place())
		return
	}
}

// place is the value with where it stands.
func (v Value) place() string {
	s := fmt.Sprintf("%q", v.Text)
	switch {
	case v.File != "" && v.Line > 0:
		s += fmt.Sprintf(" at %s:%d", v.File, v.Line)
	case v.File != "":
		s += " in " + v.File
	case v.Line > 0:
		s += fmt.Sprintf(" at line %d", v.Line)
	}
	return s
}

// A Fit tells whether values keep all they have in a type that was inferred from others: where a reader
// would cut zeros or digits off, they do not.
type Fit struct {
	column Column
	typ    expr.Type
}

// NewFit makes a Fit for values that are written as rules say.
func NewFit(t expr.Type, rules Rules) *Fit { return &Fit{Column{Rules: rules}, t} }

// Fits looks at one value that is not NULL.
func (f *Fit) Fits(b []byte) bool {
	c := &f.column
	c.scale, c.fraction = 0, 0
	switch k := c.look(b); f.typ.Kind {
	case expr.Boolean:
		return k == truth
	case expr.BigInt:
		return k == whole
	case expr.Decimal:
		return (k == whole || k == point) && c.scale <= f.typ.Scale
	case expr.Double:
		return k == whole || k == point || k == float || k == word
	case expr.Date:
		return k == date || k == format
	case expr.Timestamp:
		return (k == date || k == moment || k == format) && c.fraction <= f.typ.Precision
	}
	return true
}
