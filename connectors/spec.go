package connectors

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An Env is what binding needs to know of the plan.
type Env struct {
	Node string // the plan node
	Dir  string // folder of the plan file: relative paths start there
	// SkipBadRows is what on_error says: bad rows are left out and counted. A source that can says so by
	// [Skipping].
	SkipBadRows bool
	// Watermark is the event time that the plan gives a source; nil: none. It is of a column of the schema.
	Watermark *Watermark
	// Zone is the session's time zone, table.local-time-zone; "" is UTC.
	Zone string
	// Streaming: the job is a stream, so that a sink that shows rows as they come has to.
	Streaming bool
}

// A Spec declares a connector; a source, a sink or both. O are the options under its name in a plan.
type Spec[O any] struct {
	Name, Summary string
	// Files says that a source's rows come from the files of its Inventory, so that they have the hidden
	// column _file.
	Files bool
	// Bind does the source's I/O: lists files, reads headers and footers. The result is data: Open
	// makes a Source of it anywhere, without I/O. nil: not a source.
	Bind func(ctx context.Context, o O, e Env) (state []byte, err error)
	Open func(state []byte) (Source, error)
	// Declared is the schema that the options alone tell, without I/O; nil, or false, where they do not.
	Declared func(o O) (expr.Schema, bool)
	// BindSink checks the target without touching it. nil: not a sink.
	BindSink func(ctx context.Context, o O, in expr.Schema, e Env) (BoundSink, error)
	OpenSink func(state []byte, in expr.Schema) (Sink, error)
}

// A BoundSink is a sink's target, checked.
type BoundSink struct {
	State      []byte   `json:"state"`
	SingleFile bool     `json:"singleFile"` // only one writer: the vertex gets parallelism 1
	Targets    []string `json:"targets"`    // cleaned absolute paths, to find two sinks on one
	// AsTheyCome: rows are seen before the job ends, so a stream without end may end here.
	AsTheyCome bool `json:"asTheyCome,omitempty"`
}

// A Component is a Spec with its options type erased.
type Component interface {
	Name() string
	Summary() string
	IsSource() bool
	IsSink() bool
	ReadsFiles() bool // see Spec.Files
	Options() any     // a new *O, zero
	Bind(ctx context.Context, options json.RawMessage, e Env) ([]byte, error)
	Open(state []byte) (Source, error)
	Declared(options json.RawMessage) (expr.Schema, bool)
	BindSink(ctx context.Context, options json.RawMessage, in expr.Schema, e Env) (BoundSink, error)
	OpenSink(state []byte, in expr.Schema) (Sink, error)
}

// Erase makes a Component of a Spec.
func Erase[O any](s Spec[O]) Component { return erased[O]{s} }

type erased[O any] struct{ spec Spec[O] }

func (e erased[O]) Name() string     { return e.spec.Name }
func (e erased[O]) Summary() string  { return e.spec.Summary }
func (e erased[O]) IsSource() bool   { return e.spec.Bind != nil }
func (e erased[O]) IsSink() bool     { return e.spec.BindSink != nil }
func (e erased[O]) ReadsFiles() bool { return e.spec.Files && e.spec.Bind != nil }
func (e erased[O]) Options() any     { return new(O) }

func (e erased[O]) decode(b json.RawMessage) (O, error) {
	var o O
	if len(b) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("reading the options of %s: %w", e.spec.Name, err)
	}
	return o, nil
}

func (e erased[O]) Bind(ctx context.Context, b json.RawMessage, env Env) ([]byte, error) {
	o, err := e.decode(b)
	if err != nil {
		return nil, err
	}
	return e.spec.Bind(ctx, o, env)
}

func (e erased[O]) Declared(b json.RawMessage) (expr.Schema, bool) {
	o, err := e.decode(b)
	if err != nil || e.spec.Declared == nil {
		return expr.Schema{}, false
	}
	return e.spec.Declared(o)
}

func (e erased[O]) Open(state []byte) (Source, error) { return e.spec.Open(state) }

func (e erased[O]) BindSink(ctx context.Context, b json.RawMessage, in expr.Schema, env Env) (BoundSink, error) {
	o, err := e.decode(b)
	if err != nil {
		return BoundSink{}, err
	}
	return e.spec.BindSink(ctx, o, in, env)
}

func (e erased[O]) OpenSink(state []byte, in expr.Schema) (Sink, error) {
	return e.spec.OpenSink(state, in)
}

// A Catalog is the connectors a process knows, by name.
type Catalog map[string]Component

// NewCatalog makes a catalog; two components of one name are a fault of the program.
func NewCatalog(list ...Component) (Catalog, error) {
	c := Catalog{}
	for _, s := range list {
		if c[s.Name()] != nil {
			return nil, fmt.Errorf("two connectors are called %s", s.Name())
		}
		c[s.Name()] = s
	}
	return c, nil
}

// Names are the names in order of those for which keep is true.
func (c Catalog) Names(keep func(Component) bool) []string {
	var n []string
	for k, v := range c {
		if keep(v) {
			n = append(n, k)
		}
	}
	sort.Strings(n)
	return n
}

// Columns is an ordered mapping of column names to types, as a plan's `columns:` has it.
type Columns []expr.Field

// SetEntry takes one entry of the mapping, in order. The plan decoder calls it.
func (c *Columns) SetEntry(key, value string) error {
	t, err := expr.ParseType(value)
	if err != nil {
		return err
	}
	for _, f := range *c {
		if f.Name == key {
			return fmt.Errorf("column %s is declared twice", key)
		}
	}
	*c = append(*c, expr.Field{Name: key, Type: t})
	return nil
}

// A DataError is a fault of the input data, with its place. Line and Column are from 1, zero where
// not known; Offset is the byte offset of the record.
type DataError struct {
	Kind    string // stable class: CastError, CsvFormatError, SchemaMismatch, DamagedFile, MissingFile
	Message string
	File    string
	Line    int64
	Column  int64
	Field   string
	Value   string
	Wanted  string   // what would be right: "INT", "3 fields"
	Order   [2]int64 // place in file order (file from 1, byte offset of the record): the least one is reported
	Cause   error
}

// Error says what is wrong and where.
func (e *DataError) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if e.File != "" {
		fmt.Fprintf(&b, " (%s", e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		if e.Line > 0 && e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap is the cause below.
func (e *DataError) Unwrap() error { return e.Cause }

// Class is the stable class of the failure.
func (e *DataError) Class() string { return e.Kind }

// Position is the place in the input.
func (e *DataError) Position() (file string, line, column int64) { return e.File, e.Line, e.Column }

// Datum is the value at fault.
func (e *DataError) Datum() (field, value, expression string) { return e.Field, e.Value, "" }

// InOrder is the place in file order.
func (e *DataError) InOrder() [2]int64 { return e.Order }
