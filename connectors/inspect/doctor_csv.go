package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// csv looks for hazards in a text file.
func (d *Diagnosis) csv(fs files.FS, f files.File) error {
	t, s, err := examine(fs, f)
	if err != nil {
		var known *files.Error
		if !errors.As(err, &known) {
			return err
		}
		d.Form = "not readable"
		d.add(Hazard{Rule: "unreadable", Severity: SeverityError, Message: known.Error()})
		return nil
	}
	d.Form = t.form.describe(s)
	d.form(t, s)
	if err := d.records(fs, f, t, s); err != nil {
		return err
	}
	d.names(t)
	d.values(t)
	t.describe(&Found{}, s)
	t.types(fs, f, &Found{})
	d.odd(t)
	d.settle(try(context.Background(), connectors.Erase(csv.Spec), f))
	return nil
}

// odd names the values but for which a column would have a narrower type.
func (d *Diagnosis) odd(t *table) {
	if t.inferred == nil {
		return
	}
	for i, v := range t.inferred.Verdicts {
		if v.Odd == nil {
			continue
		}
		name := t.inferred.Columns[i].Name
		h := Hazard{
			Rule: "odd-values", Severity: SeverityWarning, Line: v.Odd.Line, Column: name, Count: int64(v.OddCount),
			Message: fmt.Sprintf("the column is %s but for %d of %d values, the first %q, so it is read as STRING", v.Almost, v.OddCount, v.Values, v.Odd.Text),
			Cure:    []string{"columns: {" + yaml(name) + ": " + yaml(v.Almost.String()) + "}"},
			Advice:  fmt.Sprintf("with its type declared, `on_error: skip` of the source leaves such rows out; as STRING, TRY_CAST(%s AS %s) gives NULL for them", expr.Quote(name), v.Almost),
		}
		if style := t.inferred.Style(i).Cure(expr.Field{Name: name, Type: v.Almost}, []byte(v.Odd.Text)); style != "" {
			h.Advice = style + "; " + h.Advice
		}
		d.add(h)
	}
}

// form is what is about the file as a whole.
func (d *Diagnosis) form(t *table, s *sample) {
	if s.mark {
		d.add(Hazard{Rule: "bom", Severity: SeverityInfo, Line: 1, Message: "the file begins with a byte-order mark, which is no part of the first name; other readers may take it for one"})
	}
	switch {
	case strings.HasPrefix(s.encoding, "utf-16") || strings.HasPrefix(s.encoding, "utf-32"):
		d.add(Hazard{Rule: "encoding", Severity: SeverityWarning, Line: 1, Message: "the text is " + s.encoding + ", so the file cannot be split and is read by one subtask", Cure: []string{"encoding: " + s.encoding}})
	case s.encoding != "":
		d.add(Hazard{
			Rule: "encoding", Severity: SeverityWarning, Line: s.badLine, Cure: []string{"encoding: " + s.encoding},
			Message: fmt.Sprintf("byte %#02x is not UTF-8; the text is likely %s", s.badByte, s.encoding),
		})
	}
	if t.lf > 0 && t.crlf > 0 {
		d.add(Hazard{Rule: "line-ends", Severity: SeverityInfo, Line: max(t.lfLine, t.crLine), Message: fmt.Sprintf("line ends are mixed: %d are LF and %d are CRLF; both are read", t.lf, t.crlf)})
	}
	if t.options.LineEnding == "cr" {
		d.add(Hazard{Rule: "line-ends", Severity: SeverityWarning, Line: 1, Message: "lines end with a bare carriage return", Cure: []string{"line_ending: cr"}})
	}
	if s.packed != "" {
		d.add(Hazard{
			Rule: "unsplittable", Severity: SeverityInfo, Message: "the file is compressed as a whole (" + s.packed + "), so one subtask reads it from beginning to end",
			Advice: "several smaller files, or Parquet, are read in parallel",
		})
	}
	d.marks(t)
	if !t.header {
		d.add(Hazard{Rule: "no-header", Severity: SeverityWarning, Line: 1, Message: "the first record looks like data, not like names", Cure: []string{"header: false"}})
	}
}

