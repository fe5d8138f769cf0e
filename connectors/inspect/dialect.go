package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/csv"
)

// trialRows is how many records of the beginning the form of the text is judged by.
const trialRows = 1000

// trialBytes is how much of it at most.
const trialBytes = 256 << 10

// A form is the form of a text as far as it was found out.
type form struct {
	options csv.Options
	fields  int     // of most records
	lead    int     // records before the first one that has so many
	named   bool    // the first one that has so many looks like names
	quoted  int     // fields in quotes
	tabbed  bool    // the name of the file says that it has tabs
	share   float64 // of the records behind the lead that have so many
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
	if f.cr > 4*(f.lf+f.crlf) { // those within quotes may be others
		f.options.LineEnding = "cr"
	}
}

// detect finds delimiter, quote, escape and comments: those under which the most records have the same
// number of fields. Lines before the header are then found as those that have another number.
func detect(s *sample) (form, error) {
	var base form
	base.endings(s.parts)
	base.tabbed = s.tabbed
	head, whole := s.parts[0], true
	if len(head) > trialBytes {
		head, whole = cutEnd(head[:trialBytes], false), false
	}
	best := base
	lines := firstLines(head, base.options.LineEnding == "cr")
	comments := commentsIn(lines)
	delimiters := delimitersIn(lines)
	if d := separated(lines); d != "" {
		delimiters, base.options.SkipLines = []string{d}, 1
	}
	for _, d := range delimiters {
		for _, q := range quotesIn(head, d) {
			for _, c := range comments {
				f := base
				f.options.Delimiter, f.options.Escape, f.options.Comment, f.options.Trim = d, q.escape, c, q.trim
				if q.quote != `"` {
					quote := q.quote
					f.options.Quote = &quote
				}
				if d == c || f.conflicts() || !f.comments(lines) {
					continue
				}
				if err := f.try(head, whole); err != nil {
					return best, err
				}
				if f.score() > best.score() {
					best = f
				}
			}
		}
	}
	if best.fields == 0 {
		if best.options.Delimiter = ","; best.tabbed {
			best.options.Delimiter = "\t"
		}
		if err := best.try(head, whole); err != nil {
			return best, err
		}
	}
	return best, best.preamble(lines, head)
}

// conflicts reports whether no source takes the delimiter together with quote and escape.
func (f *form) conflicts() bool {
	q := `"`
	if f.options.Quote != nil {
		q = *f.options.Quote
	}
	return strings.Contains(f.options.Delimiter, q) || f.options.Escape == "backslash" && strings.Contains(f.options.Delimiter, `\`)
}

// try reads the beginning of a text; whole is whether it is all of it.
func (f *form) try(head []byte, whole bool) (err error) {
	t, err := csv.NewText(head, f.options)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, t.Close()) }()
	var sizes []int // of the records; -1 where the quotes are wrong
	var rows [][]string
	for len(sizes) < trialRows {
		r, ok, err := t.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch {
		case r.Blank:
			continue
		case r.Fault != "":
			sizes = append(sizes, -1)
			f.faults++
		default:
			sizes = append(sizes, len(r.Fields))
		}
		for _, q := range r.Quoted {
			if q {
				f.quoted++
			}
		}
		if len(rows) <= mostLead {
			rows = append(rows, texts(r.Fields))
		}
	}
	if n := len(sizes); !whole && n > 0 && n < trialRows && sizes[n-1] < 0 {
		sizes = sizes[:n-1] // the text was cut there, perhaps within quotes
		f.faults--
	}
	f.measure(sizes, rows)
	return nil
}

// measure finds how many fields most records have, and from where on.
func (f *form) measure(sizes []int, rows [][]string) {
	counts := map[int]int{}
	for _, n := range sizes {
		if n > 0 {
			counts[n]++
		}
	}
	for k, c := range counts {
		if c > counts[f.fields] || c == counts[f.fields] && k > f.fields {
			f.fields = k
		}
	}
	// A header with a field less than the records, which have a delimiter at their end, is no lead.
	f.lead = slices.IndexFunc(sizes, func(n int) bool { return n == f.fields || n > 1 && n == f.fields-1 })
	if f.lead > mostLead || f.lead < 0 {
		f.lead = 0
	}
	if n := len(sizes) - f.lead; n > 0 {
		f.share = float64(counts[f.fields]) / float64(n)
	}
	f.named = f.lead < len(rows) && allNames(rows[f.lead])
}

// allNames reports whether the fields of a record can be the names of columns: none is empty or
// begins like a number, and no two are alike.
func allNames(fields []string) bool {
	seen := map[string]bool{}
	for _, v := range fields {
		v = strings.TrimSpace(v)
		if v == "" || seen[v] || strings.ContainsAny(v[:1], "0123456789+-.") {
			return false
		}
		seen[v] = true
	}
	return true
}

func texts(fields [][]byte) []string {
	out := make([]string, len(fields))
	for i, b := range fields {
		out[i] = string(b)
	}
	return out
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// score is higher where more records agree, and for more fields; what stands in the middle of texts is a
// delimiter only where nothing else is one, and from the first record on.
func (f *form) score() float64 {
	if f.fields < 2 {
		return 0
	}
	s := f.share * f.share * (2 - 1/float64(f.fields))
	if f.faults > 0 {
		s *= 0.8
	}
	if f.named {
		s *= 1.3
	}
	switch d := f.options.Delimiter; {
	case f.tabbed && d != "\t" && f.lead > 0:
		return 0 // the values of a single column have commas
	case usual(d):
	case rare(d):
		s *= 0.9
	case f.lead > 0:
		return 0 // times, or several words, in a single column whose name has none
	default:
		s *= 0.7
	}
	if f.lead > 0 {
		s *= 0.7
		for range f.lead {
			s *= 0.95
		}
	}
	if f.options.Escape != "" || f.options.Quote != nil || f.options.Trim {
		s *= 1.001 // proven by the text itself, where it is as good
	}
	if len(f.options.Delimiter) > 1 {
		s *= 1.4 // each character of it makes the same records with an empty field in each gap
	}
	return s
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
