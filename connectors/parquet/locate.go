package parquet

import (
	"context"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Locate finds a row again: its number in the file, from 1, and the value of a column there. Columns
// are counted as the file has them.
func (r *reader) Locate(ctx context.Context, o operators.Origin, row int64, field string) (connectors.Place, error) {
	if o.File < 1 || int(o.File) > len(r.src.Files) {
		return connectors.Place{}, fmt.Errorf("file %d is none of this source's %d", o.File, len(r.src.Files))
	}
	f := r.src.Files[o.File-1]
	if err := ctx.Err(); err != nil {
		return connectors.Place{}, fmt.Errorf("finding a row of %s: %w", f.Path, err)
	}
	group := 0
	before := int64(0)
	for group < len(f.Rows) && f.Starts[group] < o.Offset {
		before += f.Rows[group]
		group++
	}
	place := connectors.Place{File: f.Path, Line: before + o.Row + row + 1}
	within := o.Row + row
	for group < len(f.Rows) && within >= f.Rows[group] {
		within -= f.Rows[group]
		group++
	}
	if group >= len(f.Rows) || within < 0 {
		return place, fmt.Errorf("%s has no row %d", f.Path, place.Line)
	}
	c := r.src.index(field)
	if field == "" || c < 0 {
		return place, nil
	}
	return place, r.value(ctx, &place, int(o.File), group, within, c)
}

// value decodes a column of a row group up to a row.
func (r *reader) value(ctx context.Context, place *connectors.Place, file, group int, row int64, c int) (err error) {
	f := r.src.Files[file-1]
	d, err := openDocument(r.src.fs, f.Abs, f.Path)
	if err != nil {
		return err
	}
	defer d.Close()
	col := &fileColumn{place: c, boundCol: r.src.Columns[c], paths: r.src.paths[c], reader: r}
	w := newWords()
	defer w.release()
	err = d.guard("the footer's schema cannot be decoded", func() error {
		return col.attach(d, d.leaves(), r.alloc, w)
	})
	if err != nil {
		return err
	}
	place.Column = int64(col.leaf.index) + 1
	shown := col.leaf.typ
	if col.Type.Kind == expr.Float { // its digits are fewer than those of the DOUBLE that it is read as
		shown = col.Type
	}
	if col.nested != nil || col.absent {
		defer col.leave()
		col.owed = row
		p, err := col.read(d, group, 1, []int32{})
		if err != nil {
			return err
		}
		defer p.arr.Release()
		place.Value = string(column.AppendText(nil, p.arr, col.Type, 0))
		return nil
	}
	ch, err := openChunk(d, group, col.Name, col.leaf.index, &col.room)
	if err != nil {
		return err
	}
	for done := int64(0); done <= row; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("finding a row of %s: %w", f.Path, err)
		}
		n := min(ch.rows-done, maxRows)
		p, err := col.decoder.next(ch, int(n))
		if err != nil {
			return err
		}
		if row < done+n {
			place.Value = string(column.AppendText(nil, p.arr, shown, int(row-done)))
		}
		p.arr.Release()
		done += n
	}
	return nil
}
