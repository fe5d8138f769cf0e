package inspect

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/parquet"
)

// lookParquet reads the footer.
func lookParquet(fs files.FS, f files.File) (*Found, error) {
	s, err := parquet.Summarize(fs, f)
	if err != nil {
		return nil, err
	}
	out := &Found{
		File: f.Path, Kind: "parquet", Bytes: f.Bytes, Form: fmt.Sprintf("Parquet, %d rows in %d row groups, written by %s", s.Rows, len(s.Groups), s.Writer),
		Sample: "types: from the footer",
	}
	for _, c := range s.Columns {
		if c.Why != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("column %s is left out: %s", c.Name, c.Why))
			continue
		}
		note := c.Note
		if c.Int96 {
			note = "INT96, taken as UTC"
		}
		out.Columns = append(out.Columns, Column{Name: c.Name, Type: c.Type.String(), Note: note})
	}
	return out, nil
}
