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
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `csv:`.
type Options struct {
	Path           []string           `json:"path" yaml:"path" validate:"required,min=1,dive,required" doc:"File, folder or glob, or a list of them; relative to the plan file. For a sink one file (a name with an extension) or a folder."`
	Columns        connectors.Columns `json:"columns,omitempty" yaml:"columns" doc:"Sources: the columns to read and their types, by header name. Columns of the file that are not declared are passed over. Left out: all columns, with types that fit a sample of their values."`
	AllowEmpty     bool               `json:"allow_empty,omitempty" yaml:"allow_empty" doc:"Sources: whether a path may match no file, which is no rows then and an error otherwise." default:"false"`
	Delimiter      string             `json:"delimiter,omitempty" yaml:"delimiter" validate:"omitempty,max=16" doc:"The text between fields: one character or several; \"\\t\" is a tab. A sink takes one character." default:","`
	Header         *bool              `json:"header,omitempty" yaml:"header" doc:"Whether the first line names the columns. Without it the declared columns are the file's, in order." default:"true"`
	NullValues     []string           `json:"null_values" yaml:"null_values" doc:"Unquoted fields that mean NULL beside the empty one; an empty list: none at all, and an empty field is an empty text. Quoted fields are never NULL. A sink writes the first one."`
	Check          string             `json:"check,omitempty" yaml:"check" validate:"omitempty,oneof=used all" doc:"Sources: used: a value is checked if the plan uses it. all: every declared column of every row is parsed." default:"used"`
	Quote          *string            `json:"quote,omitempty" yaml:"quote" doc:"Sources: the character around fields that hold delimiters or line breaks; \"\" is none. The default is the double quote."`
	Escape         string             `json:"escape,omitempty" yaml:"escape" validate:"omitempty,oneof=doubled backslash" doc:"Sources: doubled: a quote inside quotes is written twice. backslash: a character behind a backslash stands for itself." default:"doubled"`
	Comment        string             `json:"comment,omitempty" yaml:"comment" doc:"Sources: lines that begin with this text are passed over."`
	SkipLines      int64              `json:"skip_lines,omitempty" yaml:"skip_lines" validate:"min=0" doc:"Sources: lines to pass over before the header." default:"0"`
	Trim           bool               `json:"trim,omitempty" yaml:"trim" doc:"Sources: blanks and tabs around fields and outside quotes are no part of them." default:"false"`
	LineEnding     string             `json:"line_ending,omitempty" yaml:"line_ending" validate:"omitempty,oneof=lf cr" doc:"Sources: lf: lines end with LF or CRLF. cr: with a bare carriage return." default:"lf"`
	Encoding       string             `json:"encoding,omitempty" yaml:"encoding" doc:"Sources: the encoding of the text, such as utf-8, utf-16, latin-1 or windows-1252. A byte-order mark of UTF-16 or UTF-32 is enough." default:"utf-8"`
	Decimal        string             `json:"decimal,omitempty" yaml:"decimal" validate:"omitempty,max=1" doc:"Sources: the decimal mark of numbers, \".\" or \",\"." default:"."`
	Thousands      string             `json:"thousands,omitempty" yaml:"thousands" doc:"Sources: the mark between groups of three digits, such as \".\", \",\", \"'\" or a blank; without it such numbers are faults."`
	Formats        columntext.Formats `json:"formats,omitempty" yaml:"formats" doc:"Sources: how dates and times of a column are written, as in {ordered_at: \"dd.MM.yyyy HH:mm\"}: yyyy yy MM M MMM dd d HH H hh h mm ss S a XXX, other letters in single quotes. iso: ISO 8601 with an offset or without, turned to UTC."`
	Zone           string             `json:"zone,omitempty" yaml:"zone" doc:"Sources: the time zone of a TIMESTAMP_LTZ that is written without an offset, such as Europe/Berlin. Where clocks show a time twice it is the earlier one, and one that they skip is a fault. Unset: table.local-time-zone."`
	Ragged         string             `json:"ragged,omitempty" yaml:"ragged" validate:"omitempty,oneof=error pad skip" doc:"Sources: what becomes of a record with too few or too many fields. pad: what is missing is NULL and what is too much is left off. skip: it is left out. Both are counted." default:"error"`
	DuplicateNames string             `json:"duplicate_names,omitempty" yaml:"duplicate_names" validate:"omitempty,oneof=error rename" doc:"Sources: what becomes of a declared column whose name stands in the header several times. rename: the second one is name_2, or the next number that is free." default:"error"`
	ExtraColumns   string             `json:"extra_columns,omitempty" yaml:"extra_columns" validate:"omitempty,oneof=ignore error" doc:"Sources: what becomes of columns of a file that columns does not declare. ignore: they are passed over, and the report counts them by file." default:"ignore"`
	Mode           string             `json:"mode,omitempty" yaml:"mode" validate:"omitempty,oneof=error overwrite append" doc:"Sinks: what to do with a target that exists." default:"error"`
}

// Spec declares csv. A source that leaves out its columns has those of the header (column1, column2 … where
// there is none), with types inferred from a sample of the values.
var Spec = connectors.Spec[Options]{
	Name:     "csv",
	Files:    true,
	Summary:  "Delimited text files with a header line, split by bytes.",
	Bind:     bind,
	Declared: func(o Options) (expr.Schema, bool) { return expr.Schema{Fields: o.Columns}, len(o.Columns) > 0 },
	Open:     open,
	BindSink: bindSink,
	OpenSink: openSink,
}

// delimiter is the one byte between fields that a sink writes.
func (o Options) delimiter() (byte, error) {
	switch d := o.Delimiter; {
	case d == "":
		return ',', nil
	case d == `\t`:
		return '\t', nil
	case len(d) != 1 || d[0] >= 0x80 || strings.ContainsAny(d, "\"\r\n\x00"):
		return 0, files.Refused("delimiter %q: expected one ASCII character that is no quote and no line break, such as \";\" or \"\\t\"", d)
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
