package connectors

import (
	"cmp"
	"iter"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Rows that a source leaves out, since they are bad and its on_error says skip, come out of its port
// "rejected". A reader counts them in its [Tally] in any case; where [Pushdown].Rejects asks for them it
// is a [Rejecting] reader and hands them out too.

// PortRejected is the port of a source that its bad rows come out of.
const PortRejected = "rejected"

// RejectSchema is the schema of the port: one row for each record that was left out. The value, its
// column and what stands for them are NULL where the record as a whole is bad; raw is the record as it
// stands in the file, decoded, without its line end.
func RejectSchema() expr.Schema {
	text, count := expr.Of(expr.String), expr.Of(expr.BigInt)
	return expr.SchemaOf(
		expr.Field{Name: "file", Type: text.Nullable(false)},
		expr.Field{Name: "line", Type: count},
		expr.Field{Name: "byte_offset", Type: count.Nullable(false)},
		expr.Field{Name: "column_number", Type: count},
		expr.Field{Name: "column_name", Type: text},
		expr.Field{Name: "value", Type: text},
		expr.Field{Name: "raw", Type: text},
		expr.Field{Name: "code", Type: text.Nullable(false)},
		expr.Field{Name: "message", Type: text.Nullable(false)},
	)
}

// A Reject is a record that was bad and left out: what a [DataError] would have said, and the record.
type Reject struct {
	Class   string   `json:"class"`
	Message string   `json:"message"`
	File    string   `json:"file"`
	Line    int64    `json:"line"`
	Column  int64    `json:"column"`
	Field   string   `json:"field,omitempty"`
	Value   string   `json:"value,omitempty"`
	Order   [2]int64 `json:"order"`
	// Offset is the byte of the file (unpacked where it is compressed) at which the record begins; of a row of
	// a Parquet file the byte at which its row group does.
	Offset int64 `json:"offset"`
	// Raw is the record as text, without its line end. Bytes that are no text are U+FFFD, one for each.
	// It is only there where Pushdown.Rejects asked for the records.
	Raw string `json:"raw,omitempty"`
}

// A Rejecting reader hands out the records that it left out. The runtime asks after every Next that gave
// no error, so a reader need not keep more of them than a batch has rows: with many of them and no batch,
// Next gives More and a batch whose Rec is nil.
type Rejecting interface {
	// Rejects are the records left out since the last call: as many as Tally's Rejected grew by.
	Rejects() []Reject
}

// A Replaying source can be told to read single records of its files and nothing else.
type Replaying interface {
	// Only is the state of a source like this one that reads these records, which may be none or millions: they
	// come file by file and in the order of each, and are not kept in memory. What of them the source and its
	// readers need is in files of the folder dir, which have to be there as long as there is such a source.
	// An error says which record cannot be read: one in a file that the source has not. The files themselves
	// are not looked at; a record that no longer stands in its file is an error of the reader.
	Only(records iter.Seq2[Record, error], dir string) (state []byte, err error)
}

// A Record says where a record stands that an earlier run left out. File is as [File].Path says it, or
// the end of its absolute path; Line, Offset and Raw are those of its [Reject].
type Record struct {
	File   string `json:"file"`
	Line   int64  `json:"line,omitempty"` // from 1; of a file without lines (Parquet) the row; 0 = not known
	Offset int64  `json:"offset"`
	Raw    string `json:"raw"`
}

// Before orders records as [Replaying] wants them: by file, line and byte.
func (r *Record) Before(o *Record) int {
	return cmp.Or(cmp.Compare(r.File, o.File), cmp.Compare(r.Line, o.Line), cmp.Compare(r.Offset, o.Offset))
}

// MostSampled is how many rejects of a file a [Tally] has in full.
const MostSampled = 20

// Samples reports whether a reject at a place in file order would be one of those a tally has in full, so
// that a reader need not look for the line of every other one.
func (t *Tally) Samples(order [2]int64) bool {
	return len(t.Sample) < MostSampled || before(order, t.Sample[len(t.Sample)-1].Order)
}

// Keep puts a reject among those a tally has in full, if it is one of the first in file order. It does
// not count it.
func (t *Tally) Keep(r Reject) {
	if !t.Samples(r.Order) {
		return
	}
	r.Raw = ""
	at, _ := slices.BinarySearchFunc(t.Sample, r, func(a, b Reject) int {
		if before(b.Order, a.Order) {
			return 1
		}
		return -1
	})
	t.Sample = slices.Insert(t.Sample, at, r)
	t.Sample = t.Sample[:min(len(t.Sample), MostSampled)]
	first := t.Sample[0]
	t.FirstReject = &first
}

// before orders places in file order.
func before(a, b [2]int64) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }
