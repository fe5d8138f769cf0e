// Package expr holds logical types and schemas, SQL expressions, and the closed relational algebra
// that optimizer rules switch on.
//
// An expression is parsed by [Parse], given types by [Check], printed by [Expr.String] as Flink SQL
// and compiled by [Compile] to vector kernels over Arrow columns.
package expr

// Op is the form of an expression node.
type Op string

// The forms. A Call's Name says which function or operator: see functions.go for the closed list.
const (
	OpColumn  Op = "column"  // a column of the input: Name, and after Check its place Col
	OpLiteral Op = "literal" // Value of Type
	OpCall    Op = "call"    // Name applied to Args; operators too: "+", "AND", "IS NULL", "LIKE"
	OpCase    Op = "case"    // Args are condition, result, condition, result …, else (always there after Check)
	OpCast    Op = "cast"    // Args[0] to Type, an error where the value does not fit
	OpTryCast Op = "trycast" // Args[0] to Type, NULL where the value does not fit
	OpAgg     Op = "agg"     // aggregate call Name over Args, Distinct, Filter; only in measures, having
)

// An Expr is a node of an expression. Before Check, Type and Col are unset; after it every node has
// its type, operands of one operation have been brought to common types by Implicit casts, and
// column references hold their place in the input schema. Nodes are not changed after Check.
type Expr struct {
	Op       Op      `json:"op"`
	Name     string  `json:"name,omitempty"`
	Args     []*Expr `json:"args,omitempty"`
	Col      int     `json:"col,omitempty"`
	Value    *Value  `json:"value,omitempty"`
	Type     Type    `json:"type"`
	Implicit bool    `json:"implicit,omitempty"` // a cast that Check put in, or a literal it gave its type: String leaves the type out
	Distinct bool    `json:"distinct,omitempty"`
	Filter   *Expr   `json:"filter,omitempty"`
	Zone     string  `json:"zone,omitempty"` // the session's, where the node reads it and it is not UTC
	Pos      Pos     `json:"pos"`            // where it begins in the expression's text
	End      int     `json:"end,omitempty"`
}

// A Pos is a place in an expression's text: byte offset from 0.
type Pos int

// A Value is a literal. Exactly the field that Type's kind names is used; Null means NULL of any
// type. Int holds BOOLEAN (0, 1), INT, BIGINT, DATE (days), TIME, TIMESTAMP and TIMESTAMP_LTZ
// (microseconds); Text holds the bytes of STRING and BYTES, and of a DECIMAL the text of its unscaled
// integer, so that 38 digits survive JSON.
type Value struct {
	Null   bool    `json:"null,omitempty"`
	Int    int64   `json:"int,omitempty,string"`
	Double float64 `json:"double,omitzero"`
	Text   string  `json:"text,omitempty"`
	Secret bool    `json:"secret,omitempty"` // not to be shown: what is computed from it is not folded, and failures leave its values out
}

// A Named is an expression with the name of the column it becomes.
type Named struct {
	Name string `json:"name"`
	Expr *Expr  `json:"expr"`
}

// An Error is a fault found in an expression's text, before anything runs.
type Error struct {
	Pos, End int    // byte range in the text
	Message  string // what is wrong
	Expected string // what would be right, "" where nothing can be said
	Near     string // the nearest right name, "" where none is near
}

// Error is the message with what was expected.
func (e *Error) Error() string {
	s := e.Message
	if e.Expected != "" {
		s += ": expected " + e.Expected
	}
	if e.Near != "" {
		s += " (did you mean " + e.Near + "?)"
	}
	return s
}

// An EvalError is a value on which an expression fails while running.
type EvalError struct {
	Kind       string // stable class: CastError, Overflow, DivisionByZero, EvaluationError
	Message    string // "cannot cast 'two' to INT"
	Row        int    // row of the batch it was found at
	Field      string // the column the value came from, "" where it was computed
	Value      string // the offending value as text
	Expression string // the expression as SQL
}

// Error is the message with the expression.
func (e *EvalError) Error() string {
	if e.Expression == "" {
		return e.Message
	}
	return e.Message + " in " + e.Expression
}

// Class is the stable class of the failure.
func (e *EvalError) Class() string { return e.Kind }

// Datum is the value at fault, and where it stood.
func (e *EvalError) Datum() (field, value, expression string) {
	return e.Field, e.Value, e.Expression
}
