// Package plans reads plans: YAML in, a Plan or all findings at once out.
//
// A plan is a mapping with the keys name, mode, params, settings and four sections of named nodes:
// sources, transforms, aggregations and sinks. What may be written in more than one way is decided
// here:
//
//   - Edges are always written with from. A union is from: [a, b] with union: {}, or with
//     union: {distinct: true}; it has no other keys of SELECT beside it.
//   - select is a mapping of names to expressions, or a list of columns and name: expression; all
//     columns are "*", or "*": {except: [a]}. group_by is such a list; measures is a mapping.
//   - An item alone in a list is a column, whatever its name looks like. A value that consists of
//     words ("Flight Date", "count") is the column of that name where there is one.
//   - A parameter has the type of its default: 10 is BIGINT, 1.5 DECIMAL(2, 1), 1e3 DOUBLE, true
//     BOOLEAN; everything else, everything quoted and a number with leading zeros is STRING. Without
//     a default it must be given, as text. --set keeps the type.
//   - ${env:NAME}, ${env:NAME:-default} and ${file:PATH} may stand wherever a parameter may except in
//     expressions, and as a parameter's value, whose type the default then gives. The default counts
//     where the variable is not set or empty; PATH is relative to the plan file, the end of its last
//     line is left out. What comes from there is a secret: see [Plan.Hide].
//   - Merge keys and tags are refused; anchors and aliases work, within limits.
package plans

import (
	"encoding/json"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Plan is a plan file as it was written, checked for form, with params put in. Columns and types
// are checked when it is built into a job graph.
type Plan struct {
	Name     string
	File     string // as given on the command line
	Dir      string // folder of the file; relative paths start there
	Digest   string // "sha256:…" of the file's bytes
	Mode     string // batch or streaming
	Zone     string // the session's time zone, table.local-time-zone; "" is UTC
	Params   []Param
	Nodes    []Node // all nodes of the four sections, in the order of the file
	Settings []Setting
	Text     []byte // the file, for findings made later
	named    *Pos   // where the key name stands, nil where it is left out
	moded    *Pos   // the same for mode
	secrets  []string
}

// Values are the options that the plan sets, by its settings and by the keys that say the same as an
// option, in the form [config.Load] takes.
func (p *Plan) Values() []config.Value {
	where := func(pos Pos) string { return fmt.Sprintf("%s:%d:%d", p.File, pos.Line, pos.Column) }
	var out []config.Value
	if p.named != nil {
		out = append(out, config.Value{Name: config.PipelineName, Value: p.Name, Where: where(*p.named), Key: "name"})
	}
	if p.moded != nil {
		out = append(out, config.Value{Name: config.RuntimeMode, Value: p.Mode, Where: where(*p.moded), Key: "mode"})
	}
	for _, s := range p.Settings {
		out = append(out, config.Value{Name: s.Name, Value: s.Value, Where: where(s.Pos)})
	}
	return out
}

// A Param is a parameter with the value in force.
type Param struct {
	Name   string
	Value  expr.Value
	Type   expr.Type
	Source string // plan, flag, env or file
	Text   string // the value as text, for paths and report
	Pos    Pos    // where it is declared
	Secret bool   // the value came from outside the plan and is not to be shown
}

// A Setting is an option set in the plan.
type Setting struct {
	Name  string
	Value string
	Pos   Pos
}

// A Pos is a place in the plan file, line and column from 1 (column in characters).
type Pos struct {
	Line, Column int
	Path         string // "transforms.paid.where"
}

// Section is one of the four sections that hold nodes.
type Section string

// The sections.
const (
	Sources      Section = "sources"
	Transforms   Section = "transforms"
	Aggregations Section = "aggregations"
	Sinks        Section = "sinks"
)

// A Node is a node of the plan. Exactly one of Source, Select, Aggregate, Union, Unnest, Step and Sink is set.
type Node struct {
	Name         string
	Section      Section
	Pos          Pos
	Doc          string
	UID          string
	Parallelism  int // 0: not set
	SharingGroup string
	From         []Input // none for a source; one, or several for union

	Source    *Connector
	Select    *Select
	Aggregate *Aggregate
	Union     *Union
	Unnest    *Unnest
	Step      *Connector // any operator of the catalog, by its kind key
	Sink      *Connector
}

// An Input is a `from`.
type Input struct {
	Node string
	Port string // "" or "rejected", "late"
	Pos  Pos
}

// A Connector is the component of a source, a sink or a step, with its options decoded.
type Connector struct {
	Kind    string // csv, parquet, json, print, blackhole …
	Options json.RawMessage
	Pos     Pos
	// Places gives the position of each option by its path in Options ("columns.amount").
	Places  map[string]Pos
	OnError *OnError // sources
	// Watermark is the event time of a source, nil where it has none.
	Watermark *Watermark
}

// OnError says what a source does with bad rows.
type OnError struct {
	Skip     bool
	MaxRows  int64   // -1: no limit
	MaxShare float64 // 0..1; -1: no limit
	Pos      Pos
}

// An Expression is an SQL expression of the plan: parsed, with params bound as typed literals, not
// yet checked against a schema.
type Expression struct {
	Text string // as written
	Expr *expr.Expr
	// Bare marks a text that may be the exact name of a column ("Flight Date", "count"), and then is
	// that column: see [Expression.In].
	Bare bool
	Pos  Pos
	// At maps a byte offset of Text to the place in the file, through quotes and block scalars.
	At func(offset int) Pos

	quoted bool  // in YAML's quotes or a block
	fault  error // why it does not parse, where Bare lets it pass as a column's name
}

// In is the expression over a schema: the column of exactly that name where the text is one, else
// what was parsed.
func (e *Expression) In(s expr.Schema) *expr.Expr {
	if e.Bare && s.Index(e.Text) >= 0 {
		return &expr.Expr{Op: expr.OpColumn, Name: e.Text, End: len(e.Text)}
	}
	return e.Expr
}

// An Item is a named expression.
type Item struct {
	Name string
	Expression
}

// A Select is a transform: one SELECT.
type Select struct {
	Where     *Expression
	Items     []SelectItem // empty: all columns
	Distinct  bool
	OrderBy   []OrderItem
	Limit     int64 // -1: none
	Offset    int64
	OffsetPos Pos
}

// A SelectItem is an item of `select`, or its star.
type SelectItem struct {
	Item
	Star   bool
	Except []string
}

// An OrderItem is one key of `order_by`: a column or an expression over the columns that select gives.
type OrderItem struct {
	Expression
	Desc       bool
	NullsFirst bool // resolved: NULLs sort lowest unless written otherwise
}

// An Aggregate is an aggregation.
type Aggregate struct {
	Keys     []Item // a bare column has its own name
	Measures []Item // with aggregate calls inside
	Having   *Expression
}

// A Union puts inputs together; Distinct drops equal rows.
type Union struct {
	Distinct bool
}
