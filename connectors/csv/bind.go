package csv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/connectors/files/unpack"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// stateVersion is the version of the bound state and of split states.
const stateVersion = 2

// A bound is a source after binding: all that reading needs to know.
type bound struct {
	Version   int                `json:"version"`
	Delimiter byte               `json:"delimiter"` // of the fast path
	Columns   []expr.Field       `json:"columns"`
	Nulls     []string           `json:"nulls"`
	CheckAll  bool               `json:"checkAll,omitempty"`
	Dialect   dialect            `json:"dialect"`
	Skip      bool               `json:"skip,omitempty"`   // bad rows are left out
	Ragged    string             `json:"ragged,omitempty"` // "" refuses, pad, skip
	Rename    bool               `json:"rename,omitempty"`
	NoExtra   bool               `json:"noExtra,omitempty"` // columns that are not declared are refused
	Marks     columntext.Marks   `json:"marks"`
	Formats   columntext.Formats `json:"formats,omitempty"`
	Zone      string             `json:"zone,omitempty"` // of TIMESTAMP_LTZ without an offset; "" is UTC
	Files     []input            `json:"files"`
	// Inferred is how Columns were found; nil where the plan declares them.
	Inferred *connectors.Inference `json:"inferred,omitempty"`

	naming bool  // the columns are being found: a file's header says which there are
	budget int64 // bytes of a sample; 0: the usual
}

// An input is one file, with the place of every declared column in it.
type input struct {
	Path   string `json:"path"` // to show
	Name   string `json:"name"` // as the plan writes it
	Abs    string `json:"abs"`  // to open
	Bytes  int64  `json:"bytes"`
	Time   int64  `json:"time"`   // of its last change, in nanoseconds since 1970
	Data   int64  `json:"data"`   // offset of the first record after byte-order mark and header
	Fields int    `json:"fields"` // of every record; 0 where the file has none
	Places []int  `json:"places"` // per declared column, from 0
	Extra  int    `json:"extra"`  // columns of the file that are not declared
	// InOrder says why the file is read from its beginning on, "" where it may be cut. Data is then an
	// offset of its text, and so are all offsets of its records.
	InOrder     string `json:"inOrder,omitempty"`
	Compression string `json:"compression,omitempty"`
	// Only are the records to read, nil for all of them.
	Only *text.Listing `json:"only,omitempty"`

	marked  string   // the UTF-16 or UTF-32 that its byte-order mark says
	names   []string // of its columns, where they are being found
	sampled bool     // some of its values were looked at
}

func bind(ctx context.Context, o Options, e connectors.Env) ([]byte, error) {
	return bindIn(ctx, files.Local(), o, e)
}

// bindIn lists the files and reads their headers.
func bindIn(ctx context.Context, fs files.FS, o Options, e connectors.Env) ([]byte, error) {
	b, err := o.bound()
	if err != nil {
		return nil, files.Refused("%v", err)
	}
	b.Skip = e.SkipBadRows
	if b.Zone == "" {
		b.Zone = e.Zone
	}
	list, err := files.Inputs(ctx, fs, o.Path, e.Dir, o.AllowEmpty)
	if err != nil {
		return nil, fmt.Errorf("finding the files of source %s: %w", e.Node, err)
	}
	if len(b.Columns) == 0 {
		v, err := b.infer(ctx, fs, o, list)
		if err != nil {
			return nil, fmt.Errorf("finding the columns of source %s: %w", e.Node, err)
		}
		b.Columns, b.Inferred = v.Columns, &v.Inference
		if err := b.Formats.Check(b.Columns); err != nil {
			return nil, files.Refused("%v", err)
		}
	}
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("binding source %s: %w", e.Node, err)
		}
		in, err := b.look(fs, f, len(b.Files)+1, o.hasHeader())
		if err != nil {
			return nil, fmt.Errorf("binding source %s: %w", e.Node, err)
		}
		b.Files = append(b.Files, in)
	}
	s, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("writing the state of source %s: %w", e.Node, err)
	}
	return s, nil
}

// column makes the column that reads the i-th declared one.
func (b *bound) column(i int, nulls *columntext.NullTokens, alloc memory.Allocator) *columntext.Column {
	f := b.Columns[i]
	style := b.style(f.Name)
	style.Nulls = nulls
	if b.Inferred != nil && !b.Inferred.Whole && f.Type.Kind != expr.String {
		style.Fit = infer.NewFit(f.Type, style.Rules())
	}
	return columntext.New(f, style, alloc)
}

