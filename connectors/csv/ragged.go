package csv

import (
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
)

// A fate is what becomes of a record.
type fate uint8

const (
	take   fate = iota
	pass        // a blank line
	reject      // left out, and counted
	refuse      // a fault
)

// judge says what becomes of a whole record of a file whose records have so many fields.
func (b *bound) judge(r record, fields int) fate {
	switch {
	case r.blank && fields > 1:
		return pass
	case len(r.fields) == fields || b.Ragged == "pad":
		return take
	case b.Ragged == "skip" || b.Skip:
		return reject
	}
	return refuse
}

// begin empties the chunk for records that are brought together.
func (c *chunk) begin(fields int) {
	c.fields, c.fault, c.records, c.rejected, c.padded = fields, nil, 0, nil, 0
	c.quoted, c.tail, c.mixed = true, 0, false
	c.alt = append(c.alt[:0], make([]byte, columntext.Front)...)
	c.slow, c.offsets = true, c.offsets[:0]
	c.kept, c.raws = c.kept[:0], c.raws[:0]
	c.grow(fields)
	c.pos[0] = ^uint32(0)
}

// room makes room for so many places, keeping those there are.
func (c *chunk) room(n int) {
	if len(c.pos) < n+block+1 {
		c.pos = append(c.pos, make([]uint32, n+n/2+block+1-len(c.pos))...)
	}
}

// finish makes the records brought together readable.
func (c *chunk) finish() {
	c.alt = append(c.alt, make([]byte, block)...)
	c.buf = c.alt[columntext.Front : len(c.alt)-block]
}

// put appends a record of any dialect to those brought together, in the form the columns read: a
// quoted field in double quotes. An unquoted one that begins with such a quote becomes a quoted one,
// after it was told from NULL.
func (c *chunk) put(d *dialect, r record, raw []byte, offset int64, nulls []string) {
	at := c.records*c.fields + 1
	c.room(at + c.fields)
	for k := range c.fields {
		if k < len(r.fields) {
			f := r.fields[k]
			v := d.text(raw, f)
			switch {
			case !f.quoted && slices.Contains(nulls, string(raw[f.start:f.end])):
				// The empty field means NULL wherever something does.
				if len(raw) > f.start && raw[f.start] != quote {
					c.alt = append(c.alt, raw[f.start:f.end]...)
				}
			case f.quoted || len(v) > 0 && v[0] == quote || f.doubled:
				c.alt = appendQuoted(c.alt, v)
			default:
				c.alt = append(c.alt, v...)
			}
		}
		c.pos[at+k] = uint32(len(c.alt) - columntext.Front)
		if k == c.fields-1 {
			c.alt = append(c.alt, '\n')
		} else {
			c.alt = append(c.alt, ',')
		}
	}
	if len(r.fields) != c.fields {
		c.padded++
	}
	c.offsets = append(c.offsets, offset)
	c.records++
}

// appendQuoted appends a text in quotes.
func appendQuoted(dst, v []byte) []byte {
	dst = append(dst, quote)
	for _, b := range v {
		if b == quote {
			dst = append(dst, quote)
		}
		dst = append(dst, b)
	}
	return append(dst, quote)
}
