package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/ulikunitz/xz/lzma"
)

// An xzBlock is the block that is being read.
type xzBlock struct {
	lzma                  *lzma.Reader2
	from                  uint64 // where it begins
	header                uint64 // bytes
	wantPacked, wantPlain int64  // -1: not told
	plain                 uint64
}

// newXZBlock reads the header of a block behind its first byte, which says how long it is.
func newXZBlock(r *counted, size int) (*xzBlock, error) {
	k := &xzBlock{from: r.n - 1, header: uint64(size+1) * 4, wantPacked: -1, wantPlain: -1}
	h := make([]byte, k.header)
	h[0] = byte(size)
	if err := whole(r, h[1:]); err != nil {
		return nil, err
	}
	body, sum := h[:len(h)-4], h[len(h)-4:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return nil, errors.New("the checksum of an xz block's header is wrong")
	}
	flags, rest := body[1], bytes.NewReader(body[2:])
	if flags&0x3c != 0 {
		return nil, errors.New("an xz block has flags that are not known")
	}
	for _, told := range []struct {
		flag byte
		to   *int64
	}{{0x40, &k.wantPacked}, {0x80, &k.wantPlain}} {
		if flags&told.flag == 0 {
			continue
		}
		v, err := vli(rest)
		if err != nil {
			return nil, err
		}
		*told.to = int64(v)
	}
	dictionary, err := xzFilter(rest, int(flags&3)+1)
	if err != nil {
		return nil, err
	}
	for rest.Len() > 0 {
		if b, err := rest.ReadByte(); err != nil || b != 0 {
			return nil, errors.New("an xz block's header does not end with zeros")
		}
	}
	if k.wantPlain >= 0 {
		dictionary = min(dictionary, max(k.wantPlain, lzma.MinDictCap))
	}
	if dictionary > xzDictionary {
		return nil, fmt.Errorf("the xz data need a dictionary of %d MiB of memory: expected at most %d MiB, which is what xz -9 makes", dictionary>>20, xzDictionary>>20)
	}
	k.lzma, err = lzma.Reader2Config{DictCap: int(dictionary)}.NewReader2(r)
	return k, err
}

// xzFilter reads the filters of a block and gives the size of the dictionary of the one that is known.
func xzFilter(r *bytes.Reader, filters int) (dictionary int64, err error) {
	names := map[uint64]string{3: "delta", 4: "x86", 5: "PowerPC", 6: "IA-64", 7: "ARM", 8: "ARM-Thumb", 9: "SPARC", 10: "ARM64", 11: "RISC-V"}
	for range filters {
		id, err := vli(r)
		if err != nil {
			return 0, err
		}
		if id != 0x21 || filters > 1 {
			name := names[id]
			if name == "" {
				name = fmt.Sprint("number ", id)
			}
			return 0, fmt.Errorf("the xz data went through the filter %s: expected LZMA2 alone", name)
		}
		size, err := vli(r)
		if err != nil {
			return 0, err
		}
		bits, err := r.ReadByte()
		if err != nil || size != 1 || bits > 40 {
			return 0, errors.New("an xz block's header is damaged")
		}
		if dictionary = int64(2|bits&1) << (bits/2 + 11); bits == 40 {
			dictionary = 1<<32 - 1
		}
	}
	return max(dictionary, lzma.MinDictCap), nil
}
