package parquet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

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
	bad   map[int32]bool // those that are no UTF-8
	array arrow.Array    // of list, made anew when it grew; nil before the first
	given bool           // up: there were too many
}

func newWords() *words { return &words{id: expr.NewDictID(), codes: map[string]int32{}} }

// errFull says that a column has too many texts for a dictionary.
var errFull = errors.New("the dictionary is full")

// code is the text's code.
func (w *words) code(b []byte) (int32, error) {
	code, ok := w.codes[string(b)]
	if ok {
		return code, nil
	}
	if len(w.list) >= maxWords {
		return 0, errFull
	}
	code = int32(len(w.list))
	text := string(b)
	w.codes[text] = code
	w.list = append(w.list, text)
	if !utf8.ValidString(text) {
		if w.bad == nil {
			w.bad = map[int32]bool{}
		}
		w.bad[code] = true
	}
	return code, nil
}

// giveUp lets go of everything: the column is read plain from now on.
func (w *words) giveUp() {
	w.given = true
	w.release()
	w.codes, w.list, w.bad = nil, nil, nil
}

// ops decodes texts straight to codes. A dictionary page becomes a list of codes, so that a row of it
// costs one look-up in a table.
func (w *words) ops() ops[int32] {
	texts := bytesOps()
	var one [1]parquet.ByteArray
	return ops[int32]{
		plain: func(b []byte, size int, out []int32) (_ []byte, err error) {
			for i := range out {
				if b, err = texts.plain(b, size, one[:]); err != nil {
					return nil, err
				}
				if out[i], err = w.code(one[0]); err != nil {
					return nil, err
				}
			}
			return b, nil
		},
		other: func(encoding int32, b []byte, size, n int) ([]int32, error) {
			list, err := texts.other(encoding, b, size, n)
			out := make([]int32, len(list))
			for i := 0; i < len(list) && err == nil; i++ {
				out[i], err = w.code(list[i])
			}
			return out, err
		},
	}
}

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

// strings reads texts: as codes, or plain once the dictionary is full.
func (d *decoder) strings(c *chunk, n int) (piece, error) {
	if d.words.given {
		return d.plain(c, n)
	}
	p, err := d.coded(c, n)
	if !errors.Is(err, errFull) {
		return p, err
	}
	at := c.at
	if err := d.restart(c); err != nil {
		return piece{}, err
	}
	if err := d.skipStrings(c, at); err != nil {
		return piece{}, err
	}
	return d.plain(c, n)
}

// skipStrings passes over n rows.
func (d *decoder) skipStrings(c *chunk, n int64) error {
	if !d.words.given {
		at := c.at
		err := skip(c, n, scratch(&d.int32s, int(min(n, maxRows))), d.words.ops())
		if !errors.Is(err, errFull) {
			return err
		}
		if err := d.restart(c); err != nil {
			return err
		}
		n += at
	}
	texts := scratch(&d.bytes, int(min(n, maxRows)))
	defer clear(texts)
	return skip(c, n, texts, bytesOps())
}

// restart gives the dictionary up and begins the chunk anew, since pages are open whose texts have no
// codes.
func (d *decoder) restart(c *chunk) error {
	d.words.giveUp()
	again, err := openChunk(c.doc, c.group, c.name, c.leaf, c.room)
	if err != nil {
		return err
	}
	*c = *again
	return nil
}

func (d *decoder) plain(c *chunk, n int) (piece, error) {
	v := scratch(&d.bytes, n)
	defer clear(v) // they would keep the page alive
	valid, levels, err := decode(c, v, bytesOps())
	if err != nil {
		return piece{}, err
	}
	total := 0
	for _, t := range v[:valid] {
		total += len(t)
	}
	if total > math.MaxInt32 {
		return piece{}, fmt.Errorf("%d rows of it have %d bytes of text, more than a batch can hold", n, total)
	}
	data := memory.NewResizableBuffer(d.alloc)
	data.Resize(total)
	offsets, at := bufferOf[int32](d, n+1)
	text, next := data.Bytes()[:0], 0
	for row := range n {
		at[row] = int32(len(text))
		if levels == nil || levels[row] != 0 {
			text = append(text, v[next]...)
			next++
		}
	}
	at[n] = int32(len(text))
	p := piece{arr: d.array(d.typ.Arrow(), n, levels, offsets, data)}
	if d.typ.Kind == expr.Bytes {
		return p, nil
	}
	if !utf8.Valid(text) || !eachBegins(text, at) {
		p.bad = d.checkText(v, levels, n)
	}
	return p, nil
}

