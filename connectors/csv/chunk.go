package csv

import (
	"math/bits"
	"unsafe"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
)

// A chunk is a run of whole records with the place of every field: field k of record r is
// buf[pos[r*fields+k]+1 : pos[r*fields+k+1]], where buf begins columntext.Front bytes after the start of its
// memory.
type chunk struct {
	buf     []byte
	pos     []uint32
	records int
	fields  int    // per record
	quoted  bool   // some field has quotes
	tail    uint32 // 1 where every record ends with CRLF
	mixed   bool   // some records end with CRLF
	base    int64  // file offset of buf
	end     int64  // file offset after the last record
	slow    bool   // buf holds records brought together, and offsets where each stood in the file
	offsets []int64
	fault   *fault // what stands after the last record

	rejected []*fault // of the records left out
	padded   int64    // records whose fields were made to fit

	keep bool       // keep the texts of the records, for those that are left out
	kept []keptText // by record
	raws []byte

	alt  []byte // memory for records brought together by the slow path
	span []span
}

// offset is the place of a record in the file.
func (c *chunk) offset(r int) int64 {
	if c.slow {
		return c.offsets[r]
	}
	return c.base + int64(c.pos[r*c.fields]+1)
}

// grow makes room for so many places, and for a block more.
func (c *chunk) grow(n int) {
	if len(c.pos) < n+block+1 {
		c.pos = make([]uint32, n+n/4+block+1)
	}
}

// layout is where one column of the records from r on is.
func (c *chunk) layout(r, place int) columntext.Layout {
	l := columntext.Layout{Buf: c.buf, Pos: c.pos, First: r*c.fields + place, Step: c.fields, Quotes: c.quoted}
	if place == c.fields-1 {
		l.Tail, l.CR = c.tail, c.mixed
	}
	return l
}

// flatten turns the masks of buf[:end] into places and reports whether every record has the wanted
// number of fields. end is after a line end.
func (c *chunk) flatten(buf []byte, m *masks, end int) bool {
	c.buf, c.slow, c.fault, c.rejected, c.padded = buf, false, nil, nil, 0
	c.grow(countIn(m.seps, 0, end))
	pos := c.pos
	pos[0] = ^uint32(0) // one before the first byte; every use adds one
	k, lines := 1, 0
	for i := 0; i*block < end; i++ {
		sep, nl := m.seps[i], m.nls[i]
		if rest := end - i*block; rest < block {
			sep &= 1<<rest - 1
			nl &= 1<<rest - 1
		}
		lines += bits.OnesCount64(nl)
		n := bits.OnesCount64(sep)
		at := uint32(i * block)
		// Eight places are written whether they are there or not: no branch depends on how many.
		p := (*[block]uint32)(unsafe.Pointer(&pos[k]))
		for j := range 8 {
			p[j] = at + uint32(bits.TrailingZeros64(sep))
			sep &= sep - 1
		}
		for j := 8; j < n; j++ {
			p[j] = at + uint32(bits.TrailingZeros64(sep))
			sep &= sep - 1
		}
		k += n
	}
	if (k-1)%c.fields != 0 || lines != (k-1)/c.fields {
		return false
	}
	c.records = lines
	return c.regular()
}

// regular checks that every record ends with a line end, and finds out what kind of one.
func (c *chunk) regular() bool {
	base := unsafe.Pointer(unsafe.SliceData(c.buf))
	step, crlf := c.fields, 0
	for r := 1; r <= c.records; r++ {
		p := int(c.pos[r*step])
		if *(*byte)(unsafe.Add(base, p)) != '\n' {
			return false
		}
		if *(*byte)(unsafe.Add(base, p-1)) == '\r' {
			crlf++
		}
	}
	c.tail, c.mixed = 0, crlf != 0
	if crlf == c.records {
		c.tail, c.mixed = 1, false
	}
	return true
}

// gather is the slow path: it scans the records of data byte by byte, as long as they start before
// own, leaves blank lines out and stops at the first fault. data are the window's bytes without a
// line end put behind them.
func (c *chunk) gather(data []byte, base int64, b *bound, own int, eof bool, file int64) {
	c.begin(c.fields)
	d := dialect{Delimiter: string(b.Delimiter), Quote: quote}
	c.room(len(data))
	at := 0
	// Records that are padded take more room than they had: then the rest comes with the next chunk.
	for at < own && at < len(data) && len(c.alt) < 2*len(data)+1<<20 {
		r := scanRecord(data[at:], b.Delimiter, eof, c.span)
		c.span = r.fields
		if r.verdict == cut {
			break
		}
		if r.verdict != whole {
			c.fault = structural(r, data[at:], base+int64(at), file, c.fields)
			break
		}
		raw := data[at : at+r.length]
		fate := b.judge(r, c.fields)
		if fate == refuse {
			c.fault = ragged(r, raw, base+int64(at), file, c.fields)
			break
		}
		switch {
		case fate == reject:
			c.rejected = append(c.rejected, ragged(r, raw, base+int64(at), file, c.fields))
		case fate == take && len(r.fields) == c.fields:
			c.add(r, raw, base+int64(at))
		case fate == take:
			c.put(&d, r, raw, base+int64(at), b.Nulls)
		}
		at += r.length
	}
	c.base, c.end = base, base+int64(at)
	c.finish()
}

// add appends a record to those brought together, with LF as its line end.
func (c *chunk) add(r record, raw []byte, offset int64) {
	start := len(c.alt) - columntext.Front
	c.room((c.records+1)*c.fields + 1)
	for k, f := range r.fields {
		e := f.end
		if f.quoted {
			e++
		}
		c.pos[c.records*c.fields+k+1] = uint32(start + e)
	}
	last := r.fields[len(r.fields)-1]
	end := last.end
	if last.quoted {
		end++
	}
	c.alt = append(append(c.alt, raw[:end]...), '\n')
	c.offsets = append(c.offsets, offset)
	c.records++
}
