package inspect

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/json"
)

// The severities of hazards.
const (
	SeverityError   = "error"   // a run whose source says nothing but the path fails
	SeverityWarning = "warning" // it goes wrong unless the plan says so
	SeverityInfo    = "info"    // it is read right, and costs something or is worth knowing
)

// A Hazard is something about a file that may go wrong, with what cures it.
type Hazard struct {
	Rule     string   `json:"rule"` // stable: "leading-zeros"
	Severity string   `json:"severity"`
	Line     int64    `json:"line,omitempty"`   // from 1, the first place; 0 where there is none
	Column   string   `json:"column,omitempty"` // name of the column
	Count    int64    `json:"count,omitempty"`  // how many times, where that was counted
	Message  string   `json:"message"`
	Cure     []string `json:"cure,omitempty"` // lines of the source in a plan
	Advice   string   `json:"advice,omitempty"`
}

// A Diagnosis is what is to be known about a file before it is read.
type Diagnosis struct {
	File    string   `json:"file"`
	Form    string   `json:"form"`
	Hazards []Hazard `json:"hazards"`
}

// Failed reports whether a run would fail that reads all of the file by a source that says nothing but its
// path; of a file without a byte, and the columns.
func (d *Diagnosis) Failed() bool {
	for _, h := range d.Hazards {
		if h.Severity == SeverityError {
			return true
		}
	}
	return false
}

// Examine looks for hazards in a file. It is read to its end, as a run would read it; what is about values is
// from the sample that [Look] takes.
func Examine(fs files.FS, f files.File) (*Diagnosis, error) {
	parquet, err := isParquet(fs, f)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{File: f.Path, Hazards: []Hazard{}}
	switch {
	case parquet, strings.EqualFold(filepath.Ext(f.Path), ".parquet"):
		err = d.parquet(fs, f)
	case f.Bytes == 0:
		d.Form = "empty"
		d.add(Hazard{
			Rule: "empty", Severity: SeverityWarning, Message: "the file has no bytes: it is read as no rows, and columns cannot be inferred from it",
			Cure: []string{"columns: {id: BIGINT}"}, Advice: "declare the columns that files of this kind have",
		})
	default:
		var is bool
		if is, err = isJSON(fs, f); err != nil {
			return nil, err
		}
		if is {
			if err = d.json(fs, f); err == nil {
				d.settle(try(context.Background(), connectors.Erase(json.Spec), f))
			}
		} else {
			err = d.csv(fs, f)
		}
	}
	if err != nil {
		return nil, err
	}
	rank := map[string]int{SeverityError: 0, SeverityWarning: 1, SeverityInfo: 2}
	sort.SliceStable(d.Hazards, func(i, j int) bool { return rank[d.Hazards[i].Severity] < rank[d.Hazards[j].Severity] })
	return d, nil
}

func (d *Diagnosis) add(h Hazard) { d.Hazards = append(d.Hazards, h) }

// Text writes the diagnosis for people.
func (d *Diagnosis) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.File, d.Form)
	if len(d.Hazards) == 0 {
		b.WriteString("  no hazards\n")
	}
	for _, h := range d.Hazards {
		place := d.File
		if h.Line > 0 {
			place += fmt.Sprintf(":%d", h.Line)
		}
		if h.Column != "" {
			place += ", column " + h.Column
		}
		fmt.Fprintf(&b, "  %s: %s [%s]\n    %s\n", h.Severity, place, h.Rule, h.Message)
		for _, c := range h.Cure {
			fmt.Fprintf(&b, "      %s\n", c)
		}
		if h.Advice != "" {
			fmt.Fprintf(&b, "    %s\n", h.Advice)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
