// Package csv reads and writes delimited text files.
//
// The dialect is RFC 4180: fields stand between delimiters; a field that begins with a quote ends at
// the next quote that is not doubled, and may hold delimiters and line breaks; lines end with LF or
// CRLF, the last one may have no end. A quote inside a field that does not begin with one is data, as
// in 5" pipe. Text after a closing quote and a record with too few or too many fields are errors, in
// used and unused columns alike, because they put in doubt where records begin. Values are checked only
// where the plan uses them.
//
// A blank line is passed over, except in a file of one column, where it is a row whose field is
// empty. A byte-order mark at the start of a file is no part of the data.
package csv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `csv:`.
type Options struct {
	Path       []string           `json:"path" yaml:"path" validate:"required,min=1,dive,required" doc:"File, folder or glob, or a list of them; relative to the plan file. For a sink one file (a name with an extension) or a folder."`
	Columns    connectors.Columns `json:"columns,omitempty" yaml:"columns" doc:"Sources: the columns to read and their types, by header name. Columns of the file that are not declared are passed over."`
	Delimiter  string             `json:"delimiter,omitempty" yaml:"delimiter" validate:"omitempty,max=2" doc:"The character between fields; \"\\t\" is a tab." default:","`
	Header     *bool              `json:"header,omitempty" yaml:"header" doc:"Whether the first line names the columns. Without it the declared columns are the file's, in order." default:"true"`
	NullValues []string           `json:"null_values" yaml:"null_values" doc:"Unquoted fields that mean NULL beside the empty one; an empty list: none at all, and an empty field is an empty text. Quoted fields are never NULL. A sink writes the first one."`
	Check      string             `json:"check,omitempty" yaml:"check" validate:"omitempty,oneof=used all" doc:"used: a value is checked if the plan uses it. all: every declared column of every row is parsed." default:"used"`
	Mode       string             `json:"mode,omitempty" yaml:"mode" validate:"omitempty,oneof=error overwrite append" doc:"Sinks: what to do with a target that exists." default:"error"`
}

// Spec declares csv.
var Spec = connectors.Spec[Options]{
	Name:     "csv",
	Summary:  "Delimited text files with a header line, split by bytes.",
	Bind:     bind,
	Declared: func(o Options) (expr.Schema, bool) { return expr.Schema{Fields: o.Columns}, len(o.Columns) > 0 },
	Open:     open,
	BindSink: bindSink,
	OpenSink: openSink,
}

// delimiter is the one byte between fields.
func (o Options) delimiter() (byte, error) {
	switch d := o.Delimiter; {
	case d == "":
		return ',', nil
	case d == `\t`:
		return '\t', nil
	case len(d) != 1 || d[0] >= 0x80 || strings.ContainsAny(d, "\"\r\n\x00"):
		return 0, fmt.Errorf("delimiter %q: expected one ASCII character that is no quote and no line break, such as \";\" or \"\\t\"", d)
	default:
		return d[0], nil
	}
}

// hasHeader is Header with its default.
func (o Options) hasHeader() bool { return o.Header == nil || *o.Header }

// nulls are the unquoted fields that mean NULL: the empty one and NullValues. An empty list that was
// written out means none at all, so that an empty field is an empty text.
func (o Options) nulls() []string {
	if o.NullValues == nil {
		return []string{""}
	}
	if len(o.NullValues) == 0 || slices.Contains(o.NullValues, "") {
		return o.NullValues
	}
	return append(slices.Clone(o.NullValues), "")
}
