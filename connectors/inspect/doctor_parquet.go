package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/parquet"
)

// Row groups are pieces that one subtask reads: of these sizes they cost more than they should.
const (
	tinyGroup = 1 << 20
	hugeGroup = 1 << 30
)

// parquet looks for hazards in a footer.
func (d *Diagnosis) parquet(fs files.FS, f files.File) error {
	s, err := parquet.Summarize(fs, f)
	var known *connectors.DataError
	if errors.As(err, &known) {
		rule := "damaged"
		switch {
		case known.Kind == "NotSupported" && strings.Contains(known.Message, "encrypted"):
			rule = "encrypted"
		case known.Kind == "NotSupported" || known.Kind == "SchemaMismatch":
			rule = "refused"
		}
		d.Form = "Parquet"
		d.add(Hazard{Rule: rule, Severity: SeverityError, Message: known.Message})
		return nil
	}
	if err != nil {
		return err
	}
	d.Form = fmt.Sprintf("Parquet, %s in %s, written by %s", count(int(s.Rows), "row", "rows"), count(len(s.Groups), "row group", "row groups"), s.Writer)
	for _, c := range s.Columns {
		switch {
		case c.Why != "":
			d.add(Hazard{Rule: "unreadable-column", Severity: SeverityWarning, Column: c.Name, Message: "the column cannot be read: " + c.Why})
		case c.Note != "":
			d.add(Hazard{Rule: "as-stored", Severity: SeverityInfo, Column: c.Name, Message: c.Note})
		case c.Int96:
			d.add(Hazard{
				Rule: "int96", Severity: SeverityWarning, Column: c.Name, Message: "its times are INT96, which has no zone: they are read as UTC, and some writers meant local time",
				Advice: "write it as TIMESTAMP",
			})
		}
	}
	d.groups(f, s)
	d.settle(try(context.Background(), connectors.Erase(parquet.Spec), f))
	return nil
}

// groups looks at the row groups.
func (d *Diagnosis) groups(f files.File, s *parquet.Summary) {
	var tiny, huge, empty, bare []string
	plain := map[string]bool{}
	for i, g := range s.Groups {
		n := fmt.Sprint(i)
		switch {
		case g.Rows == 0:
			empty = append(empty, n)
		case g.Bytes > hugeGroup:
			huge = append(huge, n)
		case g.Bytes < tinyGroup && len(s.Groups) > 1 && i < len(s.Groups)-1:
			tiny = append(tiny, n)
		}
		if len(g.NoStatistics) > 0 {
			bare = append(bare, fmt.Sprintf("%d (%s)", i, shortList(g.NoStatistics)))
		}
		for _, c := range g.NoChecksum {
			plain[c] = true
		}
	}
	list := func(rule, severity, message, advice string, where []string) {
		if len(where) > 0 {
			d.add(Hazard{Rule: rule, Severity: severity, Count: int64(len(where)), Message: message + ": " + shortList(where), Advice: advice})
		}
	}
	list("tiny-row-groups", SeverityInfo, "row groups of less than 1 MiB, which cost more to open than to read", "write fewer, larger ones", tiny)
	list("huge-row-groups", SeverityInfo, "row groups of more than 1 GiB, each of which one subtask reads", "write more, smaller ones", huge)
	list("empty-row-groups", SeverityInfo, "row groups without rows", "", empty)
	list("no-statistics", SeverityInfo, "row groups with columns without statistics, which no filter can pass over", "", bare)
	d.statistics(s)
	if len(s.Groups) == 1 && f.Bytes > 64<<20 {
		d.add(Hazard{Rule: "unsplittable", Severity: SeverityInfo, Message: "the file has one row group, so one subtask reads it", Advice: "row groups of about 100 MB are read in parallel"})
	}
	if len(plain) > 0 {
		d.add(Hazard{
			Rule: "no-checksum", Severity: SeverityInfo, Count: int64(len(plain)), Message: fmt.Sprintf("the pages of %s have no CRC: damage that still decodes is not noticed", count(len(plain), "column", "columns")),
			Advice: "writers have an option for page checksums",
		})
	}
}

// statistics names those that reading does not use.
func (d *Diagnosis) statistics(s *parquet.Summary) {
	for _, x := range s.Ignored {
		h := Hazard{
			Rule: "doubtful-statistics", Severity: SeverityWarning, Column: x.Column, Count: x.Count, Message: x.String() + "; other readers may leave rows out by them",
			Advice: "write the file anew",
		}
		if x.Of == connectors.OfFile || x.Reason == "older-form" {
			h.Rule, h.Severity = "old-statistics", SeverityInfo
			h.Message, h.Advice = x.String()+", so no filter passes over a row group by them", "a newer writer says so"
		}
		d.add(h)
	}
}

// shortList lists some names.
func shortList(names []string) string {
	s := strings.Join(names[:min(len(names), mostLines)], ", ")
	if len(names) > mostLines {
		s += fmt.Sprintf(" and %d more", len(names)-mostLines)
	}
	return s
}
