package parquet

import (
	"errors"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Summary is what a file's footer says, for tools that look at files.
type Summary struct {
	Writer  string
	Rows    int64
	Columns []SummaryColumn
	Groups  []SummaryGroup
}

// A SummaryColumn is a column; Why says why it cannot be read, "" where it can.
type SummaryColumn struct {
	Name  string
	Type  expr.Type
	Why   string
	Int96 bool
}

// A SummaryGroup is a row group.
type SummaryGroup struct {
	Rows, Bytes  int64    // bytes as they are in the file
	NoStatistics []string // columns without statistics
}

// Summarize reads a footer.
func Summarize(fs files.FS, f files.File) (_ *Summary, err error) {
	d, err := openDocument(fs, f.Abs, f.Path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	s := &Summary{Writer: d.meta.GetCreatedBy(), Rows: d.meta.NumRows}
	err = d.guard("the footer cannot be decoded", func() error {
		for _, l := range leaves(d.meta.Schema) {
			c := SummaryColumn{Name: l.name, Type: l.typ, Why: l.why}
			if l.index >= 0 {
				c.Int96 = d.meta.Schema.Column(l.index).PhysicalType() == parquet.Types.Int96
			}
			s.Columns = append(s.Columns, c)
		}
		return d.groups(s)
	})
	return s, err
}

func (d *document) groups(s *Summary) error {
	for i := range d.meta.GetRowGroups() {
		g := d.meta.RowGroup(i)
		x := SummaryGroup{Rows: g.NumRows()}
		for k := range g.NumColumns() {
			c, err := g.ColumnChunk(k)
			if err != nil {
				return err
			}
			x.Bytes += c.TotalCompressedSize()
			if has, err := c.StatsSet(); (err != nil || !has) && g.NumRows() > 0 {
				x.NoStatistics = append(x.NoStatistics, d.meta.Schema.Column(k).Path())
			}
		}
		s.Groups = append(s.Groups, x)
	}
	return nil
}
