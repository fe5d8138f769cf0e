package parquet

import (
	"errors"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Summary is what a file's footer says, for tools that look at files.
type Summary struct {
	Writer  string
	Rows    int64
	Columns []SummaryColumn
	Groups  []SummaryGroup
	// Ignored are the statistics that reading does not use.
	Ignored []connectors.IgnoredStatistics
}

// A SummaryColumn is a column; Why says why it cannot be read, "" where it can. Note says how a column is read
// whose type is none of this program's: "GEOMETRY, read as it is stored: well-known binary".
type SummaryColumn struct {
	Name  string
	Type  expr.Type
	Why   string
	Note  string
	Int96 bool
}

// A SummaryGroup is a row group.
type SummaryGroup struct {
	Rows, Bytes  int64    // bytes as they are in the file
	NoStatistics []string // columns without statistics
	NoChecksum   []string // columns whose first page has no CRC
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
			c := SummaryColumn{Name: l.name, Type: l.typ, Why: l.why, Note: l.note}
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
	stats, why, err := footerStats(d)
	if err != nil {
		return err
	}
	var p connectors.Pruning
	if !why.none() && s.Rows > 0 {
		p.Ignore(connectors.IgnoredStatistics{Of: connectors.OfFile, Reason: why.reason, Text: why.text, Count: 1})
	}
	for i := range min(len(stats), len(s.Groups)) {
		for _, l := range d.leaves() {
			if l.index < 0 || l.nest != nil || l.index >= len(stats[i]) {
				continue
			}
			node, ok := d.meta.Schema.Column(l.index).SchemaNode().(*schema.PrimitiveNode)
			if !ok || s.Groups[i].Rows == 0 {
				continue
			}
			c := decoder{node: node, typ: l.typ}
			if x := stats[i][l.index].span(&c, s.Groups[i].Rows).why; !x.none() && x != noStatistics && x != typeUnused {
				p.Ignore(connectors.IgnoredStatistics{Column: l.name, Of: connectors.OfRowGroups, Reason: x.reason, Text: x.text, Count: 1})
			}
		}
	}
	s.Ignored = p.Ignored
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
