package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// A table is what the records of a sample are.
type table struct {
	form
	whole  bool // all rows were looked at
	names  []string
	header bool
	named  bool    // a value is the name of its column too
	heads  []shape // of the first record
	shapes []shape
	rows   int
	ragged int
	line   int64 // of the first record that is ragged
	lossy  bool  // some of them have too many fields that are not empty
	faults int
	fault  string

	verdicts []verdict     // what each column looks like
	inferred *csv.Inferred // what a source makes of the columns; nil where it refuses the file
}

// examine reads a sample of a text file.
func examine(fs files.FS, f files.File) (*table, *sample, error) {
	s, err := take(fs, f)
	if err != nil {
		return nil, nil, err
	}
	fm, err := detect(s)
	if err != nil {
		return nil, nil, err
	}
	t := &table{form: fm, whole: s.whole}
	if err := t.read(s); err != nil || t.options.Trim || !t.blanks() {
		return t, s, err
	}
	trimmed := &table{form: fm, whole: s.whole}
	trimmed.options.Trim = true
	if err := trimmed.read(s); err != nil {
		return nil, nil, err
	}
	if trimmed.plainer(t) {
		return trimmed, s, nil
	}
	return t, s, nil
}

// blanks reports whether names or values have blanks around them.
func (t *table) blanks() bool {
	for k, n := range t.names {
		if strings.Trim(n, " \t") != n || t.shapes[k].blankLine > 0 {
			return true
		}
	}
	return false
}

// plainer reports whether a table without the blanks is what was meant: names lose theirs, or values are
// numbers, times or NULLs without them. In texts alone they may be part of the values.
func (t *table) plainer(u *table) bool {
	if t.header != u.header || t.header && !slices.Equal(t.names, u.names) {
		return true
	}
	for k := range min(len(t.shapes), len(u.shapes)) {
		a, b := t.shapes[k].judge(), u.shapes[k].judge()
		if a.typ != b.typ || len(t.shapes[k].nulls) > len(u.shapes[k].nulls) {
			return true
		}
	}
	return false
}

// unquoted is the table without quotes, where quotes that are wrong are all that is: each record has as many
// fields then, so that quotes are data.
func (t *table) unquoted(s *sample) (*table, error) {
	if t.faults == 0 {
		return t, nil
	}
	none := ""
	u := &table{form: t.form, whole: t.whole}
	u.options.Quote, u.options.Escape, u.options.Trim = &none, "", false
	if err := u.read(s); err != nil {
		return nil, err
	}
	if len(u.names) < 2 || u.ragged > 0 || u.rows == 0 {
		return t, nil
	}
	return u, nil
}

// lookCSV finds out how a text file is to be read.
func lookCSV(fs files.FS, f files.File) (*Found, error) {
	t, s, err := examine(fs, f)
	if err != nil {
		return nil, err
	}
	if t, err = t.unquoted(s); err != nil {
		return nil, err
	}
	if len(t.names) == 0 || len(t.names) == 1 && t.names[0] == "" && t.rows == 0 {
		why := "it has no record"
		if t.fault != "" {
			why = "quotes are wrong in each record; " + t.fault
		}
		return nil, &files.Error{Kind: files.InvalidOption, Path: f.Path, Message: f.Path + ": no column is to be found: " + why}
	}
	out := &Found{File: f.Path, Kind: "csv", Bytes: f.Bytes, Form: t.form.describe(s)}
	t.describe(out, s)
	t.types(fs, f, out)
	return out, nil
}

// types infers the columns as a source with the options does whose columns are left out.
func (t *table) types(fs files.FS, f files.File, out *Found) {
	v, err := csv.Infer(context.Background(), fs, t.options, []files.File{f})
	if err != nil { // there are faults, which the notes name or the source will
		out.Sample = fmt.Sprintf("types: from a sample of %s; the source refuses the file: %v", count(t.rows, "row", "rows"), err)
		return
	}
	out.Sample = "types: from " + v.Sample()
	if !v.Whole {
		out.Sample += "; a later row may need another type or more digits"
	}
	for i, c := range v.Inference.Columns {
		note := c.Note
		if c.Type == "STRING" && i < len(out.Columns) && out.Columns[i].Note != "" {
			note = out.Columns[i].Note
		}
		if i < len(out.Columns) {
			typ := c.Type
			if at := v.Verdicts[i].Instant; at != nil {
				typ, note = at.String(), instants
				if strings.HasPrefix(t.verdicts[i].typ, "TIMESTAMP_LTZ") {
					note = t.verdicts[i].note
				}
			}
			out.Columns[i] = Column{Name: c.Name, Type: typ, Note: note}
		}
	}
	t.inferred = v
}

