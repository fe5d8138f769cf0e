// Package parquet reads and writes Apache Parquet files.
//
// Reading goes by row groups, the pieces a file is split into. Types become SQL types thus:
//
//	BOOLEAN                             BOOLEAN
//	INT32, and signed and unsigned 8 and 16 bits   INT
//	INT64, unsigned 32 bits             BIGINT
//	unsigned 64 bits                    BIGINT, an Overflow where a value does not fit; declared DECIMAL or STRING all do
//	FLOAT, DOUBLE, FLOAT16              DOUBLE, so that sums keep their digits
//	DECIMAL(p, s), however stored       DECIMAL(p, s), p up to 38
//	BYTE_ARRAY as text, enum or JSON    STRING
//	BYTE_ARRAY without annotation       BYTES; declared STRING, which old writers mean, text that has to be UTF-8
//	DATE                                DATE
//	TIME(ms), TIME(us, ns)              TIME(3), TIME(6)
//	TIMESTAMP(ms), TIMESTAMP(us, ns), INT96   TIMESTAMP(3), TIMESTAMP(6); TIMESTAMP_LTZ where it is an instant (adjusted to UTC)
//	Null, of columns that hold nothing else   as its physical type, mostly INT
//
// A plan that declares the columns may have whole numbers as TINYINT, SMALLINT, INT or BIGINT, which fail
// where a value does not fit, and a FLOAT as FLOAT.
//
// An INT96 and a TIMESTAMP of an old annotation, which does not say whether it is an instant, read as date and
// time in UTC, and as TIMESTAMP_LTZ where that is declared; nanoseconds are cut to microseconds. Other types are no part of the schema: a
// plan that declares one is refused with the reason. Encrypted files are refused.
//
// Groups are read as ROW, LISTs and repeated fields as ARRAY (also the forms of old writers that the format
// knows), MAPs as MAP, in one another up to 64 types deep. A plan that declares one names the fields it wants,
// which are found by name at every level: a field that the file has not is NULL, others are passed over, and types
// within become the declared ones as those of columns do. Without declared columns a nested column of a further file
// may lack fields, which are NULL, but has none that the first file lacks. Of a column that a plan looks at by its
// fields alone (customer.address.city) only their leaves are read. The key of a MAP that is NULL fails.
//
// Row groups in which no row can pass the filters directly on the source, by the bounds and NULL counts
// of the footer, are passed over: nothing of them is looked at, and their rows are counted as pruned.
// Within a row group the page index, where there is one, does the same for rows of pages: they are neither read nor decoded.
// Bounds of the older form, bounds that contradict each other, those of INT96 and of wide decimals, and
// filters that may raise prune nothing; NaN, which bounds leave out, is thought of.
//
// Writing goes by row groups too: each column is encoded page by page, by a dictionary, by differences or
// plainly, whichever is smaller, and every page has a checksum. Bounds and NULL counts are kept of row groups
// and of pages, with places of the pages. What several subtasks write becomes one file when it is
// published, if the target is one.
//
// With on_error: skip rows are left out in which a value that is checked is none of its type, in the file or as it
// is declared, or is NULL and may not be. The text of such a row is a JSON object of the columns that the plan
// reads, each as the file has it; a row is known by its number in the file.
//
// Every page of a column that is read is looked at before it is decoded: sizes, number of values,
// checksum where there is one. A file that contradicts itself is a DamagedFile error.
package parquet

import (
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `parquet:`.
type Options struct {
	Path         []string           `json:"path" yaml:"path" validate:"required,min=1,dive,required" doc:"File, folder or glob, or a list of them; relative to the plan file. For a sink one file (a name with an extension) or a folder."`
	Columns      connectors.Columns `json:"columns,omitempty" yaml:"columns" doc:"Sources: the columns to read and their types, by name; columns of the file that are not declared are passed over. Left out: all columns, as the file has them."`
	AllowEmpty   bool               `json:"allow_empty,omitempty" yaml:"allow_empty" doc:"Sources: whether a path may match no file, which is no rows then and an error otherwise." default:"false"`
	ExtraColumns string             `json:"extra_columns,omitempty" yaml:"extra_columns" validate:"omitempty,oneof=ignore error" doc:"Sources: what becomes of columns of a file that columns does not declare. ignore: they are passed over, and the report counts them by file." default:"ignore"`
	Missing      string             `json:"missing_columns,omitempty" yaml:"missing_columns" validate:"omitempty,oneof=error nulls" doc:"Sources: what becomes of a column that some of the files do not have. nulls: it is NULL in their rows; where columns is left out, the columns are those of all files together. One that no file has is an error in any case." default:"error"`
	Mode         string             `json:"mode,omitempty" yaml:"mode" validate:"omitempty,oneof=error overwrite append" doc:"Sinks: what to do with a target that exists." default:"error"`
	Compression  string             `json:"compression,omitempty" yaml:"compression" validate:"omitempty,oneof=snappy zstd gzip lz4_raw none" doc:"Sinks: how pages are compressed." default:"snappy"`
	RowGroupRows int64              `json:"row_group_rows,omitempty" yaml:"row_group_rows" validate:"omitempty,min=1,max=1000000" doc:"Sinks: most rows of a row group, which also ends at about 64 MB, or sooner where memory is short." default:"1000000"`
}

// Spec declares parquet.
var Spec = connectors.Spec[Options]{
	Name:     "parquet",
	Files:    true,
	Summary:  "Apache Parquet files, split by row groups.",
	Bind:     bind,
	Declared: func(o Options) (expr.Schema, bool) { return expr.Schema{Fields: o.Columns}, len(o.Columns) > 0 },
	Open:     open,
	BindSink: bindSink,
	OpenSink: openSink,
}
