package json

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Sample is what [Look] looked at.
type Sample struct {
	*Survey
	connectors.Inference
}

// Look takes a sample of files, or all of them, and surveys their records, so many objects deep. The
// options say how the files are written: nothing of that is guessed.
func Look(ctx context.Context, fs files.FS, o Options, list []files.File, deep int, all bool) (*Sample, error) {
	b, err := o.bound()
	if err != nil {
		return nil, files.Refused("%v", err)
	}
	return b.sample(ctx, fs, list, deep, all)
}

func (b *bound) sample(ctx context.Context, fs files.FS, list []files.File, deep int, whole bool) (*Sample, error) {
	v := &Sample{Survey: NewSurvey(deep)}
	v.Of, v.Whole = len(list), true
	src := &source{bound: *b, fs: fs}
	var extents []infer.Extent
	for i, f := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, err := b.look(fs, f, i+1)
		if err != nil {
			return nil, err
		}
		src.Files = append(src.Files, in)
		v.OfBytes += in.Bytes
		extents = append(extents, infer.Extent{Bytes: in.Bytes, InOrder: in.InOrder != ""})
	}
	seen := map[int]bool{}
	pieces := infer.Pieces(extents, infer.Budget)
	if whole {
		pieces = nil
		for i := range list {
			pieces = append(pieces, infer.Piece{File: i, Bytes: math.MaxInt64})
		}
	}
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in := &src.Files[p.File]
		all, err := p.Whole, error(nil)
		if in.InOrder != "" || whole {
			all, err = v.inOrder(src, in, p)
		} else {
			err = v.plain(src, in, p)
		}
		if err != nil {
			return nil, err
		}
		if _, again := seen[p.File]; !again {
			v.Inference.Files++
		}
		seen[p.File] = seen[p.File] || all
	}
	for i := range src.Files {
		v.Whole = v.Whole && seen[i]
	}
	v.Inference.Rows = v.Survey.Rows
	return v, nil
}

// name is what values of a file are said to be from: nothing where there is one file alone.
func (v *Sample) name(in *input) string {
	if v.Of == 1 {
		return ""
	}
	return in.Path
}

