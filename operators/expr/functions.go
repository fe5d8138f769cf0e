package expr

import "slices"

// NullRule says what a call gives when an argument is NULL.
type NullRule uint8

// The null rules. Strict: any NULL argument gives NULL. Never: the result is never NULL, whatever
// the arguments. Special: as the call's Doc says.
const (
	Strict NullRule = iota
	Never
	Special
)

// A Function is one line of the closed list of calls: what an OpCall node may be named after Check.
// Everything else that the parser reads is rewritten to these:
//
//	x BETWEEN a AND b            AND(>=(x, a), <=(x, b)); NOT BETWEEN is NOT of that
//	x BETWEEN SYMMETRIC a AND b  OR(AND(>=(x, a), <=(x, b)), AND(>=(x, b), <=(x, a)))
//	x NOT IN (…), x NOT LIKE p   NOT(IN(x, …)), NOT(LIKE(x, p))
//	x <> y, x != y               <>(x, y)
//	x IS [NOT] UNKNOWN           IS [NOT] NULL(x), x being BOOLEAN (by Check)
//	CASE x WHEN a THEN r … END   OpCase with the conditions =(x, a) …
//	a AND b AND c                one AND of three; the same for OR and ||
//	+x                           x;   -5 is a literal, -x is NEG(x)
//	YEAR(x), DAYOFWEEK(x) …      EXTRACT('YEAR', x), EXTRACT('DOW', x) …
//	MOD(x, y)                    %(x, y)
//	IF(c, a, b)                  CASE WHEN c THEN a ELSE b END;   IFNULL(a, b) is COALESCE(a, b)
//	CONCAT(a, b, …)              ||(a, b, …);   CONCAT(a) is ||(a, '')
//	FLOOR(ts TO MONTH)           FLOOR_TO('MONTH', ts);   CEIL(ts TO MONTH) is CEIL_TO
//	x + INTERVAL '1' DAY         TIMESTAMPADD('DAY', 1, x);   x - INTERVAL '1' DAY with -1
//	TRIM(s), LTRIM(s), RTRIM(s)  TRIM('BOTH' | 'LEADING' | 'TRAILING', ' ', s);   LTRIM(s, c) with c for ' '
//	POSITION(a IN s)             POSITION(a, s);   INSTR(s, a), LOCATE(a, s), LOCATE(a, s, n) too
//	SHA2(s, 256)                 SHA256(s);   TYPEOF(x) is the literal of its type
//	LOG(x), PI(), E()            LN(x), the literals
//	ROUND(x)                     ROUND(x, 0)
//	CHARACTER_LENGTH(s)          CHAR_LENGTH(s);   CEILING(x) is CEIL(x)
//
// After Check, besides: no node has the type of a bare NULL (the literal has taken the type it is
// needed in), an argument that must be of another's type stands under an OpCast with Implicit set,
// a unit or trim side is a STRING literal, and the arguments have the types that Doc says.
type Function struct {
	Name    string
	MinArgs int
	MaxArgs int // -1: any number
	Nulls   NullRule
	Doc     string // argument and result types, meaning, when it fails

	// fails reports whether a checked node of the call can raise an EvalError, its arguments aside.
	// nil: never.
	fails func(e *Expr) bool
}

// Function documentation says N for any number and T for any type. What it says of INT holds for TINYINT
// and SMALLINT too, and what it says of DOUBLE for FLOAT, whose results are rounded to 32 bits.
var functionList = slices.Concat(coreFunctions, numberFunctions, textFunctions, timeFunctions, nestedFunctions, bytesFunctions, furtherTextFunctions, instantFunctions)