// marks is what stands between and around the fields, and between the records.
func (d *Diagnosis) marks(t *table) {
	o := t.options
	if o.Delimiter != "," {
		d.add(Hazard{Rule: "delimiter", Severity: SeverityWarning, Line: 1, Message: fmt.Sprintf("fields stand between %q", o.Delimiter), Cure: []string{"delimiter: " + yaml(o.Delimiter)}})
	}
	if o.Escape != "" {
		d.add(Hazard{Rule: "quotes", Severity: SeverityWarning, Message: "a backslash stands before quotes inside quotes", Cure: []string{"escape: backslash"}})
	}
	if o.Quote != nil {
		d.add(Hazard{Rule: "quotes", Severity: SeverityWarning, Message: fmt.Sprintf("fields stand in %s", *o.Quote), Cure: []string{"quote: " + yaml(*o.Quote)}})
	}
	if o.Trim {
		d.add(Hazard{Rule: "blanks", Severity: SeverityWarning, Message: "blanks stand between fields and delimiters, also around names, numbers or times", Cure: []string{"trim: true"}})
	}
	if o.SkipLines > 0 {
		d.add(Hazard{Rule: "preamble", Severity: SeverityWarning, Line: 1, Message: "lines stand before the header", Cure: []string{fmt.Sprintf("skip_lines: %d", o.SkipLines)}})
	}
	if o.Comment != "" {
		d.add(Hazard{Rule: "comments", Severity: SeverityWarning, Line: 1, Message: fmt.Sprintf("lines that begin with %s are comments", o.Comment), Cure: []string{"comment: " + yaml(o.Comment)}})
	}
}

// A tour is what going through all records showed.
type tour struct {
	ragged, stray, faults, returns, foreign int64
	raggedAt                                []string
	strayLine, returnLine, foreignLine      int64
	first                                   csv.Record // with a fault
	short, long                             bool
}

// mostLines is how many places of one kind are listed.
const mostLines = 5

// records goes through the whole file.
func (d *Diagnosis) records(fs files.FS, f files.File, t *table, s *sample) error {
	o := t.options
	o.Encoding = s.encoding
	x, err := csv.OpenText(fs, f, o)
	if err != nil {
		return d.damaged(err)
	}
	var w tour
	for {
		r, ok, err := x.Next()
		if err != nil {
			return errors.Join(d.damaged(err), x.Close())
		}
		if !ok {
			break
		}
		if !r.Blank || t.fields <= 1 {
			w.see(r, t)
		}
	}
	if err := x.Close(); err != nil {
		return err
	}
	w.report(d, t)
	return nil
}

// damaged makes a hazard of a file that cannot be read to its end.
func (d *Diagnosis) damaged(err error) error {
	var known *connectors.DataError
	if !errors.As(err, &known) {
		return err
	}
	d.add(Hazard{Rule: "damaged", Severity: SeverityError, Line: known.Line, Message: known.Message})
	return nil
}

func (w *tour) see(r csv.Record, t *table) {
	if r.Fault != "" {
		if w.faults++; w.faults == 1 {
			w.first = r
			w.first.Raw = bytes.Clone(r.Raw[:min(len(r.Raw), 60)])
		}
		return
	}
	if n := len(r.Fields); n != len(t.names) {
		w.ragged++
		w.short, w.long = w.short || n < len(t.names), w.long || n > len(t.names)
		if len(w.raggedAt) < mostLines {
			w.raggedAt = append(w.raggedAt, fmt.Sprintf("%d (%d)", r.Line, n))
		}
	}
	for k, b := range r.Fields {
		if !r.Quoted[k] && bytes.IndexByte(b, '"') >= 0 {
			if w.stray++; w.stray == 1 {
				w.strayLine = r.Line
			}
		}
		if !r.Quoted[k] && bytes.IndexByte(b, '\r') >= 0 {
			if w.returns++; w.returns == 1 {
				w.returnLine = r.Line
			}
		}
		if !utf8.Valid(b) {
			if w.foreign++; w.foreign == 1 {
				w.foreignLine = r.Line
			}
		}
	}
}

func (w *tour) report(d *Diagnosis, t *table) {
	if w.ragged > 0 {
		var line int64
		if _, err := fmt.Sscan(w.raggedAt[0], &line); err != nil {
			line = 0
		}
		more := ""
		if w.ragged > int64(len(w.raggedAt)) {
			more = " …"
		}
		h := Hazard{
			Rule: "ragged", Severity: SeverityError, Line: line, Count: w.ragged,
			Message: fmt.Sprintf("%s not %d fields: line (fields) %s%s", count(int(w.ragged), "record has", "records have"), len(t.names), strings.Join(w.raggedAt, ", "), more),
			Cure:    []string{"ragged: skip"}, Advice: "skip leaves them out and counts them",
		}
		if !w.long {
			h.Cure, h.Advice = []string{"ragged: pad"}, "pad makes what is missing NULL, and counts"
		}
		d.add(h)
	}
	if w.faults > 0 {
		h := Hazard{
			Rule: "quotes", Severity: SeverityError, Line: w.first.Line, Count: w.faults,
			Message: fmt.Sprintf("%s: %s", w.first.Fault, clip(string(w.first.Raw))),
		}
		if t.options.Quote == nil {
			h.Cure, h.Advice = []string{`quote: ""`}, "without quotes every one is data, and no field may hold a delimiter or a line break"
		}
		d.add(h)
	}
	if w.stray > 0 {
		d.add(Hazard{Rule: "stray-quotes", Severity: SeverityInfo, Line: w.strayLine, Count: w.stray, Message: "quotes stand inside fields that do not begin with one; they are read as data"})
	}
	if w.returns > 0 {
		d.add(Hazard{Rule: "line-ends", Severity: SeverityWarning, Line: w.returnLine, Count: w.returns, Message: "a bare carriage return stands in an unquoted field, and is read as data; some lines may end with it"})
	}
	if w.foreign > 0 {
		d.add(Hazard{Rule: "encoding", Severity: SeverityError, Line: w.foreignLine, Count: w.foreign, Message: "a field is not UTF-8", Cure: []string{"encoding: windows-1252"}})
	}
}