// plain looks at the lines that begin in a piece and end in it.
func (v *Sample) plain(src *source, in *input, p infer.Piece) (err error) {
	at, end := max(p.At, in.Data), min(p.At+p.Bytes, in.Bytes)
	if at >= end {
		return nil
	}
	h, err := src.fs.Open(in.Abs)
	if err != nil {
		return files.ReadFailure(err, in.Path, "cannot open "+in.Path)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	buf := make([]byte, end-at)
	if err := text.ReadFull(h, in.Path, in.Bytes, buf, at); err != nil {
		return err
	}
	v.Inference.Bytes += end - at
	line := int64(0)
	if at == in.Data {
		line = 1
	} else {
		buf = buf[bytes.IndexByte(buf, '\n')+1:]
	}
	v.lines(buf, v.name(in), line, end == in.Bytes, src.rules)
	return nil
}

// lines looks at the lines of a text; the last one counts without an end only at the end of the file.
func (v *Sample) lines(buf []byte, file string, line int64, eof bool, rules func(string) infer.Rules) {
	for len(buf) > 0 {
		raw, rest, ended := bytes.Cut(buf, []byte{'\n'})
		if !ended && !eof {
			return
		}
		v.Record(raw, file, line, rules)
		if line > 0 {
			line++
		}
		buf = rest
	}
}

// inOrder looks at the beginning of a file that is read in order, and tells whether that is all of it.
func (v *Sample) inOrder(src *source, in *input, p infer.Piece) (all bool, err error) {
	o, err := openInOrder(src, in, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	for o.Base < p.Bytes && !all && err == nil {
		if o.array {
			all, err = v.element(src, in, o)
			continue
		}
		var raw []byte
		if raw, err = o.lines(1); raw == nil {
			all = len(o.Rest()) == 0
			break
		}
		v.lines(raw, v.name(in), o.Line, true, src.rules)
		o.Pass(len(raw))
	}
	v.Inference.Bytes += o.Base
	return all, err
}

// element looks at the next element of an array; all is true where there is none.
func (v *Sample) element(src *source, in *input, o *inOrder) (all bool, err error) {
	ok, f, err := o.next(false)
	if err != nil || !ok {
		if f != nil {
			v.Faults++
			v.Fault, v.FaultAt = f.message+": expected "+f.wanted, o.Line
		}
		return true, err
	}
	raw, n, err := o.element(nil)
	if err != nil || n < 0 {
		return true, err
	}
	v.Record(raw, v.name(in), o.Line, src.rules)
	o.pass(n)
	o.comma = true
	return false, nil
}

// rules says how the values of a column are written.
func (s *source) rules(column string) infer.Rules {
	return columntext.Style{Format: s.Formats.Of(column)}.Rules()
}

// infer finds the columns of files: the members of their records.
func (b *bound) infer(ctx context.Context, fs files.FS, list []files.File) error {
	v, err := b.sample(ctx, fs, list, 1, false)
	if err != nil {
		return err
	}
	if len(v.Root.Kids) == 0 {
		what := "there is no object in the files"
		if v.Fault != "" {
			what = "no record could be read: " + v.Fault
		}
		return files.Refused("columns: left out, and %s; declare each column with its type, as in {id: BIGINT, name: STRING}", what)
	}
	if v.Root.Others != nil {
		return files.Refused("columns: left out, and the records have more than %d members of different names; declare those that are to be read", mostMembers)
	}
	for _, m := range v.Root.Kids {
		if m.Name == "" {
			return files.Refused("columns: left out, and a member of the records has an empty name, which no column can have; declare those that are to be read")
		}
		t, note := m.Judge(v.Whole)
		b.Columns = append(b.Columns, Column{Field: expr.Field{Name: m.Name, Type: t}})
		v.Inference.Columns = append(v.Inference.Columns, connectors.InferredColumn{Name: m.Name, Type: t.String(), Note: note})
	}
	b.Inferred = &v.Inference
	return nil
}

// hint ends the message about a value that cannot be read: what cures it, and where the type is from.
func (b *bound) hint(c expr.Field, style columntext.Style, f *columntext.Flaw) string {
	if f.Null || f.Message != "" {
		return ""
	}
	cure := ""
	if k := c.Type.Kind; !f.Lossy && !f.Unfit && (k == expr.Date || k == expr.Timestamp) {
		if cure = style.Cure(c, f.Value); cure != "" {
			cure = "; " + cure
		}
	}
	switch {
	case b.Inferred == nil:
		return cure
	case cure != "" || f.Unfit:
		return cure + "; the type was inferred from " + b.Inferred.Sample()
	}
	return style.Inferred(b.Inferred, b.Columns.schema().Fields, c, f.Value)
}

// Instant is a TIMESTAMP_LTZ for a member whose values are times of which some have an offset, nil for another.
func (m *Member) Instant(whole bool) *expr.Type {
	if m.Objects+m.Arrays > 0 {
		return nil
	}
	return m.Values.Judge(whole).Instant
}

// Judge is the type that fits all values of a member, and why where that is not plain.
func (m *Member) Judge(whole bool) (expr.Type, string) {
	j := m.Values.Judge(whole)
	switch {
	case m.Objects+m.Arrays == 0:
		note := strings.Replace(j.Note, "the format iso turns", fmt.Sprintf("`formats: {%s: iso}` turns", columntext.PlanText(m.Name)), 1)
		if j.Instant != nil {
			note += ", and declared as TIMESTAMP_LTZ they stay instants"
		}
		return j.Type, note
	case m.Arrays == 0 && m.Objects == m.Seen-m.Nulls:
		return j.Type, fmt.Sprintf("objects as their text; a ROW or MAP type reads them, and {type: …, path: %s} a member", columntext.PlanText(m.Path+".NAME"))
	case m.Objects == 0 && m.Arrays == m.Seen-m.Nulls:
		return j.Type, fmt.Sprintf("arrays as their text; an ARRAY type reads them, and {type: …, path: %s} an element", columntext.PlanText(m.Path+"[0]"))
	}
	return j.Type, "objects or arrays in some records and other values in others, as their text"
}