var coreFunctions = []Function{
	// Logic. AND and OR look at a row's further arguments only where the earlier ones leave the
	// result open, so that these do not raise for rows already decided.
	{"AND", 2, -1, Special, "BOOLEAN … -> BOOLEAN: FALSE if any is FALSE, else NULL if any is NULL, else TRUE.", nil},
	{"OR", 2, -1, Special, "BOOLEAN … -> BOOLEAN: TRUE if any is TRUE, else NULL if any is NULL, else FALSE.", nil},
	{"NOT", 1, 1, Strict, "BOOLEAN -> BOOLEAN.", nil},
	{"IS NULL", 1, 1, Never, "T -> BOOLEAN.", nil},
	{"IS NOT NULL", 1, 1, Never, "T -> BOOLEAN.", nil},
	{"IS TRUE", 1, 1, Never, "BOOLEAN -> BOOLEAN.", nil},
	{"IS NOT TRUE", 1, 1, Never, "BOOLEAN -> BOOLEAN.", nil},
	{"IS FALSE", 1, 1, Never, "BOOLEAN -> BOOLEAN.", nil},
	{"IS NOT FALSE", 1, 1, Never, "BOOLEAN -> BOOLEAN.", nil},

	// Comparison. Both arguments have the same type, precision and scale included; BOOLEAN orders
	// FALSE before TRUE, STRING by its UTF-8 bytes.
	{"=", 2, 2, Strict, "T, T -> BOOLEAN.", nil},
	{"<>", 2, 2, Strict, "T, T -> BOOLEAN.", nil},
	{"<", 2, 2, Strict, "T, T -> BOOLEAN.", nil},
	{"<=", 2, 2, Strict, "T, T -> BOOLEAN.", nil},
	{">", 2, 2, Strict, "T, T -> BOOLEAN.", nil},
	{">=", 2, 2, Strict, "T, T -> BOOLEAN.", nil},
	{"IS DISTINCT FROM", 2, 2, Never, "T, T -> BOOLEAN: <> where NULL equals NULL.", nil},
	{"IS NOT DISTINCT FROM", 2, 2, Never, "T, T -> BOOLEAN: = where NULL equals NULL.", nil},
	{"IN", 2, -1, Special, "T x, T item … -> BOOLEAN: TRUE if x equals an item; else NULL if x or an item is NULL; else FALSE. " +
		"Items are constant: literals, or casts of literals (Check turns others into OR of =).", nil},
	{"LIKE", 2, 3, Strict, "STRING x, STRING pattern [, STRING escape] -> BOOLEAN: % is any text, _ one character. There is no escape character by default. " +
		"With escape it is a literal of one character, the pattern is a literal, and escape stands only before %, _ and itself.", nil},

	// Arithmetic. INT and BIGINT: both arguments and the result have one type. DOUBLE: so too.
	// DECIMAL: both arguments are DECIMAL, each with its own precision and scale; the result's are
	// in Type, its digits are the exact result rounded half up to Type.Scale, and a value
	// that does not fit Type.Precision is an Overflow.
	{"+", 2, 2, Strict, "N, N -> N. Fails: Overflow of INT, BIGINT, DECIMAL.", failsArithmetic},
	{"-", 2, 2, Strict, "N, N -> N. Fails: as +.", failsArithmetic},
	{"*", 2, 2, Strict, "N, N -> N. Fails: as +.", failsArithmetic},
	{"/", 2, 2, Strict, "N, N -> N: INT and BIGINT cut towards zero, 7 / 2 = 3. Fails: as +, and DivisionByZero of INT, BIGINT, DECIMAL; a DOUBLE gives an infinity or NaN.", failsDivision},
	{"%", 2, 2, Strict, "INT, INT -> INT; BIGINT, BIGINT -> BIGINT; DECIMAL, DECIMAL -> DECIMAL; DOUBLE, DOUBLE -> DOUBLE (which Flink refuses): the sign is the first one's. " +
		"Fails: DivisionByZero of INT, BIGINT, DECIMAL; a DOUBLE gives NaN.", failsDivision},
	{"NEG", 1, 1, Strict, "N -> N, the same type. Fails: Overflow of the least INT, BIGINT.", failsInteger},
	{"ABS", 1, 1, Strict, "N -> N, the same type. Fails: Overflow of the least INT, BIGINT.", failsInteger},
	{"ROUND", 2, 2, Strict, "N x, INT literal n -> INT, BIGINT, DOUBLE as x, or a DECIMAL given in Type: half away from zero to n places after the point, n < 0 before it. " +
		"Fails: Overflow of INT, BIGINT (n < 0), DECIMAL.", failsRound},
	{"FLOOR", 1, 1, Strict, "N -> INT, BIGINT, DOUBLE as the argument; DECIMAL(p, s) -> DECIMAL(p, 0).", nil},
	{"CEIL", 1, 1, Strict, "N -> INT, BIGINT, DOUBLE as the argument; DECIMAL(p, s) -> DECIMAL(p, 0).", nil},

	// Text. Characters are Unicode code points.
	{"||", 2, -1, Strict, "STRING … -> STRING.", nil},
	{"UPPER", 1, 1, Strict, "STRING -> STRING, by Unicode's full mapping of no language: ß becomes SS.", nil},
	{"LOWER", 1, 1, Strict, "STRING -> STRING, by Unicode's full mapping of no language: Σ at the end of a word becomes ς.", nil},
	{"CHAR_LENGTH", 1, 1, Strict, "STRING -> INT, in characters.", nil},
	{"SUBSTRING", 2, 3, Strict, "STRING s, INT from [, INT length] -> STRING: from counts from 1; 0 is taken as 1 and a negative one counts from the end, as in Flink; " +
		"a start outside the text gives '', and so does a length below 0 (NULL in Flink).", nil},
	{"TRIM", 3, 3, Strict, "STRING side ('BOTH', 'LEADING', 'TRAILING'), STRING chars, STRING s -> STRING: s without any characters of the set chars at that side.", nil},

	// Time. Units are upper-case STRING literals.
	{"EXTRACT", 2, 2, Strict, "STRING unit, DATE or TIMESTAMP -> BIGINT: MILLENNIUM, CENTURY, DECADE, YEAR, QUARTER, MONTH, WEEK (ISO), DAY, DOY, DOW (1 = Sunday), ISODOW (1 = Monday), ISOYEAR (that of WEEK), EPOCH (seconds since 1970); " +
		"of a TIMESTAMP also HOUR, MINUTE, SECOND (whole), MILLISECOND and MICROSECOND (of the second).", nil},
	{"FLOOR_TO", 2, 2, Strict, "STRING unit, DATE or TIMESTAMP(p) -> the same type: the begin of the YEAR, QUARTER, MONTH, WEEK (Sunday, as in Flink), DAY; of a TIMESTAMP also HOUR, MINUTE, SECOND. " +
		"Fails: Overflow before the type's first value.", always},
	{"TIMESTAMPADD", 3, 3, Strict, "STRING unit, BIGINT n, DATE or TIMESTAMP(p) -> the same type: YEAR, QUARTER, MONTH (the day is cut to the month's last), WEEK, DAY; of a TIMESTAMP also HOUR, MINUTE, SECOND, MILLISECOND and MICROSECOND, which give at least 3 and 6 digits of seconds. " +
		"Fails: Overflow.", always},
	{"TIMESTAMPDIFF", 3, 3, Strict, "STRING unit, a, b both DATE or both TIMESTAMP of one precision -> INT: whole units from a to b, cut towards zero; units as TIMESTAMPADD. " +
		"Fails: Overflow.", always},

	// Choice. Later arguments are looked at only for rows that reach them.
	{"COALESCE", 1, -1, Special, "T … -> T: the first that is not NULL.", nil},
	{"NULLIF", 2, 2, Special, "T a, T b -> T: NULL where a = b is TRUE, else a.", nil},
}