// names is what is about the header.
func (d *Diagnosis) names(t *table) {
	if !t.header {
		return
	}
	seen := map[string]int{}
	renamed, _ := t.unique()
	for k, n := range t.names {
		if first, twice := seen[n]; twice {
			d.add(Hazard{
				Rule: "duplicate-names", Severity: SeverityWarning, Line: 1, Column: n, Cure: []string{"duplicate_names: rename"},
				Message: fmt.Sprintf("the name stands in the header as field %d and as field %d; renamed the second one is %s", first+1, k+1, renamed[k]),
			})
			continue
		}
		seen[n] = k
		if strings.TrimSpace(n) == "" {
			d.add(Hazard{Rule: "no-name", Severity: SeverityWarning, Line: 1, Message: fmt.Sprintf("field %d of the header has no name", k+1)})
		}
	}
}

// values is what is about the values of columns.
func (d *Diagnosis) values(t *table) {
	names, _ := t.unique()
	for k := range t.shapes {
		s := &t.shapes[k]
		v := s.judge()
		add := func(rule string, line int64, message string, cure ...string) {
			d.add(Hazard{Rule: rule, Severity: SeverityWarning, Line: line, Column: names[k], Message: message, Cure: cure})
		}
		if s.code != "" {
			add("leading-zeros", s.codeLine, fmt.Sprintf("values such as %s lose their leading zeros or signs as numbers", s.code), "columns: {"+yaml(names[k])+": STRING}")
		}
		if v.german {
			cure := []string{`decimal: ","`}
			if v.grouped {
				cure = append(cure, `thousands: "."`)
			}
			add("decimal-comma", s.commaLine, "numbers have a decimal comma", cure...)
		}
		if len(s.zones) > 1 {
			message, cure := "times stand in several zones: "+s.zoneList(), []string{s.instant(names[k])}
			if _, local := s.zones[""]; local {
				message, cure = message+"; those without are of the option zone", append(cure, "zone: UTC")
			}
			add("mixed-zones", s.zoneLine(), message, cure...)
		} else if s.zoned > 0 {
			add("zone", s.zoneLine(), "times have an offset, which a TIMESTAMP has not", s.instant(names[k]))
		}
		if v.format != "" {
			add("date-format", 0, "dates or times are written as "+v.format, "formats: {"+yaml(names[k])+": "+yaml(v.format)+"}")
		}
		if strings.HasPrefix(v.note, "dates that may be") {
			add("ambiguous-dates", 0, v.note)
		}
		if s.blankLine > 0 && !t.options.Trim {
			add("blanks", s.blankLine, "values have blanks around them, which are part of a text", "trim: true")
		}
		if v.typ != "STRING" {
			for w, n := range s.nulls {
				d.add(Hazard{Rule: "null-words", Severity: SeverityWarning, Column: names[k], Count: int64(n), Message: fmt.Sprintf("%q stands where a %s is missing", w, v.typ), Cure: []string{"null_values: [" + yaml(w) + "]"}})
			}
		}
	}
}

// instant declares a column of times with offsets.
func (s *shape) instant(name string) string {
	return fmt.Sprintf("columns: {%s: TIMESTAMP_LTZ(%d)}", yaml(name), min(s.precision, 6))
}

// zoneLine is the line at which the second zone was seen, or the only one.
func (s *shape) zoneLine() int64 {
	var line int64
	for _, l := range s.zones {
		line = max(line, l)
	}
	return line
}

func (s *shape) zoneList() string {
	var list []string
	for z := range s.zones {
		if z == "" {
			z = "none"
		}
		list = append(list, z)
	}
	sort.Strings(list)
	return strings.Join(list, ", ")
}
