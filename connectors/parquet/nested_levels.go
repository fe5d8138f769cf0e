package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// openNested opens a data page of a leaf of a nested column: it reads all of its levels, and what is left of the
// page after that are the leaf's slots and which of them are not NULL. What it gives is the values.
func (c *chunk) openNested(h pageHeader, body []byte, keep bool) ([]byte, error) {
	if h.values > maxPageValues {
		return nil, fmt.Errorf("a page has %d values, and more than %d of a nested column cannot be read", h.values, maxPageValues)
	}
	descr := c.doc.meta.Schema.Column(c.leaf)
	mostDef, mostRep := descr.MaxDefinitionLevel(), descr.MaxRepetitionLevel()
	n := int(h.values)
	c.rep, c.def = grownLevels(c.rep, n), grownLevels(c.def, n)
	var data []byte
	var err error
	if h.kind == dataPageV2 {
		before := int(h.repBytes) + int(h.defBytes)
		if before > len(body) || before > int(h.uncompressed) {
			return nil, errHybrid
		}
		if data = body[before:]; !c.isStored(h) {
			data, err = c.room.page(c.codec, data, int(h.uncompressed)-before, keep)
		}
		if err == nil {
			err = packedLevels(body[:h.repBytes], mostRep, c.rep)
		}
		if err == nil {
			err = packedLevels(body[h.repBytes:before], mostDef, c.def)
		}
	} else {
		if data, err = c.room.page(c.codec, body, int(h.uncompressed), keep); err == nil {
			data, err = levelsBefore(data, h.repetitions, mostRep, c.rep)
		}
		if err == nil {
			data, err = levelsBefore(data, h.levels, mostDef, c.def)
		}
	}
	if err != nil {
		return nil, err
	}
	c.slots(mostDef)
	return data, nil
}

// slots finds the leaf's slots among the levels of the page.
func (c *chunk) slots(mostDef int16) {
	levels := c.room.levelsOf(len(c.def))[:0]
	valid := 0
	for _, d := range c.def {
		if d < c.nest.slot {
			continue
		}
		is := int16(0)
		if d == mostDef {
			is = 1
			valid++
		}
		levels = append(levels, is)
	}
	c.left = len(levels)
	if valid < c.left {
		c.levels = levels
	}
}

func grownLevels(s []int16, n int) []int16 {
	if cap(s) < n {
		s = make([]int16, n)
	}
	return s[:n]
}

// levelsBefore reads levels that stand before the values of a page of the first kind, and gives what follows.
func levelsBefore(b []byte, encoding int32, most int16, out []int16) ([]byte, error) {
	if most == 0 {
		clear(out)
		return b, nil
	}
	if encoding == encodingBitPacked {
		width := bits.Len16(uint16(most))
		size := (len(out)*width + 7) / 8
		if len(b) < size {
			return nil, errHybrid
		}
		for i := range out {
			v := int16(0)
			for k := range width {
				at := i*width + k
				v = v<<1 | int16(b[at>>3]>>(7-at&7)&1)
			}
			out[i] = v
		}
		return b[size:], checkLevels(out, most)
	}
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, errHybrid
	}
	end := 4 + int(binary.LittleEndian.Uint32(b))
	return b[end:], packedLevels(b[4:end], most, out)
}

// packedLevels reads levels of at most most.
func packedLevels(b []byte, most int16, out []int16) error {
	if most == 0 || len(out) == 0 {
		clear(out)
		return nil
	}
	h := hybrid{rest: b, width: bits.Len16(uint16(most))}
	if err := fill(&h, out); err != nil {
		return err
	}
	return checkLevels(out, most)
}

func checkLevels(levels []int16, most int16) error {
	for _, l := range levels {
		if l < 0 || l > most {
			return fmt.Errorf("it has a level of %d, and the largest is %d", l, most)
		}
	}
	return nil
}