var functions = func() map[string]Function {
	m := make(map[string]Function, len(functionList))
	for _, f := range functionList {
		m[f.Name] = f
	}
	return m
}()

// Functions are the calls a checked expression may hold, in the order of their documentation.
func Functions() []Function { return slices.Clone(functionList) }

// Units of time, in the order of their length, for EXTRACT, FLOOR_TO, TIMESTAMPADD, TIMESTAMPDIFF.
const (
	UnitSecond  = "SECOND"
	UnitMinute  = "MINUTE"
	UnitHour    = "HOUR"
	UnitDay     = "DAY"
	UnitWeek    = "WEEK"
	UnitMonth   = "MONTH"
	UnitQuarter = "QUARTER"
	UnitYear    = "YEAR"

	// EXTRACT alone.
	UnitDOW         = "DOW"
	UnitDOY         = "DOY"
	UnitISODOW      = "ISODOW"
	UnitISOYEAR     = "ISOYEAR"
	UnitEpoch       = "EPOCH"
	UnitDecade      = "DECADE"
	UnitCentury     = "CENTURY"
	UnitMillennium  = "MILLENNIUM"
	UnitMillisecond = "MILLISECOND"
	UnitMicrosecond = "MICROSECOND"
)

func always(*Expr) bool { return true }

func failsInteger(e *Expr) bool { return e.Type.Whole() }

// A DECIMAL result of + - * holds every exact result unless its precision was cut to 38.
func failsArithmetic(e *Expr) bool {
	return failsInteger(e) || e.Type.Kind == Decimal && e.Type.Precision == MaxDecimal
}

// A divisor that is a literal other than 0 cannot raise DivisionByZero, and one other than -1
// cannot make the least integer overflow.
func failsDivision(e *Expr) bool {
	if e.Type.Kind.Storage() == Double {
		return false
	}
	d, ok := constant(e.Args[1])
	if !ok || d.zero {
		return true
	}
	if e.Name == "%" {
		return false
	}
	return d.minusOne && failsInteger(e) || e.Type.Kind == Decimal && e.Type.Precision == MaxDecimal
}

func failsRound(e *Expr) bool {
	if e.Type.Kind == Decimal {
		return e.Type.Precision == MaxDecimal
	}
	n := e.Args[1]
	return failsInteger(e) && (n.Op != OpLiteral || n.Value == nil || n.Value.Int < 0)
}

