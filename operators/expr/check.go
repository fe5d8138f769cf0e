package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// CheckOptions say what an expression may hold where it stands.
type CheckOptions struct {
	Aggregates bool   // aggregate calls: in measures
	Zone       string // the session's time zone, table.local-time-zone; "" is UTC
}

// Errors are all the faults of one expression, in the order of their places.
type Errors []*Error

// Error is the messages, joined.
func (e Errors) Error() string {
	parts := make([]string, len(e))
	for i, x := range e {
		parts[i] = x.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap gives the faults to errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, x := range e {
		all[i] = x
	}
	return all
}

// Check gives an expression its types over the columns of in. The result is a new tree: every node
// has its type, columns hold their place, operands of one operation have been brought to one type by
// Implicit casts, and only the calls of [Functions] are left. Checking a checked tree again gives an
// equal one. The error is an Errors with everything wrong that does not follow from something else.
//
// Types are those of Flink 2: the rules for DECIMAL are its LogicalTypeMerging, the rest is
// Calcite's. Where Flink converts between text and numbers without a word, a CAST is asked for.
func Check(e *Expr, in Schema, o CheckOptions) (*Expr, error) {
	c := &checker{schema: in, options: o, aggregates: o.Aggregates}
	return c.done(c.root(e))
}

type checker struct {
	schema     Schema
	options    CheckOptions
	aggregates bool // whether one may stand here
	repeated   int  // nodes that stand in the tree once more than in the text
	errs       Errors
}

func (c *checker) done(e *Expr) (*Expr, error) {
	if len(c.errs) > 0 {
		slices.SortStableFunc(c.errs, func(a, b *Error) int { return a.Pos - b.Pos })
		return nil, c.errs
	}
	if e == nil {
		return nil, Errors{{Message: "the expression cannot be given types"}}
	}
	if _, err := LoadZone(c.options.Zone); err != nil {
		return nil, Errors{{Message: err.Error()}}
	}
	Walk(e, func(n *Expr) bool {
		if readsZone(n) {
			n.Zone = c.options.Zone
		}
		return true
	})
	return e, nil
}

func (c *checker) root(e *Expr) *Expr {
	x := c.expr(e)
	if x != nil && x.Type.Kind == Null {
		return c.fail(x, "NULL alone has no type", "CAST(NULL AS type)")
	}
	return x
}

// fail reports a fault of e and gives nil, what an expression that failed is.
func (c *checker) fail(e *Expr, message, expected string) *Expr {
	c.errs = append(c.errs, &Error{Pos: int(e.Pos), End: e.End, Message: message, Expected: expected})
	return nil
}

// expr checks a node; nil after a fault. A NULL keeps its own kind until its surroundings decide.
func (c *checker) expr(e *Expr) *Expr {
	if e == nil {
		return nil
	}
	switch e.Op {
	case OpColumn:
		return c.column(e)
	case OpLiteral:
		return c.literal(e)
	case OpCall:
		return c.call(e)
	case OpCase:
		return c.caseOf(e)
	case OpCast, OpTryCast:
		return c.cast(e)
	case OpAgg:
		return c.aggregate(e)
	}
	return c.fail(e, fmt.Sprintf("a node of an unknown form %q", e.Op), "")
}

// repeat counts times further places of x in the tree; false where it grows too large.
func (c *checker) repeat(n, x *Expr, times int) bool {
	c.repeated += sizeUpTo(x, maxNodes) * times
	if c.repeated > maxNodes {
		c.fail(n, "the expression is too large", "parts of it computed in a step before")
		return false
	}
	return true
}

// all checks every argument; false where one of them failed.
func (c *checker) all(args []*Expr) ([]*Expr, bool) {
	out, ok := make([]*Expr, len(args)), true
	for i, a := range args {
		out[i] = c.expr(a)
		ok = ok && out[i] != nil
	}
	return out, ok
}

func (c *checker) column(e *Expr) *Expr {
	i := c.schema.Index(e.Name)
	if i < 0 {
		return c.unknownColumn(e)
	}
	x := *e
	x.Col, x.Type = i, c.schema.Fields[i].Type
	return &x
}

// niladic are words that Flink reads as functions without brackets. A plan does not have them: two
// runs over the same files give the same result.
const niladic = " CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP NOW SYSDATE CURRENT_ROW_TIMESTAMP "

func (c *checker) unknownColumn(e *Expr) *Expr {
	names := c.schema.Names()
	f := &Error{Pos: int(e.Pos), End: e.End, Message: "there is no column " + backtick(e.Name), Near: nearest(e.Name, names)}
	if e.End-int(e.Pos) == len(e.Name) && f.Near == "" {
		if _, bad := parse(e.Name, nil); bad != nil { // a bare text that was taken for a name
			bad.Message = f.Message + ", and as an expression: " + bad.Message
			bad.Pos, bad.End = bad.Pos+int(e.Pos), bad.End+int(e.Pos)
			c.errs = append(c.errs, bad)
			return nil
		}
	}
	if f.Near == "" {
		f.Near = begunBy(e.Name, names)
	}
	switch {
	case f.Near != "":
		f.Near = Quote(f.Near)
	case strings.Contains(niladic, " "+strings.ToUpper(e.Name)+" "):
		f.Message = strings.ToUpper(e.Name) + " is not supported: a run gives the same result whenever it runs"
		f.Expected = "a parameter such as ${today}"
		c.errs = append(c.errs, f)
		return nil
	}
	f.Expected = "a column"
	names = names[:0]
	for _, x := range c.schema.Visible() {
		names = append(names, x.Name)
	}
	if len(names) > 0 {
		f.Expected = "one of " + listed(names)
	}
	c.errs = append(c.errs, f)
	return nil
}

// begunBy is the column whose name an expression was read from in part: order of order-id, which
// needs backticks as it stands.
func begunBy(name string, columns []string) string {
	for _, n := range columns {
		rest, ok := strings.CutPrefix(n, name)
		if r, _ := utf8.DecodeRuneInString(rest); ok && rest != "" && !isNamePart(r) {
			return n
		}
	}
	return ""
}

// literal gives a literal the type it was parsed with.
func (c *checker) literal(e *Expr) *Expr {
	if e.Value == nil || e.Type.Kind == Invalid {
		return c.fail(e, "a literal without a value", "")
	}
	x := *e
	x.Type.NotNull = !e.Value.Null
	if e.Value.Null && e.Implicit {
		x.Type = Of(Null) // its surroundings decide again
	}
	return &x
}

// cast checks CAST and TRY_CAST. Implicit casts are taken away, for the operation above puts in what
// it needs.
func (c *checker) cast(e *Expr) *Expr {
	if len(e.Args) != 1 {
		return c.fail(e, "a cast has one argument", "")
	}
	x := c.expr(e.Args[0])
	if x == nil || e.Implicit {
		return x
	}
	n := *e
	n.Args = []*Expr{x}
	n.Type.NotNull = x.Type.NotNull && e.Op == OpCast
	if x.Type.Kind == Null {
		l := *x
		l.Type, l.Implicit, l.Pos, l.End = e.Type.Nullable(true), false, e.Pos, e.End
		return &l
	}
	if allowed, _ := CastRule(x.Type, e.Type); !allowed {
		return c.fail(e, fmt.Sprintf("%s cannot be cast to %s", plainType(x.Type), plainType(e.Type)), castHint(x.Type, e.Type))
	}
	return &n
}

func castHint(from, to Type) string {
	switch {
	case from.Whole() && to.Kind == TimestampLTZ:
		return "TO_TIMESTAMP_LTZ(n, 0) for n seconds since 1970, TO_TIMESTAMP_LTZ(n, 3) for milliseconds"
	case from.Numeric() && (to.Kind == Date || to.Kind == Timestamp):
		return "TIMESTAMPADD(SECOND, n, TIMESTAMP '1970-01-01 00:00:00') to count from a date"
	case isTime(from) && to.Numeric():
		return "EXTRACT(unit FROM x), or TIMESTAMPDIFF(unit, a, b)"
	case from.Kind == Bytes && to.Kind != String, to.Kind == Bytes && from.Kind != String:
		return "STRING between them, which is UTF-8 on the side of BYTES"
	}
	return ""
}

// plainType is a type as messages name it, without NOT NULL.
func plainType(t Type) string { return t.Nullable(true).String() }

// implicit casts x to a type; a NULL takes it.
func implicit(x *Expr, to Type) *Expr {
	if x.Type.Same(to) {
		return x
	}
	to.NotNull = x.Type.NotNull
	if x.Type.Kind == Null {
		l := *x
		l.Type, l.Implicit = to, true
		return &l
	}
	return &Expr{Op: OpCast, Args: []*Expr{x}, Type: to, Implicit: true, Pos: x.Pos, End: x.End}
}

// isTime reports whether a type is one of dates and times; hasDate leaves TIME out.
func isTime(t Type) bool  { return t.Kind == Time || hasDate(t) }
func hasDate(t Type) bool { return t.Kind == Date || t.Kind.Storage() == Timestamp }

// isText reports whether x is text that is written out, which may stand for a date.
func isText(x *Expr) bool { return x.Op == OpLiteral && x.Type.Kind == String && !x.Value.Null }

// textAsTime casts text to a DATE or one of the times, as Flink does beside one, and finds out now
// whether it is one. A time gets the digits it is written with.
func (c *checker) textAsTime(x *Expr, want Type) *Expr {
	text := x.Value.Text
	digits := fractionDigits(text)
	ok, what, expected := digits <= 6, "timestamp", "'yyyy-mm-dd hh:mm:ss' beside a "+kindTitle(want)
	switch want.Kind {
	case Date:
		_, ok = dateText(text)
		what, expected = "date", "'yyyy-mm-dd' beside a DATE"
	case Time:
		_, s := ParseTime([]byte(text), 6)
		ok = ok && s == OK
		what, expected = "time", "'hh:mm:ss' beside a TIME"
	case TimestampLTZ:
		z, err := LoadZone(c.options.Zone)
		if err != nil {
			return c.fail(x, err.Error(), "")
		}
		_, s := ParseTimestampLTZ([]byte(text), 6, z)
		if s == Skipped {
			return c.fail(x, quoteText(text)+" is a time that clocks in "+c.options.Zone+" skip", "another time, or an offset after it")
		}
		ok = ok && s == OK
	default:
		_, s := ParseTimestamp([]byte(text), 6)
		ok = ok && s == OK
	}
	if !ok {
		return c.fail(x, quoteText(text)+" is not a "+what, expected)
	}
	if want.Kind != Date {
		want.Precision = max(digits, want.Precision)
	}
	return implicit(x, want.Nullable(true))
}

// literalFits reports whether a cast of a literal is known to succeed.
func literalFits(cast *Expr) bool {
	x, to := cast.Args[0], cast.Type
	if !isText(x) {
		return false
	}
	s, text := Malformed, []byte(x.Value.Text)
	switch to.Kind {
	case Date:
		_, s = ParseDate(text)
	case Time:
		_, s = ParseTime(text, to.Precision)
	case Timestamp:
		_, s = ParseTimestamp(text, to.Precision)
	case TimestampLTZ:
		if z, err := LoadZone(cast.Zone); err == nil {
			_, s = ParseTimestampLTZ(text, to.Precision, z)
		}
	}
	return s == OK
}

// caseOf checks CASE: BOOLEAN conditions and results of one type.
func (c *checker) caseOf(e *Expr) *Expr {
	args, ok := c.all(e.Args)
	if len(args)%2 == 0 {
		args = append(args, &Expr{Op: OpLiteral, Type: Of(Null), Value: &Value{Null: true}, Implicit: true, Pos: e.Pos, End: e.End})
	}
	var results []*Expr
	for i, a := range args {
		if i%2 == 0 && i < len(args)-1 {
			if a != nil {
				args[i] = c.boolean(a, "a condition of CASE or IF")
				ok = ok && args[i] != nil
			}
			continue
		}
		results = append(results, a)
	}
	if !ok || len(args) < 3 {
		return nil
	}
	t, ok := c.unify(e, results, "the results of CASE", false)
	if !ok || !c.flat(results, "the results of CASE") {
		return nil
	}
	for i := range results {
		at := 2*i + 1
		if i == len(results)-1 {
			at = len(args) - 1
		}
		args[at] = results[i]
	}
	n := *e
	n.Args, n.Type = args, t
	return &n
}

// boolean is x as a condition.
func (c *checker) boolean(x *Expr, what string) *Expr {
	switch x.Type.Kind {
	case Boolean:
		return x
	case Null:
		return implicit(x, Of(Boolean))
	}
	expected := "BOOLEAN"
	if x.Type.Numeric() {
		expected = "BOOLEAN, such as x <> 0"
	}
	return c.fail(x, what+" has type "+plainType(x.Type), expected)
}

// kindTitle is a type's name without its numbers.
func kindTitle(t Type) string {
	name, _, _ := strings.Cut(plainType(t), "(")
	return name
}
