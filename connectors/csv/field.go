package csv

import (
	"bytes"
	"unsafe"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// fields gives the fields of one column of a run of records.
type fields struct {
	base   unsafe.Pointer // of the chunk's bytes
	pos    unsafe.Pointer // the column's place before record 0
	step   int            // bytes from one record's place to the next one's
	tail   uint32         // bytes of a CR to leave off the end
	odd    bool           // fields may have quotes, or some a CR at the end: strip tells
	cr     bool           // some have a CR at the end
	quotes bool

	nulls  *nullTokens
	unique []byte // memory for fields whose doubled quotes were made one, with slack on both sides
}

// nullTokens are the texts that mean NULL in unquoted fields.
type nullTokens struct {
	lengths uint64 // a bit for each length there is; the last one for 63 and more
	texts   [][]byte
}

func newNullTokens(texts []string) *nullTokens {
	t := &nullTokens{}
	for _, s := range texts {
		t.lengths |= 1 << min(len(s), 63)
		t.texts = append(t.texts, []byte(s))
	}
	return t
}

// has reports whether an unquoted field means NULL.
func (t *nullTokens) has(b []byte) bool {
	for _, s := range t.texts {
		if bytes.Equal(s, b) {
			return true
		}
	}
	return false
}

// of turns to a column of the records from r on.
func (f *fields) of(k *chunk, r, place int) {
	last := place == k.fields-1
	f.base = unsafe.Pointer(unsafe.SliceData(k.buf))
	f.pos = unsafe.Pointer(&k.pos[r*k.fields+place])
	f.step = k.fields * 4
	f.tail, f.cr, f.quotes = 0, last && k.mixed, k.quoted
	if last {
		f.tail = k.tail
	}
	f.odd = f.cr || f.quotes
}

// bounds are the places of a record's field in the chunk, with its quotes.
func (f *fields) bounds(r int32) (start, end uint32) {
	p := unsafe.Add(f.pos, int(r)*f.step)
	return *(*uint32)(p) + 1, *(*uint32)(unsafe.Add(p, 4)) - f.tail
}

// strip takes a CR and quotes off.
func (f *fields) strip(start, end uint32) (s, e uint32, quoted bool) {
	if f.cr && end > start && *(*byte)(unsafe.Add(f.base, int(end)-1)) == '\r' {
		end--
	}
	if end > start && *(*byte)(unsafe.Add(f.base, int(start))) == quote {
		return start + 1, end - 1, true
	}
	return start, end, false
}

// raw are the bytes between two places.
func (f *fields) raw(start, end uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(f.base, int(start))), int(end-start))
}

// get is the text of a record's field, and whether it means NULL. The text is valid until the next call.
func (f *fields) get(r int32) (text []byte, null bool) {
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
	f.unique = undouble(append(f.unique[:0], make([]byte, front)...), b)
	n := len(f.unique)
	f.unique = append(f.unique, make([]byte, front)...)
	return f.unique[front:n], false
}

// A flaw is the first field of a column that is no value of its type.
type flaw struct {
	row    int32
	null   bool // NULL in a NOT NULL column
	status expr.Status
	utf8   bool // bytes that are not UTF-8
	at     int  // of them, in the value
	value  []byte
}
