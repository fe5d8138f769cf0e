package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Multipliers that spread the bits of a hash.
const (
	spread1 = 0x9e3779b97f4a7c15
	spread2 = 0xd6e8feb86659fd93
)

// A wordDict numbers the different values of a number column in the order of their sight.
type wordDict struct {
	keys  []uint64 // by code
	slots []uint32 // code + 1; 0 = free
	shift uint
}

func (d *wordDict) reset() {
	d.keys = d.keys[:0]
	clear(d.slots)
}

// guess looks keys up without comparing them: it gives code + 1 of what stands first where a key belongs,
// 0 where nothing does. All the memory is asked for before any of it is needed.
func (d *wordDict) guess(hashes []uint64, to []uint32) {
	if len(d.slots) == 0 {
		d.grow()
	}
	slots, shift := d.slots, d.shift&63
	to = to[:len(hashes)]
	for i, h := range hashes {
		to[i] = slots[h>>shift]
	}
}

// code is the code of a key, which is added where it is new.
func (d *wordDict) code(k uint64) uint32 {
	mask := uint64(len(d.slots) - 1)
	at := k * spread1 >> d.shift
	for d.slots[at] != 0 {
		if d.keys[d.slots[at]-1] == k {
			return d.slots[at] - 1
		}
		at = (at + 1) & mask
	}
	d.keys = append(d.keys, k)
	d.slots[at] = uint32(len(d.keys))
	if 3*len(d.keys) > len(d.slots) {
		d.grow()
	}
	return uint32(len(d.keys) - 1)
}

func (d *wordDict) grow() {
	log := max(bits.Len(uint(len(d.slots))), 10)
	d.slots, d.shift = make([]uint32, 1<<log), uint(64-log)
	mask := uint64(len(d.slots) - 1)
	for code, k := range d.keys {
		at := k * spread1 >> d.shift
		for d.slots[at] != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = uint32(code + 1)
	}
}

// A bytesDict numbers the different byte strings of a column in the order of their sight.
type bytesDict struct {
	data  []byte
	ends  []int32 // by code, in data
	slots []bytesSlot
	mask  uint32
}

type bytesSlot struct {
	hash uint32
	code uint32 // + 1; 0 = free
}

func (d *bytesDict) reset() {
	d.data, d.ends = d.data[:0], d.ends[:0]
	clear(d.slots)
}

func (d *bytesDict) len() int { return len(d.ends) }

// at is the value of a code.
func (d *bytesDict) at(code uint32) []byte {
	from := int32(0)
	if code > 0 {
		from = d.ends[code-1]
	}
	return d.data[from:d.ends[code]]
}

// code is the code of a value; false where it is none of those that are known and the dictionary would
// become larger than most by it. each is what a value takes beside its bytes.
func (d *bytesDict) code(v []byte, each, most int) (uint32, bool) {
	if 2*(d.len()+1) > len(d.slots) {
		d.grow()
	}
	h := hashOf(v)
	at := h & d.mask
	for d.slots[at].code != 0 {
		if s := d.slots[at]; s.hash == h && bytes.Equal(d.at(s.code-1), v) {
			return s.code - 1, true
		}
		at = (at + 1) & d.mask
	}
	if len(d.data)+len(v)+each*(d.len()+1) > most {
		return 0, false
	}
	d.data = append(d.data, v...)
	d.ends = append(d.ends, int32(len(d.data)))
	d.slots[at] = bytesSlot{h, uint32(d.len())}
	return uint32(d.len() - 1), true
}

func (d *bytesDict) grow() {
	old := d.slots
	d.slots = make([]bytesSlot, max(2*len(old), 1<<8))
	d.mask = uint32(len(d.slots) - 1)
	for _, s := range old {
		if s.code == 0 {
			continue
		}
		at := s.hash & d.mask
		for d.slots[at].code != 0 {
			at = (at + 1) & d.mask
		}
		d.slots[at] = s
	}
}

// hashOf mixes eight bytes at a time; the last ones may overlap those before.
func hashOf(v []byte) uint32 {
	h := uint64(len(v)) * spread1
	switch n := len(v); {
	case n >= 8:
		for i := 0; i+8 < n; i += 8 {
			h = mix(h ^ binary.LittleEndian.Uint64(v[i:]))
		}
		h = mix(h ^ binary.LittleEndian.Uint64(v[n-8:]))
	case n >= 4:
		h = mix(h ^ uint64(binary.LittleEndian.Uint32(v)) ^ uint64(binary.LittleEndian.Uint32(v[n-4:]))<<32)
	case n > 0:
		h = mix(h ^ uint64(v[0]) ^ uint64(v[n/2])<<8 ^ uint64(v[n-1])<<16)
	}
	return uint32(h ^ h>>32)
}

func mix(h uint64) uint64 {
	high, low := bits.Mul64(h^spread2, spread1)
	return high ^ low
}
