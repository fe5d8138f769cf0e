package json

import (
	"bytes"
	"unicode/utf8"
	"unsafe"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// maxRows is the most rows of a batch.
const maxRows = 64 << 10

// A chunk is a run of records whose values were found.
type chunk struct {
	scanner
	base    int64 // file offset of the bytes
	end     int64 // file offset behind what was read
	starts  []uint32
	pieces  []piece      // of an array, that the lines are copies of; nil: they are the file's
	stream  *text.Stream // that the lines are of; nil: the file is read at offsets
	line    int64        // of the stream's first line
	away    int64        // by how much its place in the file is further on than base
	records int
	from    int // the row that layouts begin with
	used    []int
	place   []int    // of a column's spans, per column of the schema; -1: none
	fault   *fault   // what stands behind the last record
	bad     []*fault // the records that were left out
	firm    bool     // the records are an array's: behind a record whose syntax is wrong nobody knows where the next one begins
	alt     []byte   // memory for records of a text that is read in order
}

// offset is the place of a record in the file.
func (k *chunk) offset(r int) int64 {
	return k.offsetAt(int(k.starts[r]))
}

// offsetAt is the place in the file of a place in the bytes.
func (k *chunk) offsetAt(at int) int64 {
	if k.pieces != nil {
		p := k.pieceAt(at)
		return p.from + int64(at-p.at)
	}
	return k.base + int64(at)
}

// begin empties the chunk and turns it to the n bytes in mem.
func (k *chunk) begin(mem *[]byte, n int, base int64) {
	k.over(mem, n)
	k.base, k.end, k.records, k.fault, k.bad = base, base, 0, nil, nil
	k.starts, k.firm, k.pieces, k.stream = k.starts[:0], false, nil, nil
}

// cut scans the lines of the first bytes up to limit, behind which a line feed stands, as long as they
// begin before own. It stops at the first fault, where bad records may not be left out. The result is the
// place behind the last line.
func (k *chunk) cut(own, limit int, file int64, skip bool) int {
	clean := ascii(k.bytes(0, limit)) || utf8.Valid(k.bytes(0, limit))
	at := 0
	for at < own && at < limit && k.records < maxRows {
		i := k.blanks(at)
		if k.byte(i) == '\n' {
			at = i + 1
			continue
		}
		end, f := k.one(i, limit, clean)
		if f != nil {
			f.file, f.at, f.record = file, at, k.offsetAt(at)
			if !skip || k.firm && f.syntax {
				k.fault = f
				break
			}
			k.bad = append(k.bad, f)
			k.undo()
			end = i + bytes.IndexByte(k.bytes(i, limit+1), '\n')
		} else {
			k.starts = append(k.starts, uint32(at))
			k.records++
			k.row++
		}
		at = end + 1
	}
	k.end = k.base + int64(at)
	return at
}

// one scans the record at i and gives its end, or what is wrong with it; the fault's spot is a place in
// the bytes.
func (k *chunk) one(i, limit int, clean bool) (end int, f *fault) {
	k.begins()
	if k.byte(i) != '{' {
		if end = k.skip(i, 0); end >= 0 {
			if end = k.blanks(end); k.byte(end) != '\n' {
				end = k.fail(end, "the end of the line after the value")
			}
		}
		if end >= 0 {
			f = notObject(k.bytes(i, end), i, k.firm)
		}
	} else {
		end = k.record(i)
	}
	if k.double != nil {
		f = k.doubled()
	}
	if end < 0 {
		f = k.broken(i, limit, k.firm)
	}
	if clean {
		return end, f
	}
	line := i + bytes.IndexByte(k.bytes(i, limit+1), '\n')
	if bad := invalid(k.bytes(i, line)); bad >= 0 && (f == nil || i+bad <= f.spot) {
		f = notText(k.byte(i+bad), i+bad)
	}
	return end, f
}

// undo takes back what was noted of a record that is left out.
func (k *chunk) undo() {
	for i, l := range k.slips {
		for len(l) > 0 && l[len(l)-1].row == int32(k.row) {
			l = l[:len(l)-1]
		}
		k.slips[i] = l
	}
}

// Layout says where a column's values are.
func (k *chunk) Layout(col int) columntext.Layout {
	return columntext.Layout{
		Buf: (*k.store.mem)[columntext.Front:], Pos: k.spans, First: (k.from*k.width + k.place[col]) * 2, Step: k.width * 2, Quotes: true, Bare: true,
	}
}

// Unfit finds the first row of sel whose value is none that the column takes.
func (k *chunk) Unfit(col int, sel []int32) int {
	l := k.slips[k.place[col]]
	if len(l) == 0 {
		return len(sel)
	}
	for n, row := range sel {
		if k.slipOf(col, row) != nil {
			return n
		}
	}
	return len(sel)
}

// slipOf is what is wrong with a column's value in a row, nil where nothing is.
func (k *chunk) slipOf(col int, row int32) *slip {
	l := k.slips[k.place[col]]
	row += int32(k.from)
	lo, hi := 0, len(l)
	for lo < hi {
		if m := (lo + hi) / 2; l[m].row < row {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(l) && l[lo].row == row {
		return &l[lo]
	}
	return nil
}

// invalid is the place of the first byte that is not UTF-8, -1 where there is none.
func invalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// ascii reports whether no byte has its highest bit.
func ascii(b []byte) bool {
	var m uint64
	for len(b) >= 64 {
		w := (*[8]uint64)(unsafe.Pointer(unsafe.SliceData(b)))
		m |= w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]
		b = b[64:]
	}
	for _, c := range b {
		m |= uint64(c)
	}
	return m&highs == 0
}
