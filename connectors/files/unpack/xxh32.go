package unpack

import (
	"encoding/binary"
	"math/bits"
)

// An xxh32 is the hash XXH32 with the seed 0, which LZ4 frames are checked with.
type xxh32 struct {
	lanes [4]uint32
	tail  [16]byte
	n     uint64
}

const (
	xxPrime1 = 2654435761
	xxPrime2 = 2246822519
	xxPrime3 = 3266489917
	xxPrime4 = 668265263
	xxPrime5 = 374761393
)

func (h *xxh32) reset() {
	one, two := uint32(xxPrime1), uint32(xxPrime2)
	*h = xxh32{lanes: [4]uint32{one + two, two, 0, -one}}
}

func (h *xxh32) write(b []byte) {
	have := int(h.n % 16)
	h.n += uint64(len(b))
	if have > 0 {
		n := copy(h.tail[have:], b)
		if b = b[n:]; have+n < 16 {
			return
		}
		h.stripe(h.tail[:])
	}
	for ; len(b) >= 16; b = b[16:] {
		h.stripe(b)
	}
	copy(h.tail[:], b)
}

func (h *xxh32) stripe(b []byte) {
	for i := range h.lanes {
		h.lanes[i] = bits.RotateLeft32(h.lanes[i]+binary.LittleEndian.Uint32(b[4*i:])*xxPrime2, 13) * xxPrime1
	}
}

func (h *xxh32) sum() uint32 {
	v := uint32(xxPrime5)
	if h.n >= 16 {
		v = 0
		for i, by := range []int{1, 7, 12, 18} {
			v += bits.RotateLeft32(h.lanes[i], by)
		}
	}
	v += uint32(h.n)
	b := h.tail[:h.n%16]
	for ; len(b) >= 4; b = b[4:] {
		v = bits.RotateLeft32(v+binary.LittleEndian.Uint32(b)*xxPrime3, 17) * xxPrime4
	}
	for _, c := range b {
		v = bits.RotateLeft32(v+uint32(c)*xxPrime5, 11) * xxPrime1
	}
	v = (v ^ v>>15) * xxPrime2
	v = (v ^ v>>13) * xxPrime3
	return v ^ v>>16
}

func xxh32Of(b []byte) uint32 {
	var h xxh32
	h.reset()
	h.write(b)
	return h.sum()
}