// eachBegins holds where no text begins within a character of the one before.
func eachBegins(text []byte, at []int32) bool {
	for _, i := range at {
		if int(i) < len(text) && !utf8.RuneStart(text[i]) {
			return false
		}
	}
	return true
}

// fixedTexts reads values of a fixed length: BYTES as they are, and UUIDs as text.
func (d *decoder) fixedTexts(c *chunk, n int) (piece, error) {
	v := scratch(&d.fixed, n)
	defer clear(v)
	valid, levels, err := decode(c, v, fixedOps())
	if err != nil {
		return piece{}, err
	}
	size := d.node.TypeLength()
	if d.typ.Kind == expr.String {
		size = len("00000000-0000-0000-0000-000000000000")
	}
	if size > math.MaxInt32/max(valid, 1) {
		return piece{}, fmt.Errorf("%d rows of it have %d bytes each, more than a batch can hold", n, size)
	}
	data := memory.NewResizableBuffer(d.alloc)
	data.Resize(size * valid)
	offsets, at := bufferOf[int32](d, n+1)
	text, next := data.Bytes()[:0], 0
	for row := range n {
		at[row] = int32(len(text))
		if levels != nil && levels[row] == 0 {
			continue
		}
		if d.typ.Kind == expr.String {
			text = appendUUID(text, v[next])
		} else {
			text = append(text, v[next]...)
		}
		next++
	}
	at[n] = int32(len(text))
	return piece{arr: d.array(d.typ.Arrow(), n, levels, offsets, data)}, nil
}

// appendUUID writes 16 bytes as a UUID's text.
func appendUUID(dst, b []byte) []byte {
	for _, k := range [...][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		if k[0] > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[k[0]:k[1]])
	}
	return dst
}

func (d *decoder) coded(c *chunk, n int) (piece, error) {
	buf, codes := bufferOf[int32](d, n)
	valid, levels, err := decode(c, codes, d.words.ops())
	if err != nil {
		buf.Release()
		return piece{}, err
	}
	scatter(codes, valid, levels)
	var p piece
	if len(d.words.bad) > 0 {
		for row, code := range codes {
			if d.words.bad[code] && (levels == nil || levels[row] != 0) {
				p.bad = append(p.bad, d.notText(row, []byte(d.words.list[code])))
			}
		}
	}
	indices := d.array(arrow.PrimitiveTypes.Int32, n, levels, buf)
	defer indices.Release()
	dict := d.words.dictionary(d.alloc)
	defer dict.Release()
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	p.arr, p.dict = array.NewDictionaryArray(t, indices, dict), d.words.id
	return p, nil
}

// checkText finds texts that are not UTF-8.
func (d *decoder) checkText(v []parquet.ByteArray, levels []int16, n int) []badValue {
	var bad []badValue
	next := 0
	for row := range n {
		if levels != nil && levels[row] == 0 {
			continue
		}
		if !utf8.Valid(v[next]) {
			bad = append(bad, d.notText(row, v[next]))
		}
		next++
	}
	return bad
}

// notText is a text that is not UTF-8. Bytes without annotation are taken for text where the plan says so;
// such a value shows that they are none.
func (d *decoder) notText(row int, b []byte) badValue {
	e := badValue{row: row, kind: "CastError", value: fmt.Sprintf("%q", b), why: "it is no UTF-8 text"}
	if isNone(d.node.LogicalType()) {
		e.kind, e.why = "SchemaMismatch", "the column is BYTE_ARRAY without annotation, and its value is no UTF-8 text; declare it BYTES"
	}
	return e
}
