// Package json reads and writes JSON lines: one object a line.
//
// A record is a text as RFC 8259 has it, whatever of it the plan uses: UTF-8, no comments, no trailing
// commas, no NaN. Lines end with LF or CRLF, the last one may have no end; a line of blanks alone is passed
// over, and a byte-order mark at the start of a file is no part of it. What a line holds is an object:
// another value is a fault, and so is text behind the object.
//
// A column is the member of its name, or what stands at its path. Its value is read as exactly as it is
// written: no digit of a number passes through a DOUBLE. null is NULL, and so is what is not there. What
// a string holds is read like a field of a CSV file, so that "12" may be a BIGINT and "NaN" a DOUBLE. A
// STRING takes any value: an object, an array, a number or a boolean is its JSON text as it stands.
// Anything else that is not of the column's type is a fault, never NULL.
package json

import (
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `json:`.
type Options struct {
	Path          []string           `json:"path" yaml:"path" validate:"required,min=1,dive,required" doc:"File, folder or glob, or a list of them; relative to the plan file. For a sink one file (a name with an extension) or a folder."`
	Columns       Columns            `json:"columns,omitempty" yaml:"columns" doc:"Sources: the columns to read, as name: TYPE for a member of that name, or name: {type: TYPE, path: \"a.b[0].c\"} for what stands further in. A name with a point or a bracket stands in backticks there. Members that are not declared are passed over."`
	AllowEmpty    bool               `json:"allow_empty,omitempty" yaml:"allow_empty" doc:"Sources: whether a path may match no file, which is no rows then and an error otherwise." default:"false"`
	Format        string             `json:"format,omitempty" yaml:"format" validate:"omitempty,oneof=lines array" doc:"Sources: lines: an object a line. array: a file is one array of objects, over any number of lines; it is read in order." default:"lines"`
	Check         string             `json:"check,omitempty" yaml:"check" validate:"omitempty,oneof=used all" doc:"Sources: used: a value is checked if the plan uses it. all: every declared column of every row is parsed. The syntax is checked in any case." default:"used"`
	DuplicateKeys string             `json:"duplicate_keys,omitempty" yaml:"duplicate_keys" validate:"omitempty,oneof=error last" doc:"Sources: what becomes of a key that stands twice in an object and that a used column reads. last: the last one counts." default:"error"`
	Encoding      string             `json:"encoding,omitempty" yaml:"encoding" doc:"Sources: the encoding of the text, such as utf-8, utf-16, latin-1 or windows-1252. A byte-order mark of UTF-16 or UTF-32 is enough." default:"utf-8"`
	Formats       columntext.Formats `json:"formats,omitempty" yaml:"formats" doc:"Sources: how dates and times of a column are written, as in {ordered_at: \"dd.MM.yyyy HH:mm\"}: yyyy yy MM M MMM dd d HH H hh h mm ss S a XXX, other letters in single quotes. iso: ISO 8601 with an offset or without, turned to UTC."`
	Zone          string             `json:"zone,omitempty" yaml:"zone" doc:"Sources: the time zone of a TIMESTAMP_LTZ that is written without an offset, such as Europe/Berlin. Where clocks show a time twice it is the earlier one, and one that they skip is a fault. Unset: table.local-time-zone."`
	Mode          string             `json:"mode,omitempty" yaml:"mode" validate:"omitempty,oneof=error overwrite append" doc:"Sinks: what to do with a target that exists." default:"error"`
}

// Spec declares json.
var Spec = connectors.Spec[Options]{
	Name:     "json",
	Files:    true,
	Summary:  "JSON lines: one object a row, numbers with all their digits, dates and times as text.",
	Bind:     bind,
	Declared: func(o Options) (expr.Schema, bool) { return o.Columns.schema(), len(o.Columns) > 0 },
	Open:     open,
	BindSink: bindSink,
	OpenSink: openSink,
}

// formatError is the class of a text that is not JSON.
const formatError = "JsonFormatError"
