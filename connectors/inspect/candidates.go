package inspect

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors/csv"
)

const (
	mostLead    = 20 // lines before the header
	lookedLines = 60 // by which delimiters and comments are looked for
	mostOthers  = 8  // delimiters that are not usual
	longest     = 8  // characters of a delimiter
)

// usual reports whether a text is a delimiter that files are known to have.
func usual(d string) bool { return slices.Contains([]string{",", ";", "\t", "|"}, d) }

// rare reports whether a delimiter is one that hardly stands in values: a sign that texts do not have, or
// several.
func rare(d string) bool {
	return utf8.RuneCountInString(d) > 1 || strings.Contains("~^¦¬§", d) || d[0] < ' '
}

// firstLines are the first lines that hold something.
func firstLines(head []byte, cr bool) [][]byte {
	end := byte('\n')
	if cr {
		end = '\r'
	}
	var lines [][]byte
	for len(head) > 0 && len(lines) < lookedLines {
		line, rest, _ := bytes.Cut(head, []byte{end})
		head = rest
		lines = append(lines, bytes.TrimRight(line, "\r"))
	}
	return lines
}

// delimitersIn gives what may stand between the fields of lines: the usual ones, and signs and runs of
// signs that stand in most lines, the most frequent ones first.
func delimitersIn(lines [][]byte) []string {
	in := map[string]int{} // in how many lines
	n := 0
	for _, l := range lines {
		if len(bytes.TrimSpace(l)) == 0 {
			continue
		}
		n++
		seen := map[string]bool{}
		// A sign that a line begins with is more often one of comments, or a bullet.
		for _, run := range bytes.FieldsFunc(bytes.TrimLeftFunc(l, func(r rune) bool { return separates(r) && !usual(string(r)) }), func(r rune) bool { return !separates(r) }) {
			for _, d := range runs(string(run)) {
				if !seen[d] {
					seen[d] = true
					in[d]++
				}
			}
		}
	}
	out := []string{","}
	for _, d := range []string{";", "\t", "|"} {
		if in[d] > 0 {
			out = append(out, d)
		}
	}
	var others []string
	for d, k := range in {
		if !usual(d) && 2*k > n {
			others = append(others, d)
		}
	}
	slices.SortFunc(others, func(a, b string) int {
		if in[a] != in[b] {
			return in[b] - in[a]
		}
		return strings.Compare(a, b)
	})
	return append(out, others[:min(len(others), mostOthers)]...)
}

// separated is the delimiter that a first line declares as spreadsheets have it, sep=; and "" where it does not.
func separated(lines [][]byte) string {
	if len(lines) == 0 {
		return ""
	}
	d, ok := strings.CutPrefix(strings.ToLower(strings.Trim(string(lines[0]), `"`)), "sep=")
	if !ok || d == "" || len(d) > longest || strings.ContainsAny(d, "\"'\r\x00") {
		return ""
	}
	return d
}

// runs gives the delimiters that a run of signs may be: each sign, and the run without blanks around it.
func runs(run string) []string {
	var out []string
	for _, r := range run {
		out = append(out, string(r))
	}
	// Commas and the like in a row are empty fields.
	if t := strings.Trim(run, " "); utf8.RuneCountInString(t) > 1 && len(t) <= longest && strings.Trim(t, ",;\t") == t {
		out = append(out, t)
		// Two of it in a row are an empty field.
		if half := t[:len(t)/2]; len(t)%2 == 0 && half+half == t && len(half) > 1 {
			out = append(out, half)
		}
	}
	return out
}

// separates reports whether a character may be a delimiter or a part of one: none of those that numbers,
// times, names and quoted texts are made of.
func separates(r rune) bool {
	return r < 0x100 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != utf8.RuneError && r != 0xFEFF && !strings.ContainsRune("\"'\\.-_+/()[]{}<>\r\n\x00€$£", r)
}

type quoting struct {
	quote, escape string
	trim          bool // blanks stand between delimiters and quotes
}