type divisor struct{ zero, minusOne bool }

// constant reads a literal number, also under the cast Check puts round it.
func constant(e *Expr) (divisor, bool) {
	if e.Op == OpCast && e.Implicit && e.Type.Numeric() {
		return constant(e.Args[0])
	}
	if e.Op != OpLiteral || e.Value == nil || e.Value.Null {
		return divisor{}, false
	}
	switch {
	case e.Type.Whole():
		return divisor{e.Value.Int == 0, e.Value.Int == -1}, true
	case e.Type.Kind == Decimal:
		return divisor{zero: e.Value.Text == "0", minusOne: e.Value.Text == "-1" && e.Type.Scale == 0}, true
	}
	return divisor{}, false
}

// CastRule says whether CAST takes a type to another, and whether a value may be refused, after
// Flink's table of explicit casts. Casting a number to DATE or TIMESTAMP, or back, is not allowed.
//
//	to STRING    from every type; fails on BYTES that are no UTF-8
//	from STRING  to every type; fails on text that is not such a value; BYTES are its UTF-8
//	numbers      to each other; rounds half up (DECIMAL) or cuts towards zero (to whole numbers); fails on what is out of range
//	BOOLEAN      from and to numbers: 1 and 0, and anything but 0 is TRUE
//	DATE         to TIMESTAMP at midnight (fails beyond the year 294000) and back
//	TIME         to TIMESTAMP and TIMESTAMP_LTZ at 1970-01-01
//	TIMESTAMP    to TIME
//	TIMESTAMP_LTZ to and from DATE, TIME and TIMESTAMP by the local time of the session's zone
//	TIME, TIMESTAMP, TIMESTAMP_LTZ  to another precision, cutting digits
//	ARRAY, MAP, ROW to STRING alone: [1, 2], {a=1, b=2}, (1, abc)
func CastRule(from, to Type) (allowed, fails bool) {
	a, b := from.Kind, to.Kind
	switch {
	case from.Nested() && b == String && from.holds(Bytes, TimestampLTZ): // whose texts are no matter of the value alone
		return false, false
	case to.Nested() || from.Nested() && b != String:
		return from.Same(to) || a == Null && to.Nested(), false
	case a == Invalid || b == Invalid || b == Null:
		return false, false
	case a == Null || from.Same(to):
		return true, false
	case b == String:
		return true, a == Bytes
	case a == String:
		return true, b != Bytes
	case a == Bytes || b == Bytes:
		return false, false
	case from.Numeric() && to.Numeric():
		return true, numberFails(from, to)
	case a == Boolean && to.Numeric():
		return true, b == Decimal && to.Precision == to.Scale
	case from.Numeric() && b == Boolean:
		return true, false
	}
	return timeCastRule(a, b)
}

// timeCastRule is CastRule among dates and times. Only what 64 bits of microseconds do not reach fails.
func timeCastRule(a, b Kind) (allowed, fails bool) {
	instant := func(k Kind) bool { return k == Timestamp || k == TimestampLTZ }
	switch {
	case a == b || instant(a) && (b == Date || b == Time):
		return a == b || instant(a), false
	case a == Date && instant(b), instant(a) && instant(b):
		return true, true
	case a == Time && instant(b):
		return true, false
	}
	return false, false
}

// numberFails reports whether a cast between numbers may be out of range: whether the target has
// fewer integral digits than the source, one more being wanted where digits are rounded away.
func numberFails(from, to Type) bool {
	switch {
	case to.Kind == Double, to.Kind == Float && from.Kind != Double:
		return false
	case from.Kind.Storage() == Double:
		return true
	}
	f, t := decimalOf(from), decimalOf(to)
	digits, room := f.Precision-f.Scale, t.Precision-t.Scale
	if to.Whole() {
		if from.Whole() {
			return from.Bits() > to.Bits()
		}
		return digits >= room // 9999999999 has an INT's ten digits and is none
	}
	if f.Scale > t.Scale {
		digits++
	}
	return digits > room
}

// decimalOf is the DECIMAL that an exact number is taken as beside a DECIMAL: TINYINT has 3 digits,
// SMALLINT 5, INT 10 and BIGINT 19, as in Flink.
func decimalOf(t Type) Type {
	d := t
	switch t.Kind {
	case TinyInt:
		d = DecimalOf(3, 0)
	case SmallInt:
		d = DecimalOf(5, 0)
	case Int:
		d = DecimalOf(10, 0)
	case BigInt:
		d = DecimalOf(19, 0)
	}
	d.NotNull = t.NotNull
	return d
}
