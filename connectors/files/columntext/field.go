package columntext

import (
	"bytes"
	"unsafe"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Fields gives the fields of one column of a run of records.
type Fields struct {
	base   unsafe.Pointer // of the chunk's bytes
	pos    unsafe.Pointer // the column's place before record 0
	step   int            // bytes from one record's place to the next one's
	tail   uint32         // bytes of a CR to leave off the end
	odd    bool           // fields may have quotes, or some a CR at the end: strip tells
	cr     bool           // some have a CR at the end
	quotes bool
	bare   bool // what is not empty and has no quotes is a value as it stands

	nulls  *NullTokens
	unique []byte // memory for fields whose doubled quotes were made one, with slack on both sides
}

// NullTokens are the texts that mean NULL in unquoted fields.
type NullTokens struct {
	lengths uint64 // a bit for each length there is; the last one for 63 and more
	texts   [][]byte
}

// NullWords are texts that often stand where a number or a time is missing.
func NullWords() []string {
	return []string{"NULL", "null", "NA", "N/A", "n/a", "None", "nil", "-", "?", `\N`}
}

// NewNullTokens makes them of a list; one without the empty text leaves empty fields empty texts.
func NewNullTokens(texts []string) *NullTokens {
	t := &NullTokens{}
	for _, s := range texts {
		t.lengths |= 1 << min(len(s), 63)
		t.texts = append(t.texts, []byte(s))
	}
	return t
}

// has reports whether an unquoted field means NULL.
func (t *NullTokens) has(b []byte) bool {
	for _, s := range t.texts {
		if bytes.Equal(s, b) {
			return true
		}
	}
	return false
}

// A Layout says where the fields of a column are: the field of record r is
// Buf[Pos[First+r*Step]+1 : Pos[First+r*Step+1]-Tail]. Front bytes before Buf and as many behind it may be
// read. A field whose first byte is a double quote is quoted: its quotes are no part of it, and those
// inside it are written twice.
type Layout struct {
	Buf         []byte
	Pos         []uint32
	First, Step int
	Tail        uint32 // bytes to leave off the end of every field
	CR          bool   // some fields have a CR at the end that is no part of them
	Quotes      bool   // some fields are quoted
	Bare        bool   // a field that is not empty and not quoted is a value
}

// Front is how many bytes around a buffer of fields may be read, so that a word that ends in a field can be.
const Front = 64

const quote = '"'

// Set turns to other fields.
func (f *Fields) Set(l Layout) {
	f.base = unsafe.Pointer(unsafe.SliceData(l.Buf))
	f.pos = unsafe.Pointer(&l.Pos[l.First])
	f.step = l.Step * 4
	f.tail, f.cr, f.quotes = l.Tail, l.CR, l.Quotes
	f.odd, f.bare = f.cr || f.quotes, l.Bare
}

// bounds are the places of a record's field in the chunk, with its quotes.
func (f *Fields) bounds(r int32) (start, end uint32) {
	p := unsafe.Add(f.pos, int(r)*f.step)
	return *(*uint32)(p) + 1, *(*uint32)(unsafe.Add(p, 4)) - f.tail
}

// strip takes a CR and quotes off.
func (f *Fields) strip(start, end uint32) (s, e uint32, quoted bool) {
	if f.cr && end > start && *(*byte)(unsafe.Add(f.base, int(end)-1)) == '\r' {
		end--
	}
	if end > start && *(*byte)(unsafe.Add(f.base, int(start))) == quote {
		return start + 1, end - 1, true
	}
	return start, end, false
}

// raw are the bytes between two places.
func (f *Fields) raw(start, end uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(f.base, int(start))), int(end-start))
}

// Get is the text of a record's field, and whether it means NULL. The text is valid until the next call.
func (f *Fields) Get(r int32) (text []byte, null bool) {
	start, end := f.bounds(r)
	quoted := false
	if f.odd {
		start, end, quoted = f.strip(start, end)
	}
	b := f.raw(start, end)
	if !quoted {
		return b, f.nulls.lengths>>min(end-start, 63)&1 != 0 && f.nulls.has(b)
	}
	if bytes.IndexByte(b, quote) < 0 {
		return b, false
	}
	f.unique = undouble(append(f.unique[:0], make([]byte, Front)...), b)
	n := len(f.unique)
	f.unique = append(f.unique, make([]byte, Front)...)
	return f.unique[Front:n], false
}

// A Flaw is the first field of a column that is no value of its type.
type Flaw struct {
	Row    int32
	Null   bool // NULL in a NOT NULL column
	Status expr.Status
	Unfit  bool // what stands there is nothing for the column; see [Rows]
	UTF8   bool // bytes that are not UTF-8
	At     int  // of them, in the value
	Lossy  bool // it can be read, and would not stay what it is: see Style.Fit
	Value  []byte
	// Of a value of a nested type: where in it the value at fault is, and what is wrong with that.
	Within, Message string
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
