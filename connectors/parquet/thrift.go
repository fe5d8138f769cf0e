package parquet

// A thrift reads the compact form of thrift structures. It never panics and never reads past the end:
// what cannot be read is zero, and bad is set.
type thrift struct {
	rest []byte
	bad  bool
}

// Types of fields in the compact form.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds how deep structures and lists lie in each other; a page header has three, a footer twelve.
const maxThriftDepth = 16

// structure visits the fields of a structure. field reads the value and says true, or leaves it and
// says false.
func (t *thrift) structure(depth int, field func(id int, kind byte) bool) {
	if depth > maxThriftDepth {
		t.bad = true
	}
	id := 0
	for !t.bad {
		head := t.byte()
		kind := head & 0x0f
		if kind == thriftStop {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(t.int32())
		}
		if !field(id, kind) {
			t.skip(kind, depth)
		}
	}
}

func (t *thrift) skip(kind byte, depth int) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		t.varint()
	case thriftDouble:
		t.bytes(8)
	case thriftBinary:
		t.bytes(t.varint())
	case thriftList, thriftSet:
		head := t.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = t.varint()
		}
		t.elements(n, depth, head&0x0f)
	case thriftMap:
		if n := t.varint(); n > 0 {
			kinds := t.byte()
			t.elements(n, depth, kinds>>4, kinds&0x0f)
		}
	case thriftStruct:
		t.structure(depth+1, func(int, byte) bool { return false })
	default:
		t.bad = true
	}
}

// elements passes over those of a list or map. A truth value takes a byte there.
func (t *thrift) elements(n uint64, depth int, kinds ...byte) {
	if depth > maxThriftDepth || n > uint64(len(t.rest)) {
		t.bad = true
	}
	for ; n > 0 && !t.bad; n-- {
		for _, k := range kinds {
			if k == thriftTrue || k == thriftFalse {
				k = thriftByte
			}
			t.skip(k, depth+1)
		}
	}
}

// list visits the elements of a list of structures; each is to be read by element.
func (t *thrift) list(depth int, element func()) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.varint()
	}
	if head&0x0f != thriftStruct {
		t.elements(n, depth, head&0x0f)
		return
	}
	if n > uint64(len(t.rest)) {
		t.bad = true
	}
	for ; n > 0 && !t.bad; n-- {
		element()
	}
}

// binary reads bytes; they are a part of what is read.
func (t *thrift) binary() []byte {
	from := t.varint()
	b := t.rest
	if t.bytes(from); t.bad {
		return nil
	}
	return b[:from]
}

func (t *thrift) byte() byte {
	if len(t.rest) == 0 {
		t.bad = true
		return 0
	}
	b := t.rest[0]
	t.rest = t.rest[1:]
	return b
}

func (t *thrift) bytes(n uint64) {
	if n > uint64(len(t.rest)) {
		t.bad = true
		return
	}
	t.rest = t.rest[n:]
}

func (t *thrift) varint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := t.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	t.bad = true
	return 0
}

// count is how many elements the list has that is read next.
func (t *thrift) count() int {
	ahead := *t
	n := uint64(ahead.byte() >> 4)
	if n == 15 {
		n = ahead.varint()
	}
	return int(min(n, uint64(len(t.rest))))
}

// int64 reads a number in zigzag form.
func (t *thrift) int64() int64 {
	v := t.varint()
	return int64(v>>1) ^ -int64(v&1)
}

// int32 reads a number in zigzag form.
func (t *thrift) int32() int32 {
	v := t.varint()
	return int32(v>>1) ^ -int32(v&1)
}
