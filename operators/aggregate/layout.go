package aggregate

import (
	"fmt"
	"strconv"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A stateKind says what a state holds and how it is added to.
type stateKind uint8

const (
	count       stateKind = iota // 1 word: rows, or values of DISTINCT
	missing                      // 1 word, rare: rows whose argument is NULL
	sum128                       // 2 words, low first: INT, BIGINT, DECIMAL of at most 18 digits
	sum256                       // 4 words, low first: other DECIMALs
	sumDouble                    // 2 words and a byte string: see exact.go
	extreme64                    // 1 word: the greatest encoded value
	extreme128                   // 2 words, low first: the greatest encoded DECIMAL
	extremeText                  // a byte string: 1 and the value, empty while there is none
)

var kindWords = [...]int{count: 1, missing: 1, sum128: 2, sum256: 4, sumDouble: 2, extreme64: 1, extreme128: 2, extremeText: 0}

func (k stateKind) bytes() int {
	if k == sumDouble || k == extremeText {
		return 1
	}
	return 0
}

// A state is what one or more measures keep per group.
type state struct {
	kind   stateKind
	arg    int // place in the original input, -1 for all rows
	filter int
	min    bool // of an extreme: the least
	typ    expr.Type
	word   int // its first word column
	bytes  int // its byte column
	from   int // index of the distinct argument that feeds it, -1 for rows
}

// A distinctArg is a column whose values are told apart per group: an argument of DISTINCT with
// its filter.
type distinctArg struct {
	arg, filter int
	typ         expr.Type
}

// A measure is how a result comes from states; -1 where it needs none.
type measure struct {
	call          expr.AggCall
	values        int // the count of rows, or of values of DISTINCT
	missing       int // of them, those without a value
	sum           int
	extreme       int
	argumentScale int
}

// layout is everything that options and schemas decide: the states, which of them are shared, and
// the columns in which partial states travel.
type layout struct {
	phase    string
	keys     []int // in the phase's input
	keyField []expr.Field
	input    expr.Schema // the original one
	distinct []distinctArg
	states   []state // those fed by rows, then those fed by distinct arguments
	plain    int     // how many are fed by rows
	words    int     // of all states; those of plain states come first
	bytes    int
	measures []measure
	zeros    []uint64 // for columns of nothing else
}

func newLayout(o Options, in []expr.Schema) (*layout, error) {
	l := &layout{phase: o.Phase, keys: o.Keys, input: o.Input}
	switch o.Phase {
	case Local, Single:
		l.input = in[0]
	case Global: // o.Input
	default:
		return nil, fmt.Errorf("an aggregate has no phase %q: expected %s, %s or %s", o.Phase, Local, Global, Single)
	}
	for _, k := range o.Keys {
		if k < 0 || k >= len(in[0].Fields) {
			return nil, fmt.Errorf("key column %d is not one of the input's %d", k, len(in[0].Fields))
		}
		l.keyField = append(l.keyField, in[0].Fields[k])
	}
	for pass := range 2 { // states fed by rows come first
		for i, c := range o.Measures {
			if pass == 0 {
				if err := l.check(c); err != nil {
					return nil, err
				}
				l.measures = append(l.measures, measure{call: c, values: -1, missing: -1, sum: -1, extreme: -1})
			}
			if distinct(c) == (pass == 1) {
				if err := l.place(&l.measures[i]); err != nil {
					return nil, err
				}
			}
		}
		if pass == 0 {
			l.plain = len(l.states)
		}
	}
	return l, nil
}

// distinct reports whether a call needs its values told apart; MIN and MAX do not.
func distinct(c expr.AggCall) bool {
	return c.Distinct && c.Arg >= 0 && c.Func != "MIN" && c.Func != "MAX"
}

func (l *layout) check(c expr.AggCall) error {
	n := len(l.input.Fields)
	if n == 0 && l.phase == Global && (c.Arg >= 0 || c.Filter >= 0) {
		return fmt.Errorf("measure %s: the global phase of an aggregate needs the original input's schema", c.Name)
	}
	if c.Arg >= n || c.Filter >= n || c.Arg < -1 || c.Filter < -1 {
		return fmt.Errorf("measure %s: column %d or %d is not one of the input's %d", c.Name, c.Arg, c.Filter, n)
	}
	if c.Arg < 0 && c.Func != "COUNT" {
		return fmt.Errorf("measure %s: %s needs an argument", c.Name, c.Func)
	}
	if c.Filter >= 0 && l.input.Fields[c.Filter].Type.Kind != expr.Boolean {
		return fmt.Errorf("measure %s: a filter is BOOLEAN, not %s", c.Name, l.input.Fields[c.Filter].Type)
	}
	return nil
}

// place gives a measure its states, shared with others of the same argument and filter.
func (l *layout) place(m *measure) error {
	c := m.call
	from := -1
	if distinct(c) {
		from = l.distinctArg(c.Arg, c.Filter)
	}
	values := state{kind: count, arg: c.Arg, filter: c.Filter, from: from}
	var typ expr.Type
	if c.Arg >= 0 {
		typ = l.input.Fields[c.Arg].Type
	}
	if from < 0 { // all rows are counted once for all measures, and less often those without a value
		values.arg = -1
		if c.Arg >= 0 && !typ.NotNull {
			m.missing = l.state(state{kind: missing, arg: c.Arg, filter: c.Filter, from: from})
		}
	}
	m.values = l.state(values)
	m.argumentScale = typ.Scale
	s := state{arg: c.Arg, filter: c.Filter, typ: typ, from: from}
	var ok bool
	switch c.Func {
	case "COUNT":
		return nil
	case "SUM", "AVG":
		if s.kind, ok = sumKind(typ); ok {
			m.sum = l.state(s)
			return nil
		}
	case "MIN", "MAX":
		s.min = c.Func == "MIN"
		if s.kind, ok = extremeKind(typ); ok {
			m.extreme = l.state(s)
			return nil
		}
	default:
		return fmt.Errorf("measure %s: %s is not an aggregate: expected COUNT, SUM, AVG, MIN or MAX", c.Name, c.Func)
	}
	return fmt.Errorf("measure %s: there is no %s of %s", c.Name, c.Func, typ)
}

func sumKind(t expr.Type) (stateKind, bool) {
	switch t.Kind.Storage() {
	case expr.Int, expr.BigInt:
		return sum128, true
	case expr.Decimal:
		if t.Precision <= expr.MaxDecimal64 {
			return sum128, true
		}
		return sum256, true
	case expr.Double:
		return sumDouble, true
	}
	return 0, false
}

func extremeKind(t expr.Type) (stateKind, bool) {
	switch t.Kind.Storage() {
	case expr.String, expr.Bytes:
		return extremeText, true
	case expr.Decimal:
		if t.Precision > expr.MaxDecimal64 {
			return extreme128, true
		}
		return extreme64, true
	case expr.Boolean, expr.Int, expr.BigInt, expr.Double, expr.Date, expr.Timestamp:
		return extreme64, true
	}
	return 0, false
}

// state is the index of s among the states, added where there is none like it.
func (l *layout) state(s state) int {
	s.word, s.bytes = l.words, l.bytes
	for i, o := range l.states {
		if o.kind == s.kind && o.arg == s.arg && o.filter == s.filter && o.min == s.min && o.from == s.from {
			return i
		}
	}
	l.states = append(l.states, s)
	l.words += kindWords[s.kind]
	l.bytes += s.kind.bytes()
	return len(l.states) - 1
}

func (l *layout) distinctArg(arg, filter int) int {
	for i, d := range l.distinct {
		if d.arg == arg && d.filter == filter {
			return i
		}
	}
	l.distinct = append(l.distinct, distinctArg{arg, filter, l.input.Fields[arg].Type.Nullable(true)})
	return len(l.distinct) - 1
}

// groupFields are the columns by which the local phase groups.
func (l *layout) groupFields() []expr.Field {
	f := append([]expr.Field(nil), l.keyField...)
	for i, d := range l.distinct {
		f = append(f, expr.Field{Name: "$distinct" + strconv.Itoa(i), Type: d.typ})
	}
	return f
}

// partialSchema is the local phase's output: group columns, then the plain states.
func (l *layout) partialSchema() expr.Schema {
	return expr.Schema{Fields: append(l.groupFields(), l.stateFields(l.plain)...)}
}

// stateFields are the columns of the first n states: each word as BIGINT, each byte string as BYTES.
func (l *layout) stateFields(n int) []expr.Field {
	var f []expr.Field
	for i := range l.states[:n] {
		s := &l.states[i]
		for w := range kindWords[s.kind] {
			f = append(f, expr.Field{Name: fmt.Sprintf("$state%d.%d", i, w), Type: expr.Of(expr.BigInt).Nullable(false)})
		}
		if s.kind.bytes() > 0 {
			f = append(f, expr.Field{Name: fmt.Sprintf("$state%d.bytes", i), Type: expr.Of(expr.Bytes).Nullable(false)})
		}
	}
	return f
}

func (l *layout) resultSchema() expr.Schema {
	f := append([]expr.Field(nil), l.keyField...)
	for _, m := range l.measures {
		f = append(f, expr.Field{Name: m.call.Name, Type: m.call.Type})
	}
	return expr.Schema{Fields: f}
}

// tableOptions are those of a table that holds the first n states.
func (l *layout) tableOptions(n int) operators.TableOptions {
	var o operators.TableOptions
	for _, s := range l.states[:n] {
		o.Words += kindWords[s.kind]
		o.BytesCol += s.kind.bytes()
		if s.kind == missing {
			o.Rare = append(o.Rare, s.word)
		}
	}
	return o
}
