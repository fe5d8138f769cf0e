package inspect

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/csv"
)

// trialRows is how many records of the beginning the form of the text is judged by.
const trialRows = 1000

// A form is the form of a text as far as it was found out.
type form struct {
	options csv.Options
	fields  int     // of most records
	first   int     // of the first record
	share   float64 // of the records that have so many
	faults  int
	lf, cr  int // line ends
	crlf    int
	lfLine  int64 // the first line that ends so; of the first part
	crLine  int64
}

// endings counts the line ends of a text; those inside quotes count too.
func (f *form) endings(parts [][]byte) {
	for n, p := range parts {
		for i, c := range p {
			switch {
			case c == '\n' && i > 0 && p[i-1] == '\r':
				if f.crlf++; f.crlf == 1 && n == 0 {
					f.crLine = int64(f.lf) + 1
				}
			case c == '\n':
				if f.lf++; f.lf == 1 && n == 0 {
					f.lfLine = int64(f.crlf) + 1
				}
			case c == '\r' && (i+1 == len(p) || p[i+1] != '\n'):
				f.cr++
			}
		}
	}
	if f.cr > 0 && f.lf == 0 && f.crlf == 0 {
		f.options.LineEnding = "cr"
	}
}

// detect finds delimiter, quote and escape: those under which the most records have the same number
// of fields.
func detect(s *sample) (form, error) {
	var base form
	base.endings(s.parts)
	best := base
	head := s.parts[0]
	for _, d := range []string{",", ";", "\t", "|", "||", "~", ":", " "} {
		if !bytes.Contains(head, []byte(d)) && d != "," {
			continue
		}
		for _, q := range quotesIn(head, d) {
			f := base
			f.options.Delimiter, f.options.Escape = d, q.escape
			if q.quote != `"` {
				quote := q.quote
				f.options.Quote = &quote
			}
			if err := f.try(head); err != nil {
				return best, err
			}
			if f.score() > best.score() {
				best = f
			}
		}
	}
	if best.fields == 0 {
		best.options.Delimiter = ","
		return best, best.try(head)
	}
	return best, nil
}

type quoting struct{ quote, escape string }

// quotesIn gives the ways of quoting that a text may have. A single quote is one only where fields
// begin and end with it and double quotes do not.
func quotesIn(head []byte, delimiter string) []quoting {
	out := []quoting{{`"`, ""}}
	if bytes.Contains(head, []byte(`\"`)) {
		out = append(out, quoting{`"`, "backslash"})
	}
	begins := bytes.Contains(head, []byte(delimiter+"'")) || bytes.Contains(head, []byte("\n'"))
	ends := bytes.Contains(head, []byte("'"+delimiter)) || bytes.Contains(head, []byte("'\n")) || bytes.Contains(head, []byte("'\r"))
	if !bytes.Contains(head, []byte(`"`)) && begins && ends {
		out = append(out, quoting{"'", ""})
	}
	return out
}

// try reads the beginning of a text.
func (f *form) try(head []byte) (err error) {
	t, err := csv.NewText(head, f.options)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, t.Close()) }()
	counts := map[int]int{}
	n := 0
	for n < trialRows {
		r, ok, err := t.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if r.Blank {
			continue
		}
		n++
		if r.Fault != "" {
			f.faults++
			continue
		}
		counts[len(r.Fields)]++
		if n == 1 {
			f.first = len(r.Fields)
		}
	}
	for k, c := range counts {
		if c > counts[f.fields] || c == counts[f.fields] && k > f.fields {
			f.fields = k
		}
	}
	if n > 0 {
		f.share = float64(counts[f.fields]) / float64(n)
	}
	return nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// score is higher where more records agree, and for more fields; a blank or a colon is a delimiter
// only where nothing else is one.
func (f *form) score() float64 {
	if f.fields < 2 {
		return 0
	}
	s := f.share * f.share * (2 - 1/float64(f.fields))
	if f.faults > 0 {
		s *= 0.8
	}
	if d := f.options.Delimiter; d == " " || d == ":" || d == "~" {
		if f.first != f.fields {
			return 0 // times, or several words, in a single column whose name has none
		}
		s *= 0.7
	}
	if f.options.Escape != "" || f.options.Quote != nil {
		s *= 1.001 // proven by the text itself, where it is as good
	}
	if f.options.Delimiter == "||" {
		s *= 1.1 // "|" makes the same records with an empty field in each gap
	}
	return s
}

// preamble finds comments, and lines before the header that are no records.
func (f *form) preamble(head []byte) error {
	lines := bytes.SplitN(head, []byte{'\n'}, 22)
	if len(lines) < 2 || f.fields < 2 || f.first == f.fields {
		return nil // the first record is one, over however many lines
	}
	lines = lines[:len(lines)-1]
	skip := 0
	for skip < len(lines) && countFields(lines[skip], f.options) != f.fields && len(bytes.TrimSpace(lines[skip])) > 0 {
		skip++
	}
	if skip == 0 || skip == len(lines) {
		return nil
	}
	comments := 0
	for _, l := range lines[:skip] {
		if bytes.HasPrefix(l, []byte("#")) {
			comments++
		}
	}
	if comments == skip {
		f.options.Comment = "#"
	} else {
		f.options.SkipLines = int64(skip)
	}
	f.fields = 0
	return f.try(head)
}

func countFields(line []byte, o csv.Options) int {
	t, err := csv.NewText(line, o)
	if err != nil {
		return 0
	}
	r, _, err := t.Next()
	if err != nil {
		return 0
	}
	return len(r.Fields)
}

// describe puts the form in words.
func (f *form) describe(s *sample) string {
	ends := "LF"
	switch {
	case f.crlf > 0 && f.lf > 0:
		ends = fmt.Sprintf("LF and CRLF mixed (%d and %d)", f.lf, f.crlf)
	case f.crlf > 0:
		ends = "CRLF"
	case f.options.LineEnding == "cr":
		ends = "CR"
	}
	enc := "utf-8"
	switch {
	case s.encoding != "":
		enc = s.encoding
	case s.mark:
		enc = "utf-8 with a byte-order mark"
	}
	words := []string{enc, "lines end with " + ends}
	if s.packed != "" {
		words = append(words, "compressed ("+s.packed+")")
	}
	return strings.Join(words, ", ")
}