// count puts a number before a word.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// atLine says where, if that is known.
func atLine(line int64) string {
	if line == 0 {
		return " in the middle of the file"
	}
	return fmt.Sprintf(" at line %d", line)
}

// read goes through the sample; twice where its first record turns out to be no header.
func (t *table) read(s *sample) error {
	j, err := newJudge()
	if err != nil {
		return err
	}
	form := t.form
	if err := t.parts(j, s, true); err != nil || t.headed() {
		return err
	}
	*t = table{form: form, whole: t.whole}
	return t.parts(j, s, false)
}

func (t *table) parts(j *judge, s *sample, header bool) error {
	t.header = header
	for i, part := range s.parts {
		o := t.options
		if i > 0 {
			o.SkipLines = 0
		}
		if err := t.part(j, part, o, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) part(j *judge, part []byte, o csv.Options, first bool) (err error) {
	x, err := csv.NewText(part, o)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, x.Close()) }()
	begun := !first
	for {
		r, ok, err := x.Next()
		if err != nil || !ok {
			return err
		}
		if !first {
			r.Line = 0 // nobody counted what stands before the part
		}
		switch {
		case r.Fault != "":
			if t.faults++; t.fault == "" {
				t.fault = fmt.Sprintf("line %d: %s", r.Line, r.Fault)
			}
			continue
		case r.Blank && t.fields > 1:
			continue
		case !begun:
			begun = true
			t.begin(j, r)
			if t.header {
				continue
			}
		}
		t.rows++
		if len(r.Fields) != len(t.names) {
			if t.ragged++; t.ragged == 1 {
				t.line = r.Line
			}
			for _, b := range r.Fields[min(len(t.names), len(r.Fields)):] {
				t.lossy = t.lossy || len(b) > 0
			}
		}
		for k := range t.shapes[:min(len(t.shapes), len(r.Fields))] {
			j.add(&t.shapes[k], r.Fields[k], r.Quoted[k], r.Line)
			t.named = t.named || string(r.Fields[k]) == t.names[k]
		}
	}
}

// begin takes the first record.
func (t *table) begin(j *judge, r csv.Record) {
	t.shapes, t.heads = make([]shape, len(r.Fields)), make([]shape, len(r.Fields))
	for k, b := range r.Fields {
		j.add(&t.heads[k], b, r.Quoted[k], r.Line)
		name := string(b)
		if !t.header {
			name = fmt.Sprintf("column%d", k+1)
		}
		t.names = append(t.names, name)
	}
}

// longestName is how long a name may be; a longer text is data.
const longestName = 4096

// headed reports whether the first record is a header. It is none if one of its fields is a value of a type, or
// means NULL, and none if all its names are the same and are values as well: empty, or found again below. But
// where it alone keeps columns from having a type, one for each four values in it, it is one: names may be numbers.
func (t *table) headed() bool {
	value, alike := false, len(t.names) > 1
	for _, n := range t.names {
		value = value || len(n) > longestName
	}
	alone := 0 // most values below a name that is not of their type
	typed, names := 0, 0
	for k := range t.heads {
		h, below := &t.heads[k], &t.shapes[k]
		is := h.values == 1 && (h.judge().typ != "STRING" || h.code != "")
		value = value || is || len(h.nulls) > 0
		alike = alike && t.names[k] == t.names[0]
		if is {
			typed++
		} else if h.values == 1 && below.judge().typ != "STRING" {
			alone = max(alone, below.values)
			names++
		}
	}
	if value {
		return alone > 1 && names*4 >= typed
	}
	return !alike || alone > 0 || t.names[0] != "" && !t.named
}