// bound is a source without its files.
func (o Options) bound() (bound, error) {
	d, err := o.dialect()
	b := bound{
		Version: stateVersion, Delimiter: d.Delimiter[0], Columns: o.Columns, Nulls: o.nulls(), CheckAll: o.Check == "all",
		Dialect: d, Rename: o.DuplicateNames == "rename", NoExtra: o.ExtraColumns == "error", Formats: o.Formats, Zone: o.Zone,
	}
	if err != nil {
		return b, err
	}
	if o.Mode != "" && o.Mode != string(files.ModeError) {
		return b, errors.New("mode: " + o.Mode + " belongs to sinks: a source only reads")
	}
	for _, c := range o.Columns {
		if c.Type.Nested() {
			return b, fmt.Errorf("columns: %s is %s, which a field of a CSV file cannot be: declare it STRING", c.Name, c.Type)
		}
	}
	if _, err := expr.LoadZone(o.Zone); err != nil {
		return b, fmt.Errorf("zone: %w", err)
	}
	if o.Ragged != "error" {
		b.Ragged = o.Ragged
	}
	if b.Marks, err = columntext.NewMarks(o.Decimal, o.Thousands); err != nil {
		return b, err
	}
	if len(o.Columns) == 0 {
		return b, nil
	}
	return b, o.Formats.Check(o.Columns)
}

