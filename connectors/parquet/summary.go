package parquet

import (
	"errors"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Summary is what a file's footer says, for tools that look at files.
type Summary struct {
	Writer  string
	Rows    int64
	Columns []SummaryColumn
	Groups  []SummaryGroup
	// OldStatistics: the footer does not say by which order its bounds were made, so none is used.
	OldStatistics bool
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
	NoChecksum   []string // columns whose first page has no CRC
	Doubtful     []string // columns whose bounds or NULL count contradict themselves, so that they are not used
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
		for _, l := range d.leaves() {
			c := SummaryColumn{Name: l.name, Type: l.typ, Why: l.why}
			if l.index >= 0 {
				c.Int96 = d.meta.Schema.Column(l.index).PhysicalType() == parquet.Types.Int96
			}
			s.Columns = append(s.Columns, c)
		}
		if err := d.groups(s); err != nil {
			return err
		}
		return d.doubts(s)
	})
	return s, err
}

// doubts finds statistics that reading does not trust.
func (d *document) doubts(s *Summary) error {
	stats, err := footerStats(d)
	if err != nil {
		return err
	}
	s.OldStatistics = stats == nil && s.Rows > 0
	for i := range min(len(stats), len(s.Groups)) {
		for _, l := range d.leaves() {
			if l.index < 0 || l.index >= len(stats[i]) {
				continue
			}
			node, ok := d.meta.Schema.Column(l.index).SchemaNode().(*schema.PrimitiveNode)
			x := stats[i][l.index]
			if !ok || !x.hasLeast || !x.hasMost {
				continue
			}
			c := decoder{node: node, typ: l.typ}
			least, most := c.bound(x.least), c.bound(x.most)
			if least != nil && most != nil && !inOrder(least, most) || x.nulls > s.Groups[i].Rows {
				s.Groups[i].Doubtful = append(s.Groups[i].Doubtful, l.name)
			}
		}
	}
	return nil
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
			if has, err := d.checksummed(c); err != nil {
				return err
			} else if !has && g.NumRows() > 0 {
				x.NoChecksum = append(x.NoChecksum, d.meta.Schema.Column(k).Path())
			}
		}
		s.Groups = append(s.Groups, x)
	}
	return nil
}

// checksummed reports whether the first page of a column chunk has a checksum, as far as there is one.
func (d *document) checksummed(c *metadata.ColumnChunkMetaData) (bool, error) {
	at := c.DataPageOffset()
	if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
		at = min(at, c.DictionaryPageOffset())
	}
	if at < 0 || at >= d.Size() || c.NumValues() == 0 {
		return true, nil // there is no page to look at; reading says what is wrong with it
	}
	b := make([]byte, min(4<<10, d.Size()-at))
	if err := d.readAt(b, at); err != nil {
		return false, err
	}
	h, _, err := readPageHeader(b)
	return err != nil || h.hasCRC, nil
}
