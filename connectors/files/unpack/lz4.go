package unpack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// lz4Magic begins a frame; sixteen others begin one that is passed over.
const lz4Magic = "\x04\x22\x4d\x18"

// lz4Window is how far back a block may refer into the ones before it.
const lz4Window = 64 << 10

// lz4Frames reads frames of LZ4. The library unpacks the blocks; the frames are read here, because its own reader takes
// a file that was cut between two blocks for a whole one, and does not look at the size of the content.
func lz4Frames(r io.Reader) io.Reader {
	f := &lz4Frame{}
	first := true
	return newMembers(r, func(r *bufio.Reader) (io.Reader, error) {
		for {
			magics := []string{lz4Magic}
			for k := byte(0x50); k <= 0x5f; k++ {
				magics = append(magics, string([]byte{k, 0x2a, 0x4d, 0x18}))
			}
			end, err := atEnd(r, "lz4 frame", magics...)
			if end && first {
				err = early(io.EOF)
			}
			if end || err != nil {
				return nil, err
			}
			first = false
			var b [8]byte
			if err := whole(r, b[:4]); err != nil {
				return nil, err
			}
			if string(b[:4]) == lz4Magic {
				return f, f.begin(r)
			}
			if err := whole(r, b[:4]); err != nil {
				return nil, err
			}
			if _, err := io.CopyN(io.Discard, r, int64(binary.LittleEndian.Uint32(b[:4]))); err != nil {
				return nil, early(err)
			}
		}
	})
}

// An lz4Frame is the frame that is being read.
type lz4Frame struct {
	r                       io.Reader
	linked, blockSums, sums bool
	size                    int64 // of its content; -1: not told
	largest                 int   // block, unpacked
	read                    int64
	hash                    xxh32

	packed []byte
	plain  []byte // the window, and the block behind it
	from   int    // plain[from:] was not given out
}

// begin reads a frame's header behind its magic bytes.
func (f *lz4Frame) begin(r io.Reader) error {
	var h [15]byte
	if err := whole(r, h[:2]); err != nil {
		return err
	}
	flags, n := h[0], 2
	f.r, f.linked, f.blockSums, f.sums = r, flags&0x20 == 0, flags&0x10 != 0, flags&0x04 != 0
	f.size, f.read, f.from, f.plain = -1, 0, 0, f.plain[:0]
	f.hash.reset()
	switch {
	case flags>>6 != 1:
		return fmt.Errorf("the lz4 frame is of version %d: expected 1", flags>>6)
	case flags&0x02 != 0 || h[1]&0x8f != 0 || h[1]>>4 < 4:
		return errors.New("the header of an lz4 frame is damaged")
	}
	f.largest = 1 << (8 + 2*(h[1]>>4))
	if flags&0x08 != 0 {
		if err := whole(r, h[n:n+8]); err != nil {
			return err
		}
		f.size = int64(binary.LittleEndian.Uint64(h[n:]))
		n += 8
	}
	if flags&0x01 != 0 {
		if err := whole(r, h[n:n+4]); err != nil {
			return err
		}
		return fmt.Errorf("the lz4 frame needs the dictionary %d, which is not in the file: expected one without", binary.LittleEndian.Uint32(h[n:]))
	}
	sum := byte(xxh32Of(h[:n]) >> 8)
	if err := whole(r, h[n:n+1]); err != nil {
		return err
	}
	if h[n] != sum {
		return errors.New("the checksum of an lz4 frame's header is wrong")
	}
	return nil
}

// Read gives what the blocks hold; the end of the frame is io.EOF.
func (f *lz4Frame) Read(b []byte) (int, error) {
	for f.from == len(f.plain) {
		if err := f.block(); err != nil {
			return 0, err
		}
	}
	n := copy(b, f.plain[f.from:])
	f.from += n
	return n, nil
}

// block reads the next block, or the end of the frame.
func (f *lz4Frame) block() error {
	var h [4]byte
	if err := whole(f.r, h[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(h[:])
	if n == 0 {
		return f.end()
	}
	stored := n>>31 != 0
	if n &= 1<<31 - 1; n > uint32(f.largest) {
		return fmt.Errorf("an lz4 block has %d bytes: expected at most %d", n, f.largest)
	}
	if cap(f.packed) < int(n) {
		f.packed = make([]byte, f.largest)
	}
	packed := f.packed[:n]
	if err := whole(f.r, packed); err != nil {
		return err
	}
	if f.blockSums {
		if err := f.check(xxh32Of(packed), "block"); err != nil {
			return err
		}
	}
	return f.unpack(packed, stored)
}

// unpack unpacks a block behind the window that it may refer into.
func (f *lz4Frame) unpack(packed []byte, stored bool) error {
	window := 0
	if f.linked {
		window = min(len(f.plain), lz4Window)
		copy(f.plain, f.plain[len(f.plain)-window:])
	}
	if cap(f.plain) < lz4Window+f.largest {
		f.plain = append(make([]byte, 0, lz4Window+f.largest), f.plain[:window]...)
	}
	f.plain, f.from = f.plain[:window+f.largest], window
	n := 0
	if stored {
		n = copy(f.plain[window:], packed)
	} else {
		var err error
		if n, err = lz4.UncompressBlockWithDict(packed, f.plain[window:], f.plain[:window]); err != nil {
			return fmt.Errorf("an lz4 block is damaged: %w", err)
		}
	}
	f.plain = f.plain[:window+n]
	if f.read += int64(n); f.sums {
		f.hash.write(f.plain[window:])
	}
	return nil
}

// end reads what stands behind the last block.
func (f *lz4Frame) end() error {
	if f.sums {
		if err := f.check(f.hash.sum(), "frame"); err != nil {
			return err
		}
	}
	if f.size >= 0 && f.read != f.size {
		return fmt.Errorf("an lz4 frame holds %d bytes and says that it has %d", f.read, f.size)
	}
	return io.EOF
}

// check compares a checksum with the one that follows.
func (f *lz4Frame) check(sum uint32, of string) error {
	var b [4]byte
	if err := whole(f.r, b[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b[:]) != sum {
		return fmt.Errorf("the checksum of an lz4 %s is wrong", of)
	}
	return nil
}