// look reads the beginning of a file and finds its columns.
func (b *bound) look(fs files.FS, f files.File, number int, header bool) (input, error) {
	in := input{Path: f.Path, Name: f.Name, Abs: f.Abs, Bytes: f.Bytes, Time: f.ModTime.UnixNano()}
	h, err := fs.Open(f.Abs)
	if err != nil {
		return in, files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	head := make([]byte, min(unpack.Head, h.Size()))
	if err = text.ReadFull(h, f.Path, h.Size(), head, 0); err != nil {
		return in, errors.Join(err, h.Close())
	}
	if in.Compression, err = unpack.Kind(f.Abs, head); err != nil {
		return in, errors.Join(&connectors.DataError{
			Kind: "DamagedFile", File: f.Path, Message: f.Path + ": " + err.Error(), Order: [2]int64{int64(number), 0},
		}, h.Close())
	}
	if bytes.HasPrefix(head, []byte("PAR1")) && h.Size() >= 12 {
		end := make([]byte, 4)
		if err = text.ReadFull(h, f.Path, h.Size(), end, h.Size()-4); err != nil {
			return in, errors.Join(err, h.Close())
		}
		if string(end) == "PAR1" {
			err = in.refusal(number)("CsvFormatError", f.Path+" is a Parquet file: a parquet source reads it", "delimited text")
			return in, errors.Join(err, h.Close())
		}
	}
	in.InOrder = b.Dialect.inOrder()
	switch {
	case in.Compression != "":
		in.InOrder = "it is compressed (" + in.Compression + ")"
	case text.Marked(head) != "":
		in.marked = text.Marked(head)
		in.InOrder = "its text is " + in.marked[:len("utf-16")]
	}
	if in.InOrder != "" {
		return in, errors.Join(h.Close(), b.resolveStream(fs, &in, number, header))
	}
	return in, errors.Join(b.resolve(&in, h, number, header), h.Close())
}

// refusal makes the errors of a file's beginning.
func (in *input) refusal(number int) func(kind, message, wanted string) error {
	return func(kind, message, wanted string) error {
		return &connectors.DataError{
			Kind: kind, Message: message, File: in.Path, Line: 1, Wanted: wanted, Order: [2]int64{int64(number), 0},
		}
	}
}

// resolve fills in where the data begins and where each column is.
func (b *bound) resolve(in *input, h files.ReadFile, number int, header bool) error {
	r := &recordReader{file: h, path: in.Path, size: in.Bytes, delimiter: b.Delimiter}
	mark, err := r.peek(3)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(mark, []byte("\uFEFF")) {
		r.pos = 3
	}
	if err := r.skipLines(b.Dialect.Skip); err != nil {
		return err
	}
	in.Data = r.pos
	if !header {
		in.Fields = len(b.Columns)
	}
	first, raw, at, err := r.next()
	for err == nil && raw != nil && first.blank && (header || len(b.Columns) != 1) {
		first, raw, at, err = r.next()
	}
	if err == nil && raw == nil {
		in.nothing(r.pos, b)
	}
	if err != nil || raw == nil {
		return err
	}
	if first.verdict != whole {
		f := structural(first, raw, at, int64(number), 0)
		return f.locate(h, in, b)
	}
	if header {
		in.Data = at + int64(first.length)
	}
	d := dialect{Delimiter: string(b.Delimiter), Quote: quote}
	return b.head(in, &d, first, raw, header, in.refusal(number))
}

// resolveStream does the same for a file that is read in order.
func (b *bound) resolveStream(fs files.FS, in *input, number int, header bool) (err error) {
	s, err := openStream(fs, in, b.Dialect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.skipLines(b.Dialect.Skip); err != nil {
		return err
	}
	in.Data = s.Base
	if !header {
		in.Fields = len(b.Columns)
	}
	first, raw, at, line, err := s.next()
	for err == nil && raw != nil && first.blank && (header || len(b.Columns) != 1) {
		first, raw, at, line, err = s.next()
	}
	if err == nil && raw == nil {
		in.nothing(s.Base, b)
	}
	if err != nil || raw == nil {
		return err
	}
	if first.verdict != whole {
		return structural(first, raw, at, int64(number), 0).at(in, line, int64(len(first.fields))+1)
	}
	if header {
		in.Data = s.Base
	}
	return b.head(in, &s.dialect, first, raw, header, in.refusal(number))
}

// nothing makes a file without a record have no rows: what there is of it, blank lines, is passed over.
func (in *input) nothing(end int64, b *bound) {
	in.Data, in.Fields = end, max(len(b.Columns), 1)
}

// head finds the columns by the first record.
func (b *bound) head(in *input, d *dialect, first record, raw []byte, header bool, fail func(kind, message, wanted string) error) error {
	names := make([]string, len(first.fields))
	for i, f := range first.fields {
		v := d.text(raw, f)
		if !f.quoted && bytes.IndexByte(v, '\r') >= 0 {
			return fail("CsvFormatError", "line ending CR: the lines of the file end with a bare carriage return: the source needs `line_ending: cr`", "line_ending: cr")
		}
		names[i] = string(v)
	}
	in.Fields = len(names)
	if header && b.Rename {
		names = Renamed(names)
	}
	if b.naming {
		in.names = names
		return nil
	}
	if header {
		return b.byName(in, names, fail)
	}
	return b.byPlace(in, names, fail)
}

// Renamed gives every name that was there before a number: the least from 2 on that makes it a name
// that neither the header nor an earlier renaming has.
func Renamed(names []string) []string {
	taken := map[string]bool{}
	for _, n := range names {
		taken[n] = true
	}
	last := map[string]int{} // the number that a name had last; numbers below it are taken
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		if k := last[n]; k > 0 {
			for k++; taken[fmt.Sprintf("%s_%d", n, k)]; k++ {
			}
			out[i], last[n] = fmt.Sprintf("%s_%d", n, k), k
		} else {
			last[n] = 1
		}
		taken[out[i]] = true
	}
	return out
}

func (b *bound) byPlace(in *input, first []string, fail func(kind, message, wanted string) error) error {
	if len(first) != len(b.Columns) && b.Ragged != "" {
		in.Fields = len(b.Columns)
		first = make([]string, len(b.Columns))
	}
	if len(first) != len(b.Columns) {
		return fail("SchemaMismatch", fmt.Sprintf("the file has %d fields in its first record and the plan declares %d columns: without a header every field needs a column",
			len(first), len(b.Columns)), fmt.Sprintf("%d fields", len(b.Columns)))
	}
	for i := range first {
		in.Places = append(in.Places, i)
	}
	return nil
}

func (b *bound) byName(in *input, names []string, fail func(kind, message, wanted string) error) error {
	at := make(map[string][]int, len(names))
	for i, n := range names {
		at[n] = append(at[n], i)
	}
	for _, c := range b.Columns {
		p := at[c.Name]
		switch {
		case len(p) == 0:
			return fail("SchemaMismatch", fmt.Sprintf("column %s is not in the header: it has %s%s", c.Name, listNames(names), oneField(names, near(c.Name, names))), "a column "+c.Name)
		case len(p) > 1:
			return fail("SchemaMismatch", fmt.Sprintf("column %s stands %d times in the header, as field %d and as field %d; `duplicate_names: rename` tells them apart", c.Name, len(p), p[0]+1, p[1]+1), "one column "+c.Name)
		}
		in.Places = append(in.Places, p[0])
	}
	in.Extra = len(names) - len(b.Columns)
	if in.Extra > 0 && b.NoExtra {
		declared := make(map[string]bool, len(b.Columns))
		for _, c := range b.Columns {
			declared[c.Name] = true
		}
		for i, n := range names {
			if !declared[n] {
				return fail("SchemaMismatch", fmt.Sprintf("column %s, field %d of the header, is not declared, and `extra_columns: error` refuses such: declare it, or leave the option out", n, i+1), "declared columns alone")
			}
		}
	}
	return nil
}

// near is a hint at a name that differs in case, blanks or underscores alone, "" where there is none.
func near(name string, names []string) string {
	bare := strings.NewReplacer(" ", "", "_", "", "-", "", "\t", "", "\ufeff", "")
	for _, n := range names {
		if strings.EqualFold(bare.Replace(n), bare.Replace(name)) {
			return fmt.Sprintf(" (did you mean %q?)", n)
		}
	}
	return ""
}

// listNames lists the names of a header, shortened where they are many.
func listNames(names []string) string {
	const most = 30
	s := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		s += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return s
}

// oneField is a hint for a header that is a single field because the file has another delimiter; near is
// what is said otherwise.
func oneField(names []string, near string) string {
	if d := otherDelimiter(names); d != "" {
		return fmt.Sprintf("; all of it is one field: is the delimiter %q?", d)
	}
	return near
}

// otherDelimiter is what a header that is one field may have between its names, "" where there is nothing.
func otherDelimiter(names []string) string {
	if len(names) != 1 {
		return ""
	}
	for _, d := range []string{";", "\t", "|", ","} {
		if strings.Contains(names[0], d) {
			return d
		}
	}
	return ""
}