// describe fills in options, columns and notes.
func (t *table) describe(out *Found, s *sample) {
	add := func(name, value string) { out.Options = append(out.Options, Option{name, value}) }
	o := &t.options
	if o.Delimiter != "," {
		add("delimiter", yaml(o.Delimiter))
	}
	if o.Quote != nil {
		add("quote", yaml(*o.Quote))
	}
	if o.Escape != "" {
		add("escape", o.Escape)
	}
	if o.Comment != "" {
		add("comment", yaml(o.Comment))
	}
	if o.Trim {
		add("trim", "true")
	}
	if o.SkipLines > 0 {
		add("skip_lines", fmt.Sprint(o.SkipLines))
	}
	if o.LineEnding != "" {
		add("line_ending", o.LineEnding)
	}
	if o.Encoding = s.encoding; s.encoding != "" {
		add("encoding", s.encoding)
	}
	if s.guessed {
		out.Notes = append(out.Notes, "encoding: the text is not UTF-8; "+s.encoding+" is the likely one, and the bytes alone cannot tell: look at letters with accents")
	}
	if !t.header {
		o.Header = &t.header
		add("header", "false")
	}
	t.columns(out, add)
	if t.ragged > 0 {
		note := fmt.Sprintf("%s not %d fields, the first%s", count(t.ragged, "record has", "records have"), len(t.names), atLine(t.line))
		if t.lossy {
			note += ": as it is the source refuses them; `ragged: pad` cuts what is too much, `ragged: skip` leaves them out"
		} else {
			note += ": padding them loses nothing"
			o.Ragged = "pad"
			add("ragged", "pad")
		}
		out.Notes = append(out.Notes, note)
	}
	if o.Quote != nil && *o.Quote == "" {
		out.Notes = append(out.Notes, "quotes are data: with quotes around fields some records would be faulty, and without every record has as many fields")
	}
	if t.faults > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s faulty quotes, which the source refuses; %s", count(t.faults, "record has", "records have"), t.fault))
	}
}

// columns decides what the file as a whole needs for the values of its columns, and their types where the
// file cannot be read as it is.
func (t *table) columns(out *Found, add func(name, value string)) {
	o := &t.options
	t.verdicts = make([]verdict, len(t.shapes))
	var german, english, grouped bool
	nulls := map[string]bool{}
	for k := range t.shapes {
		t.verdicts[k] = t.shapes[k].judge()
		v := t.verdicts[k]
		german, english, grouped = german || v.german, english || v.english, grouped || v.grouped
		for w := range t.shapes[k].nulls {
			if v.typ != "STRING" || w == "NULL" || w == `\N` {
				nulls[w] = true
			}
		}
	}
	if german && !english {
		o.Decimal = ","
		add("decimal", `","`)
		if grouped {
			o.Thousands = "."
			add("thousands", `"."`)
		}
	} else if grouped && !german {
		o.Thousands = ","
		add("thousands", `","`)
	}
	if len(nulls) > 0 {
		for w := range nulls {
			o.NullValues = append(o.NullValues, w)
		}
		sort.Strings(o.NullValues)
		add("null_values", yamlList(o.NullValues))
	}
	names, twice := t.unique()
	if twice {
		o.DuplicateNames = "rename"
		add("duplicate_names", "rename")
	}
	var formats []string
	for k, v := range t.verdicts {
		if german && english && v.german {
			v = verdict{typ: "STRING", note: "numbers with a decimal comma, where other columns have a point"}
		}
		if kind, _, ok := strings.Cut(v.typ, "("); ok && strings.HasPrefix(kind, "TIMESTAMP") && !t.whole {
			v.typ = kind + "(6)" // a later value may have a fraction, which a smaller one would cut
		}
		if v.typ == "STRING" && v.note == "" && o.NullValues == nil && len(t.shapes[k].nulls) > 0 {
			v.note = nullNote(t.shapes[k].nulls)
		}
		if v.format != "" && o.Formats.SetEntry(names[k], v.format) == nil {
			formats = append(formats, yaml(names[k])+": "+yaml(v.format))
		}
		out.Columns = append(out.Columns, Column{Name: names[k], Type: v.typ, Note: v.note})
	}
	if len(formats) > 0 {
		add("formats", "{"+strings.Join(formats, ", ")+"}")
	}
}

// nullNote names words of a text column that may mean NULL, which only its writer knows.
func nullNote(words map[string]int) string {
	list := slices.Sorted(maps.Keys(words))
	n := 0
	for _, w := range list {
		n += words[w]
	}
	return fmt.Sprintf("%s %s, which `null_values: %s` makes NULL", count(n, "value is", "values are"), strings.Join(list, " or "), yamlList(list))
}

// unique gives the names as `duplicate_names: rename` makes them.
func (t *table) unique() ([]string, bool) {
	names := csv.Renamed(t.names)
	return names, !slices.Equal(names, t.names)
}
