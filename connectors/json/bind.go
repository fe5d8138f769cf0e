package json

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
const stateVersion = 1

// A bound is a source after binding: all that reading needs to know.
type bound struct {
	Version  int                `json:"version"`
	Columns  Columns            `json:"columns"`
	Array    bool               `json:"array,omitempty"`
	CheckAll bool               `json:"checkAll,omitempty"`
	Last     bool               `json:"last,omitempty"` // of two equal keys the last one counts
	Skip     bool               `json:"skip,omitempty"` // bad rows are left out
	Encoding string             `json:"encoding,omitempty"`
	Formats  columntext.Formats `json:"formats,omitempty"`
	Zone     string             `json:"zone,omitempty"` // of TIMESTAMP_LTZ without an offset; "" is UTC
	Files    []input            `json:"files"`
	// Inferred is how Columns were found; nil where the plan declares them.
	Inferred *connectors.Inference `json:"inferred,omitempty"`
}

// An input is one file.
type input struct {
	Path  string `json:"path"` // to show
	Name  string `json:"name"` // as the plan writes it
	Abs   string `json:"abs"`  // to open
	Bytes int64  `json:"bytes"`
	Time  int64  `json:"time,omitempty"` // when it was changed last, in nanoseconds since 1970
	Data  int64  `json:"data"`           // offset of the first line, behind a byte-order mark
	// InOrder says why the file is read from its beginning on, "" where it may be cut. All offsets of its
	// records are then those of its text.
	InOrder     string `json:"inOrder,omitempty"`
	Compression string `json:"compression,omitempty"`
	// Only are the records to read, where not all are.
	Only *text.Listing `json:"only,omitempty"`
}

func bind(ctx context.Context, o Options, e connectors.Env) ([]byte, error) {
	return bindIn(ctx, files.Local(), o, e)
}

// bindIn lists the files and looks at their first bytes.
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
		if err := b.infer(ctx, fs, list); err != nil {
			return nil, fmt.Errorf("finding the columns of source %s: %w", e.Node, err)
		}
		if err := b.Formats.Check(b.Columns.schema().Fields); err != nil {
			return nil, files.Refused("%v", err)
		}
	}
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("binding source %s: %w", e.Node, err)
		}
		in, err := b.look(fs, f, len(b.Files)+1)
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

// bound is a source without its files.
func (o Options) bound() (bound, error) {
	b := bound{
		Version: stateVersion, Columns: o.Columns, Array: o.Format == "array", CheckAll: o.Check == "all",
		Last: o.DuplicateKeys == "last", Formats: o.Formats, Zone: o.Zone,
	}
	if o.Mode != "" && o.Mode != string(files.ModeError) {
		return b, errors.New("mode: " + o.Mode + " belongs to sinks: a source only reads")
	}
	if err := o.Columns.check(); err != nil {
		return b, err
	}
	_, err := expr.LoadZone(o.Zone)
	if err != nil {
		return b, fmt.Errorf("zone: %w", err)
	}
	if b.Encoding, err = text.EncodingName(o.Encoding); err != nil {
		return b, err
	}
	if len(o.Columns) == 0 {
		return b, nil
	}
	return b, o.Formats.Check(o.Columns.schema().Fields)
}

// look reads the beginning of a file.
func (b *bound) look(fs files.FS, f files.File, number int) (input, error) {
	in := input{Path: f.Path, Name: f.Name, Abs: f.Abs, Bytes: f.Bytes, Time: f.ModTime.UnixNano()}
	h, err := fs.Open(f.Abs)
	if err != nil {
		return in, files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	head := make([]byte, min(unpack.Head, h.Size()))
	if err = errors.Join(text.ReadFull(h, f.Path, h.Size(), head, 0), h.Close()); err != nil {
		return in, err
	}
	if in.Compression, err = unpack.Kind(f.Abs, head); err != nil {
		return in, &connectors.DataError{
			Kind: "DamagedFile", File: f.Path, Message: f.Path + ": " + err.Error(), Order: [2]int64{int64(number), 0},
		}
	}
	switch {
	case in.Compression != "":
		in.InOrder = "it is compressed (" + in.Compression + ")"
	case b.Encoding != "":
		in.InOrder = "its text is " + b.Encoding
	case text.Marked(head) != "":
		in.InOrder = "its text is " + text.Marked(head)[:len("utf-16")]
	case b.Array:
		in.InOrder = "it is one array"
	case bytes.HasPrefix(head, []byte("\uFEFF")):
		in.Data = 3
	}
	if in.InOrder == "" {
		return in, nil
	}
	// That it can be unpacked and decoded at all is told before the job starts.
	t, err := b.stream(fs, &in)
	if err != nil {
		return in, err
	}
	in.Data = t.Base
	return in, t.Close()
}

// stream opens a file that is read in order.
func (b *bound) stream(fs files.FS, in *input) (*text.Stream, error) {
	return text.OpenStream(fs, text.File{
		Path: in.Path, Abs: in.Abs, Bytes: in.Bytes, Compression: in.Compression, Encoding: b.Encoding, FormatError: formatError,
	})
}

// column makes the column that reads the i-th declared one.
func (b *bound) column(i int, nulls *columntext.NullTokens, alloc memory.Allocator) *columntext.Column {
	f := b.Columns[i].Field
	z, err := expr.LoadZone(b.Zone)
	if err != nil {
		z = nil // bind refused it
	}
	style := columntext.Style{Nulls: nulls, Format: b.Formats.Of(f.Name), Exact: true, Zone: z}
	if f.Type.Nested() {
		style.Nest = newNest(f.Type, b.Last, z)
	}
	if b.Inferred != nil && !b.Inferred.Whole && f.Type.Kind != expr.String {
		style.Fit = infer.NewFit(f.Type, style.Rules())
	}
	return columntext.New(f, style, alloc)
}
