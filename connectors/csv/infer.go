package csv

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An Inferred is what columns that a plan leaves out were found to be.
type Inferred struct {
	connectors.Inference
	Verdicts []infer.Verdict    // per column
	Columns  connectors.Columns // as the plan could declare them
	b        *bound
}

// Style is how the values of a column are written.
func (v *Inferred) Style(column int) columntext.Style { return v.b.style(v.Columns[column].Name) }

// Infer finds the columns of files from their headers and a sample of their values. The options say all
// about how the text is written: nothing of that is guessed.
func Infer(ctx context.Context, fs files.FS, o Options, list []files.File) (*Inferred, error) {
	b, err := o.bound()
	if err != nil {
		return nil, files.Refused("%v", err)
	}
	return b.infer(ctx, fs, o, list)
}

// inference is the finding of columns under way.
type inference struct {
	b       *bound
	ctx     context.Context
	fs      files.FS
	o       Options
	inputs  []input
	names   []string // of the first file that has any
	first   string   // that file
	columns []infer.Column
	rows    int64
	bytes   int64
	whole   bool
}

func (b *bound) infer(ctx context.Context, fs files.FS, o Options, list []files.File) (*Inferred, error) {
	probe := *b
	probe.Columns, probe.naming = nil, true
	if probe.budget == 0 {
		probe.budget = infer.Budget
	}
	v := &inference{b: &probe, ctx: ctx, fs: fs, o: o, whole: true}
	for i, f := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, err := probe.look(fs, f, i+1, o.hasHeader())
		if err != nil {
			return nil, err
		}
		if err := v.header(&in, i+1); err != nil {
			return nil, err
		}
		v.inputs = append(v.inputs, in)
	}
	if len(v.names) == 0 {
		what := "there is no file"
		if len(list) > 0 {
			what = list[0].Path + " has nothing in it"
		}
		return nil, files.Refused("columns: left out, and %s to infer them from: declare each column with its type, as in {id: BIGINT, name: STRING}", what)
	}
	if err := v.rules(); err != nil {
		return nil, err
	}
	if err := v.sample(); err != nil {
		return nil, err
	}
	return v.result(), nil
}

// header takes the names of a file's columns; those of all files have to be the same ones.
func (v *inference) header(in *input, number int) error {
	names := in.names
	if len(names) == 0 {
		return nil // an empty file
	}
	fail := in.refusal(number)
	if !v.o.hasHeader() {
		names = make([]string, len(in.names))
		for i := range names {
			names[i] = fmt.Sprintf("column%d", i+1)
		}
	} else if err := v.named(names, fail); err != nil {
		return err
	}
	if v.names == nil {
		v.names, v.first = names, in.Path
	}
	in.names = names
	if !v.o.hasHeader() && len(names) != len(v.names) && v.b.Ragged == "" && !v.b.Skip {
		return fail("SchemaMismatch", fmt.Sprintf("the file has %s in its first record and %s has %d: without a header all files need as many", countFields(len(names)), v.first, len(v.names)), countFields(len(v.names)))
	}
	if !v.o.hasHeader() {
		return nil
	}
	for _, pair := range []struct {
		has, lacks  []string
		file, other string
	}{{v.names, names, v.first, in.Path}, {names, v.names, in.Path, v.first}} {
		there := make(map[string]bool, len(pair.lacks))
		for _, n := range pair.lacks {
			there[n] = true
		}
		for _, n := range pair.has {
			if !there[n] {
				return fail("SchemaMismatch", fmt.Sprintf("column %s of %s is not in %s%s: where `columns` is left out all files have the same ones; declare those that are to be read", n, pair.file, pair.other, near(n, pair.lacks)), "the columns of "+v.first)
			}
		}
	}
	return nil
}

// named refuses names that no column can have, and a header that is one field by mistake.
func (v *inference) named(names []string, fail func(kind, message, wanted string) error) error {
	seen := map[string]int{}
	for i, n := range names {
		if k, twice := seen[n]; twice {
			return fail("SchemaMismatch", fmt.Sprintf("column %s stands several times in the header, as field %d and as field %d; `duplicate_names: rename` tells them apart", n, k+1, i+1), "one column "+n)
		}
		seen[n] = i
	}
	if d := otherDelimiter(names); d != "" {
		return fail("SchemaMismatch", fmt.Sprintf("all of the header is one field, %q: is the delimiter %q? Write `delimiter: %s` in the source, or declare the column", names[0], d, d), "a header of several fields")
	}
	return nil
}

// rules says of each column how its values are written.
func (v *inference) rules() error {
	for _, x := range v.b.Formats {
		if !slices.Contains(v.names, x.Column) {
			return files.Refused("formats: column %s is not in the header: it has %s%s", x.Column, listNames(v.names), near(x.Column, v.names))
		}
	}
	v.columns = make([]infer.Column, len(v.names))
	for i, n := range v.names {
		v.columns[i].Rules = v.b.style(n).Rules()
	}
	return nil
}

// style is how the values of a column are written.
func (b *bound) style(column string) columntext.Style {
	z, err := expr.LoadZone(b.Zone)
	if err != nil {
		z = nil // bind refused it
	}
	return columntext.Style{Marks: b.Marks, Format: b.Formats.Of(column), Zone: z}
}

// hint ends the message about a value that cannot be read: what cures it, and where the type is from.
func (b *bound) hint(c expr.Field, style columntext.Style, f *columntext.Flaw) string {
	cure := ""
	if !f.Lossy {
		cure = style.Cure(c, f.Value)
		if slices.Contains(columntext.NullWords(), string(f.Value)) && !slices.Contains(b.Nulls, string(f.Value)) {
			cure = fmt.Sprintf("`null_values: [%s]` makes it NULL", columntext.PlanText(string(f.Value)))
		}
	}
	if cure != "" {
		cure = "; " + cure
	}
	switch {
	case b.Inferred == nil:
		return cure
	case cure != "":
		return cure + "; the type was inferred from " + b.Inferred.Sample()
	}
	return style.Inferred(b.Inferred, b.Columns, c, f.Value)
}

// result judges the columns.
func (v *inference) result() *Inferred {
	out := &Inferred{b: v.b, Inference: connectors.Inference{Of: len(v.inputs), Rows: v.rows, Bytes: v.bytes, Whole: v.whole}}
	for _, in := range v.inputs {
		out.OfBytes += in.Bytes
		out.Unpacked = out.Unpacked || in.Compression != ""
		if in.sampled {
			out.Files++
		}
	}
	for i, n := range v.names {
		c := v.columns[i].Judge(v.whole)
		note := c.Note
		if c.Odd != nil && slices.Contains(columntext.NullWords(), c.Odd.Text) {
			note += fmt.Sprintf("; `null_values: [%s]` makes such ones NULL", columntext.PlanText(c.Odd.Text))
		}
		if c.Note != "" && strings.Contains(c.Note, "the format iso") {
			note = strings.Replace(c.Note, "the format iso turns", fmt.Sprintf("`formats: {%s: iso}` turns", columntext.PlanText(n)), 1) + ", and declared as TIMESTAMP_LTZ they stay instants"
		}
		out.Verdicts = append(out.Verdicts, c)
		out.Columns = append(out.Columns, expr.Field{Name: n, Type: c.Type})
		out.Inference.Columns = append(out.Inference.Columns, connectors.InferredColumn{Name: n, Type: c.Type.String(), Note: note})
	}
	return out
}
