package csv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// stateVersion is the version of the bound state and of split states.
const stateVersion = 2

// A bound is a source after binding: all that reading needs to know.
type bound struct {
	Version   int          `json:"version"`
	Delimiter byte         `json:"delimiter"`
	Columns   []expr.Field `json:"columns"`
	Nulls     []string     `json:"nulls"`
	CheckAll  bool         `json:"checkAll,omitempty"`
	Files     []input      `json:"files"`
}

// An input is one file, with the place of every declared column in it.
type input struct {
	Path   string `json:"path"` // to show
	Abs    string `json:"abs"`  // to open
	Bytes  int64  `json:"bytes"`
	Data   int64  `json:"data"`   // offset of the first record after byte-order mark and header
	Fields int    `json:"fields"` // of every record; 0 where the file has none
	Places []int  `json:"places"` // per declared column, from 0
	Extra  int    `json:"extra"`  // columns of the file that are not declared
}

func bind(ctx context.Context, o Options, e connectors.Env) ([]byte, error) {
	return bindIn(ctx, files.Local(), o, e)
}

// bindIn lists the files and reads their headers.
func bindIn(ctx context.Context, fs files.FS, o Options, e connectors.Env) ([]byte, error) {
	d, err := o.delimiter()
	if err != nil {
		return nil, &files.Error{Kind: files.InvalidOption, Message: err.Error()}
	}
	if o.Mode != "" && o.Mode != string(files.ModeError) {
		return nil, &files.Error{Kind: files.InvalidOption, Message: "mode: " + o.Mode + " belongs to sinks: a source only reads"}
	}
	if len(o.Columns) == 0 {
		return nil, &files.Error{
			Kind:    files.InvalidOption,
			Message: "csv: `columns` is left out: finding the columns by looking at the file comes later; declare each column with its type, as in {id: BIGINT, name: STRING}",
		}
	}
	list, err := files.ListIn(ctx, fs, o.Path, e.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the files of source %s: %w", e.Node, err)
	}
	b := bound{Version: stateVersion, Delimiter: d, Columns: o.Columns, Nulls: o.nulls(), CheckAll: o.Check == "all"}
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

// look reads the beginning of a file and finds its columns.
func (b *bound) look(fs files.FS, f files.File, number int, header bool) (input, error) {
	in := input{Path: f.Path, Abs: f.Abs, Bytes: f.Bytes}
	if c := compression(f.Abs); c != "" {
		return in, &files.Error{
			Kind: files.InvalidOption, Path: f.Path,
			Message: fmt.Sprintf("%s is compressed (%s): reading compressed CSV files comes later; unpack it first", f.Path, c),
		}
	}
	h, err := fs.Open(f.Abs)
	if err != nil {
		return in, files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	err = b.resolve(&in, h, number, header)
	return in, errors.Join(err, h.Close())
}

// compression names the compression that a file's name stands for, "" where there is none.
func compression(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz", ".gzip":
		return "gzip"
	case ".zst", ".zstd":
		return "zstd"
	case ".bz2":
		return "bzip2"
	case ".xz":
		return "xz"
	case ".lz4":
		return "lz4"
	case ".zip":
		return "zip"
	case ".sz", ".snappy":
		return "snappy"
	}
	return ""
}

// resolve fills in where the data begins and where each column is.
func (b *bound) resolve(in *input, h files.ReadFile, number int, header bool) error {
	r := &recordReader{file: h, path: in.Path, size: in.Bytes, delimiter: b.Delimiter}
	mark, err := r.peek(3)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(mark, []byte("\xEF\xBB\xBF")) {
		r.pos = 3
	}
	if bytes.HasPrefix(mark, []byte("\xFF\xFE")) || bytes.HasPrefix(mark, []byte("\xFE\xFF")) {
		return &connectors.DataError{
			Kind: "CsvFormatError", Message: "the file is UTF-16, by its byte-order mark: only UTF-8 is read yet", File: in.Path, Line: 1,
			Wanted: "UTF-8", Order: [2]int64{int64(number), 0},
		}
	}
	in.Data = r.pos
	if !header {
		in.Fields = len(b.Columns)
	}
	fail := func(kind, message, wanted string) error {
		return &connectors.DataError{
			Kind: kind, Message: message, File: in.Path, Line: 1, Wanted: wanted,
			Order: [2]int64{int64(number), 0},
		}
	}
	first, raw, at, err := r.next()
	for err == nil && raw != nil && first.blank && !header && len(b.Columns) > 1 {
		first, raw, at, err = r.next()
	}
	if err != nil || raw == nil {
		return err
	}
	if first.verdict != whole {
		f := structural(first, raw, at, int64(number), 0)
		return f.locate(h, in, b)
	}
	names := make([]string, len(first.fields))
	for i, f := range first.fields {
		v := f.text(raw)
		if !f.quoted && bytes.IndexByte(v, '\r') >= 0 {
			return fail("CsvFormatError", "line ending CR: the lines of the file end with a bare carriage return, which is not read", "lines that end with LF or CRLF")
		}
		names[i] = string(v)
	}
	in.Fields = len(names)
	if header {
		in.Data = at + int64(first.length)
		return b.byName(in, names, fail)
	}
	return b.byPlace(in, names, fail)
}

func (b *bound) byPlace(in *input, first []string, fail func(kind, message, wanted string) error) error {
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
			return fail("SchemaMismatch", fmt.Sprintf("column %s is not in the header: it has %s%s", c.Name, listNames(names), near(c.Name, names)), "a column "+c.Name)
		case len(p) > 1:
			return fail("SchemaMismatch", fmt.Sprintf("column %s stands %d times in the header, as field %d and as field %d", c.Name, len(p), p[0]+1, p[1]+1), "one column "+c.Name)
		}
		in.Places = append(in.Places, p[0])
	}
	in.Extra = len(names) - len(b.Columns)
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
