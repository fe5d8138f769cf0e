package parquet

import (
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// maxWords is how many different texts a dictionary holds; beyond, a column is read plain.
const maxWords = 1 << 16

// words is the dictionary of a STRING column, the same for all row groups and files of a reader: it
// only grows, so that codes keep their meaning.
type words struct {
	id    uint64
	codes map[string]int32
	list  []string
	array arrow.Array // of list, made anew when it grew; nil before the first
	given bool        // up: there were too many

	// hints find a text by the place it stands in memory: values of a dictionary page share it.
	hints [1024]hint
}

type hint struct {
	at   *byte
	code int32
}

func newWords() *words { return &words{id: expr.NewDictID(), codes: map[string]int32{}} }

// code is the text's code, -1 where the dictionary is full.
func (w *words) code(b []byte) int32 {
	at := unsafe.SliceData(b)
	h := &w.hints[(uintptr(unsafe.Pointer(at))>>2)%uintptr(len(w.hints))]
	if h.at == at && at != nil && w.list[h.code] == string(b) {
		return h.code
	}
	code, ok := w.codes[string(b)]
	if !ok {
		if len(w.list) >= maxWords {
			return -1
		}
		code = int32(len(w.list))
		s := string(b)
		w.codes[s] = code
		w.list = append(w.list, s)
	}
	h.at, h.code = at, code
	return code
}

// forget lets go of memory that hints point to.
func (w *words) forget() { w.hints = [1024]hint{} }

// dictionary is the list as an array; the caller owns a reference.
func (w *words) dictionary(alloc memory.Allocator) arrow.Array {
	if w.array == nil || w.array.Len() < len(w.list) {
		w.release()
		b := array.NewStringBuilder(alloc)
		defer b.Release()
		b.AppendValues(w.list, nil)
		w.array = b.NewArray()
	}
	w.array.Retain()
	return w.array
}

func (w *words) release() {
	if w.array != nil {
		w.array.Release()
		w.array = nil
	}
}

// strings puts texts in their rows: as codes, or plain once the dictionary is full.
func (d *decoder) strings(v []parquet.ByteArray, levels []int16, n int) piece {
	bad := d.checkText(v, levels, n)
	if !d.words.given {
		if p, ok := d.coded(v, levels, n); ok {
			p.bad = bad
			return p
		}
		d.words.given = true
		d.words.release()
		d.words.codes, d.words.list = nil, nil
	}
	b := array.NewStringBuilder(d.alloc)
	defer b.Release()
	b.Reserve(n)
	next := 0
	for row := range n {
		if levels != nil && levels[row] == 0 {
			b.AppendNull()
			continue
		}
		b.BinaryBuilder.Append(v[next])
		next++
	}
	return piece{arr: b.NewArray(), bad: bad}
}

func (d *decoder) coded(v []parquet.ByteArray, levels []int16, n int) (piece, bool) {
	defer d.words.forget()
	buf := memory.NewResizableBuffer(d.alloc)
	buf.Resize(n * arrow.Int32SizeBytes)
	codes := arrow.Int32Traits.CastFromBytes(buf.Bytes())
	next := 0
	for row := range n {
		if levels != nil && levels[row] == 0 {
			codes[row] = 0
			continue
		}
		c := d.words.code(v[next])
		if c < 0 {
			buf.Release()
			return piece{}, false
		}
		codes[row] = c
		next++
	}
	indices := d.array(arrow.PrimitiveTypes.Int32, n, levels, buf)
	defer indices.Release()
	dict := d.words.dictionary(d.alloc)
	defer dict.Release()
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	return piece{arr: array.NewDictionaryArray(t, indices, dict), dict: d.words.id}, true
}

// checkText finds texts that are not UTF-8. Bytes without annotation are taken for text, since old
// writers leave it out; such a value shows that they are none.
func (d *decoder) checkText(v []parquet.ByteArray, levels []int16, n int) []badValue {
	var bad []badValue
	var last *byte // of a dictionary page's value that was found good
	var size int
	next := 0
	for row := range n {
		if levels != nil && levels[row] == 0 {
			continue
		}
		b := v[next]
		next++
		if at := unsafe.SliceData(b); at == last && len(b) == size {
			continue
		}
		if utf8.Valid(b) {
			last, size = unsafe.SliceData(b), len(b)
			continue
		}
		e := badValue{row: row, kind: "DamagedFile", value: fmt.Sprintf("%q", []byte(b)), why: "it is no UTF-8 text"}
		if isNone(d.node.LogicalType()) {
			e.kind, e.why = "SchemaMismatch", "the column is BYTE_ARRAY without annotation, and its value is no UTF-8 text; binary columns cannot be read yet"
		}
		bad = append(bad, e)
	}
	return bad
}