// quotesIn gives the ways of quoting that a text may have. A single quote is one only where fields
// begin and end with it and none begins with a double quote.
func quotesIn(head []byte, delimiter string) []quoting {
	has := func(s string) bool { return bytes.Contains(head, []byte(s)) }
	begins := func(q string) bool {
		return has(delimiter+q) || has("\n"+q) || has("\r"+q) || bytes.HasPrefix(head, []byte(q))
	}
	apart := func(q string) bool {
		return delimiter != " " && (has(delimiter+" "+q) || has(delimiter+"\t"+q) || has(q+" "+delimiter) || has(q+"\t"+delimiter))
	}
	add := func(out []quoting, q string) []quoting {
		for _, escape := range []string{"", "backslash"} {
			if escape != "" && !has(`\`+q) {
				continue
			}
			if out = append(out, quoting{q, escape, false}); apart(q) {
				out = append(out, quoting{q, escape, true})
			}
		}
		return out
	}
	out := add(nil, `"`)
	ends := has("'"+delimiter) || has("'\n") || has("'\r")
	if (begins("'") && ends || apart("'")) && !begins(`"`) && !apart(`"`) {
		out = add(out, "'")
	}
	return out
}

// commentsIn gives the beginnings of comment lines that a text may have, "" first.
func commentsIn(lines [][]byte) []string {
	out := []string{""}
	for _, c := range []string{"#", "//", "--", "%", "!", ";"} {
		if slices.ContainsFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte(c)) }) {
			out = append(out, c)
		}
	}
	return out
}

// comments reports whether the lines that begin as comments do can be some: they are few, and at least half have not
// as many fields as the others.
func (f *form) comments(lines [][]byte) bool {
	c := []byte(f.options.Comment)
	if len(c) == 0 {
		return true
	}
	o := f.options
	o.Comment = ""
	counts := map[int]int{} // lines by their number of fields
	var marked []int
	for _, l := range lines {
		switch n, _ := countFields(l, o); {
		case bytes.HasPrefix(l, c):
			marked = append(marked, n)
		case len(bytes.TrimSpace(l)) > 0:
			counts[n]++
		}
	}
	most, total := 0, 0
	for n, k := range counts {
		total += k
		if k > counts[most] {
			most = n
		}
	}
	alike := 0
	for _, n := range marked {
		if n == most {
			alike++
		}
	}
	return len(marked) <= total+mostLead && 2*alike <= len(marked)
}

// preamble finds lines before the header that are no records: the first has at most half of the fields, and behind
// them comes a header that has all of them. What is left out so is no data: titles and notes have few delimiters.
func (f *form) preamble(lines [][]byte, head []byte) error {
	if f.fields < 2 || f.lead == 0 || f.options.SkipLines > 0 {
		return nil
	}
	skip := 0 // lines up to the last one that is neither record nor header
	for i, l := range lines[:min(len(lines), 2*mostLead)] {
		if len(bytes.TrimSpace(l)) == 0 || f.options.Comment != "" && bytes.HasPrefix(l, []byte(f.options.Comment)) {
			continue
		}
		n, filled := countFields(l, f.options)
		if filled > 0 && (n == f.fields || n > 1 && n == f.fields-1) {
			break
		}
		if skip == 0 && filled > f.fields/2 {
			return nil // a record that is short
		}
		skip = i + 1
	}
	if skip == 0 || skip == len(lines) {
		return nil
	}
	j, err := newJudge()
	if err != nil {
		return err
	}
	t := table{form: *f, header: true}
	t.options.SkipLines = int64(skip)
	if err := t.part(j, head, t.options, true); err != nil {
		return err
	}
	if t.headed() {
		f.options.SkipLines = int64(skip)
	}
	return nil
}

// countFields is how many fields a line has as a record of its own, and how many of them hold something.
func countFields(line []byte, o csv.Options) (all, filled int) {
	t, err := csv.NewText(line, o)
	if err != nil {
		return 0, 0
	}
	r, _, err := t.Next()
	if err != nil {
		return 0, 0
	}
	for _, b := range r.Fields {
		if len(bytes.TrimSpace(b)) > 0 {
			filled++
		}
	}
	return len(r.Fields), filled
}
