package csv

// quote is the character around fields that hold delimiters or line breaks.
const quote = '"'

// A span is a field's place in a record: the bytes b[start:end], without its quotes.
type span struct {
	start, end int
	quoted     bool
	doubled    bool // holds quotes written twice
}

// verdict says how scanning a record went.
type verdict uint8

const (
	whole        verdict = iota // the record and its line end are there
	cut                         // the bytes end before the record does
	afterQuote                  // text between a closing quote and the next delimiter
	unterminated                // the file ends inside quotes
)

// A record is the result of scanning one.
type record struct {
	fields []span
	length int // bytes with the line end
	blank  bool
	verdict
	at int // place of the fault
}

// scanRecord finds the fields of the record at the start of b, byte by byte: it is the definition of
// the dialect, which the masks of the hot path only have to agree with. eof says that b ends where
// the file does. fields is memory to use.
func scanRecord(b []byte, delimiter byte, eof bool, fields []span) record {
	r := record{fields: fields[:0]}
	i := 0
	for {
		var f span
		next, v := scanField(b, i, delimiter, eof, &f)
		r.verdict, r.at = v, next
		if v != whole {
			return r
		}
		r.fields = append(r.fields, f)
		if next >= len(b) || b[next] != delimiter {
			r.length = lineEnd(b, next)
			r.blank = len(r.fields) == 1 && !f.quoted && f.start == f.end
			return r
		}
		i = next + 1
	}
}

// scanField finds the field at i and the place after it: of a delimiter, a line end or the end of
// the file.
func scanField(b []byte, i int, delimiter byte, eof bool, f *span) (next int, v verdict) {
	if i < len(b) && b[i] == quote {
		return scanQuoted(b, i, delimiter, eof, f)
	}
	f.start = i
	for ; i < len(b); i++ {
		switch b[i] {
		case delimiter, '\n':
			f.end = i
			if b[i] == '\n' && i > f.start && b[i-1] == '\r' {
				f.end--
			}
			return f.end, whole
		}
	}
	if !eof {
		return i, cut
	}
	f.end = i
	if i > f.start && b[i-1] == '\r' {
		f.end--
	}
	return f.end, whole
}

func scanQuoted(b []byte, i int, delimiter byte, eof bool, f *span) (next int, v verdict) {
	open := i
	f.start, f.quoted = i+1, true
	for i++; i < len(b); i++ {
		if b[i] != quote {
			continue
		}
		if i+1 < len(b) && b[i+1] == quote {
			f.doubled = true
			i++
			continue
		}
		f.end = i
		return afterClosing(b, i+1, delimiter, eof)
	}
	if eof {
		return open, unterminated
	}
	return i, cut
}

// afterClosing checks that a closing quote is followed by what may follow one.
func afterClosing(b []byte, i int, delimiter byte, eof bool) (next int, v verdict) {
	switch {
	case i >= len(b) && !eof:
		return i, cut
	case i >= len(b) || b[i] == delimiter || b[i] == '\n':
		return i, whole
	case b[i] == '\r' && i+1 >= len(b) && !eof:
		return i, cut
	case b[i] == '\r' && (i+1 >= len(b) || b[i+1] == '\n'):
		return i, whole
	}
	return i, afterQuote
}

// lineEnd is the place after the line end at i.
func lineEnd(b []byte, i int) int {
	if i < len(b) && b[i] == '\r' {
		i++
	}
	if i < len(b) && b[i] == '\n' {
		i++
	}
	return i
}

// text is a field's value: quotes written twice become one. The result is a part of b where it can be.
func (f span) text(b []byte) []byte {
	v := b[f.start:f.end]
	if !f.doubled {
		return v
	}
	return undouble(make([]byte, 0, len(v)), v)
}

// undouble appends v to dst with every pair of quotes made one.
func undouble(dst, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		dst = append(dst, v[i])
		if v[i] == quote {
			i++
		}
	}
	return dst
}
