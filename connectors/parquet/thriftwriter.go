package parquet

import "encoding/binary"

// A thriftWriter writes the compact form of thrift structures.
type thriftWriter struct {
	b    []byte
	last []int // id of the field written last, of each structure that is open
}

// reset begins a structure of its own.
func (w *thriftWriter) reset() { w.b, w.last = w.b[:0], append(w.last[:0], 0) }

func (w *thriftWriter) field(id int, kind byte) {
	last := &w.last[len(w.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		w.b = append(w.b, byte(delta)<<4|kind)
	} else {
		w.b = append(w.b, kind)
		w.zigzag(int64(id))
	}
	*last = id
}

func (w *thriftWriter) zigzag(v int64) { w.b = binary.AppendUvarint(w.b, uint64(v<<1)^uint64(v>>63)) }

func (w *thriftWriter) int32(id int, v int32) {
	w.field(id, thriftInt32)
	w.zigzag(int64(v))
}

func (w *thriftWriter) int64(id int, v int64) {
	w.field(id, thriftInt64)
	w.zigzag(v)
}

func (w *thriftWriter) byte(id int, v byte) {
	w.field(id, thriftByte)
	w.b = append(w.b, v)
}

func (w *thriftWriter) boolean(id int, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	w.field(id, kind)
}

func (w *thriftWriter) binary(id int, v []byte) {
	w.field(id, thriftBinary)
	w.bytes(v)
}

func (w *thriftWriter) text(id int, v string) {
	w.field(id, thriftBinary)
	w.b = append(binary.AppendUvarint(w.b, uint64(len(v))), v...)
}

// bytes is an element of a list of byte strings.
func (w *thriftWriter) bytes(v []byte) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(v))), v...)
}

// open begins a structure as a field, element one in a list; end ends it.
func (w *thriftWriter) open(id int) {
	w.field(id, thriftStruct)
	w.element()
}

func (w *thriftWriter) element() { w.last = append(w.last, 0) }

func (w *thriftWriter) end() {
	w.b = append(w.b, thriftStop)
	w.last = w.last[:len(w.last)-1]
}

// empty is a field of a structure without fields, which stands for itself in a union.
func (w *thriftWriter) empty(id int) {
	w.open(id)
	w.end()
}

// list begins a list of n elements of a kind.
func (w *thriftWriter) list(id int, kind byte, n int) {
	w.field(id, thriftList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|kind)
		return
	}
	w.b = binary.AppendUvarint(append(w.b, 0xf0|kind), uint64(n))
}
