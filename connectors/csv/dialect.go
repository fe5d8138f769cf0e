package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// A dialect is how the text of a file is cut into records and fields.
type dialect struct {
	Delimiter string `json:"delimiter"`
	Quote     byte   `json:"quote"` // 0: none
	Backslash bool   `json:"backslash,omitempty"`
	Comment   string `json:"comment,omitempty"` // records that begin with it are passed over
	Trim      bool   `json:"trim,omitempty"`
	CR        bool   `json:"cr,omitempty"` // lines end with CR
	Encoding  string `json:"encoding,omitempty"`
	Skip      int64  `json:"skip,omitempty"` // lines before the first record
}

// inOrder says why files of the dialect have to be read from their beginning on, "" where they may be
// cut into splits: the fast path knows one-byte delimiters, double quotes written twice, LF and UTF-8.
func (d *dialect) inOrder() string {
	switch {
	case d.Encoding != "":
		return "its text is " + d.Encoding
	case len(d.Delimiter) != 1:
		return "its delimiter has several bytes"
	case d.Backslash:
		return "a backslash may stand before a quote"
	case d.Quote == 0:
		return "it has no quotes"
	case d.Quote != quote:
		return "it has other quotes"
	case d.Comment != "":
		return "a comment may hold quotes"
	case d.Trim:
		return "blanks around fields are trimmed"
	case d.CR:
		return "its lines end with CR"
	}
	return ""
}

// scan finds the fields of the record at the start of b, as scanRecord does for the plain dialect.
func (d *dialect) scan(b []byte, eof bool, fields []span) record {
	r := record{fields: fields[:0]}
	i := 0
	for {
		var f span
		next, v := d.field(b, i, eof, &f)
		r.verdict, r.at = v, next
		if v != whole {
			return r
		}
		r.fields = append(r.fields, f)
		if next >= len(b) || !d.delimits(b, next) {
			r.length = next + d.lineEnd(b, next)
			r.blank = len(r.fields) == 1 && !f.quoted && f.start == f.end
			return r
		}
		i = next + len(d.Delimiter)
	}
}

// short reports whether too little of b is left at i to tell what stands there.
func (d *dialect) short(b []byte, i int, eof bool) bool {
	return !eof && i+max(len(d.Delimiter), 2) > len(b)
}

func (d *dialect) delimits(b []byte, i int) bool {
	return b[i] == d.Delimiter[0] && (len(d.Delimiter) == 1 || bytes.HasPrefix(b[i:], []byte(d.Delimiter)))
}

// lineEnd is the length of the line end at i, 0 where there is none.
func (d *dialect) lineEnd(b []byte, i int) int {
	switch {
	case i >= len(b):
		return 0
	case b[i] == '\n' && !d.CR:
		return 1
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return 2
	case b[i] == '\r' && (d.CR || i+1 == len(b)):
		return 1
	}
	return 0
}

// field finds the field at i and the place behind it: of a delimiter, a line end or the end.
func (d *dialect) field(b []byte, i int, eof bool, f *span) (next int, v verdict) {
	if d.Trim {
		for i < len(b) && blankByte(b[i]) && !d.delimits(b, i) {
			i++
		}
	}
	if d.short(b, i, eof) {
		return i, cut
	}
	if d.Quote != 0 && i < len(b) && b[i] == d.Quote {
		return d.quoted(b, i, eof, f)
	}
	f.start = i
	for ; ; i++ {
		if d.short(b, i, eof) {
			return i, cut
		}
		if i >= len(b) || d.delimits(b, i) || d.lineEnd(b, i) > 0 {
			break
		}
		if d.Backslash && b[i] == '\\' && i+1 < len(b) {
			f.doubled = true
			i++
		}
	}
	f.end = i
	for d.Trim && f.end > f.start && blankByte(b[f.end-1]) && (f.end < f.start+2 || !d.Backslash || b[f.end-2] != '\\') {
		f.end--
	}
	return i, whole
}

func (d *dialect) quoted(b []byte, i int, eof bool, f *span) (next int, v verdict) {
	open := i
	f.start, f.quoted = i+1, true
	for i++; i < len(b); i++ {
		switch {
		case d.Backslash && b[i] == '\\':
			f.doubled = true
			i++
		case b[i] != d.Quote:
		case !d.Backslash && i+1 < len(b) && b[i+1] == d.Quote:
			f.doubled = true
			i++
		default:
			f.end = i
			i++
			for d.Trim && i < len(b) && blankByte(b[i]) && !d.delimits(b, i) {
				i++
			}
			if d.short(b, i, eof) {
				return i, cut
			}
			if i >= len(b) || d.delimits(b, i) || d.lineEnd(b, i) > 0 {
				return i, whole
			}
			return i, afterQuote
		}
	}
	if eof {
		return open, unterminated
	}
	return i, cut
}

// text is a field's value: what was escaped stands for itself. The result is a part of b where it can be.
func (d *dialect) text(b []byte, f span) []byte {
	v := b[f.start:f.end]
	if !f.doubled {
		return v
	}
	esc := d.Quote
	if d.Backslash {
		esc = '\\'
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		if v[i] == esc && i+1 < len(v) {
			i++
		}
		out = append(out, v[i])
	}
	return out
}

func blankByte(c byte) bool { return c == ' ' || c == '\t' }

// dialect reads the options about the form of the text.
func (o Options) dialect() (dialect, error) {
	d := dialect{
		Delimiter: ",", Quote: quote, Backslash: o.Escape == "backslash", Comment: o.Comment, Trim: o.Trim,
		CR: o.LineEnding == "cr", Skip: o.SkipLines,
	}
	if o.Delimiter != "" {
		d.Delimiter = strings.ReplaceAll(o.Delimiter, `\t`, "\t")
	}
	if strings.ContainsAny(d.Delimiter, "\r\n\x00") {
		return d, fmt.Errorf("delimiter %q: expected text without line breaks, such as \";\", \"\\t\" or \"||\"", o.Delimiter)
	}
	switch {
	case o.Quote == nil:
	case *o.Quote == "":
		d.Quote = 0
	case len(*o.Quote) == 1 && (*o.Quote)[0] < 0x80 && !strings.ContainsAny(*o.Quote, "\r\n\x00\\ \t"):
		d.Quote = (*o.Quote)[0]
	default:
		return d, fmt.Errorf("quote %q: expected one ASCII character that is no line break, blank or backslash, or \"\" for none", *o.Quote)
	}
	if d.Quote != 0 && strings.IndexByte(d.Delimiter, d.Quote) >= 0 {
		return d, fmt.Errorf("delimiter %q holds the quote character %q: expected one without", o.Delimiter, d.Quote)
	}
	if d.Backslash && strings.Contains(d.Delimiter, `\`) {
		return d, fmt.Errorf("delimiter %q holds the escape character: expected one without", o.Delimiter)
	}
	if strings.ContainsAny(d.Comment, "\r\n") {
		return d, fmt.Errorf("comment %q: expected the beginning of a comment line, such as \"#\"", o.Comment)
	}
	enc, err := text.EncodingName(o.Encoding)
	d.Encoding = enc
	return d, err
}
