package unpack

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
)

// xzDictionary is the largest dictionary of an xz file that is read, in bytes: that of xz -9. It is memory.
const xzDictionary = 64 << 20

const xzMagic = "\xfd7zXZ\x00"

// xzStreams reads streams of xz. The library unpacks LZMA2; streams and blocks are read here, because its own reader
// takes whatever memory a file asks for.
func xzStreams(r io.Reader) io.Reader {
	first := true
	return newMembers(r, func(r *bufio.Reader) (io.Reader, error) {
		if !first {
			if err := xzPadding(r); err != nil {
				return nil, err
			}
		}
		end, err := atEnd(r, "xz stream", xzMagic)
		if end && first {
			err = early(io.EOF)
		}
		if end || err != nil {
			return nil, err
		}
		first = false
		return newXZStream(r)
	})
}

// xzPadding passes over the zeros that may stand behind a stream, four at a time.
func xzPadding(r *bufio.Reader) error {
	for {
		b, err := r.Peek(4)
		switch {
		case len(b) == 4 && string(b) == "\x00\x00\x00\x00":
			if _, err := r.Discard(4); err != nil {
				return err
			}
		case err != nil && !errors.Is(err, io.EOF):
			return err
		default:
			return nil
		}
	}
}

// An xzStream is the stream that is being read.
type xzStream struct {
	r      *counted
	flags  [2]byte
	check  hash.Hash   // nil: none
	blocks uint64      // so far
	sizes  hash.Hash64 // of theirs: the index has them once more
	block  *xzBlock    // nil between two
}

// A counted reader counts.
type counted struct {
	r *bufio.Reader
	n uint64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += uint64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// ends reports whether the file ends here.
func (c *counted) ends() bool {
	b, _ := c.r.Peek(1)
	return len(b) == 0
}

func newXZStream(r *bufio.Reader) (*xzStream, error) {
	s := &xzStream{r: &counted{r: r}, sizes: crc64.New(crc64.MakeTable(crc64.ECMA))}
	var h [12]byte
	if err := whole(s.r, h[:]); err != nil {
		return nil, err
	}
	copy(s.flags[:], h[6:8])
	if crc32.ChecksumIEEE(h[6:8]) != binary.LittleEndian.Uint32(h[8:]) {
		return nil, errors.New("the checksum of an xz stream's header is wrong")
	}
	if h[6] != 0 {
		return nil, errors.New("the xz stream has flags that are not known")
	}
	switch h[7] {
	case 0x0:
	case 0x1:
		s.check = crc32.NewIEEE()
	case 0x4:
		s.check = crc64.New(crc64.MakeTable(crc64.ECMA))
	case 0xa:
		s.check = sha256.New()
	default:
		return nil, fmt.Errorf("the xz stream is checked in the way %d: expected none, CRC32, CRC64 or SHA-256", h[7])
	}
	return s, nil
}

// Read gives what the blocks hold; the end of the stream is io.EOF.
func (s *xzStream) Read(b []byte) (int, error) {
	for {
		if s.block == nil {
			size, err := s.r.ReadByte()
			if err != nil {
				return 0, early(err)
			}
			if size == 0 {
				if err := s.index(); err != nil {
					return 0, err
				}
				return 0, io.EOF
			}
			if s.block, err = newXZBlock(s.r, int(size)); err != nil {
				return 0, err
			}
			if s.check != nil {
				s.check.Reset()
			}
		}
		n, err := s.block.lzma.Read(b)
		s.block.plain += uint64(n)
		if s.check != nil {
			s.check.Write(b[:n])
		}
		switch {
		case errors.Is(err, io.EOF) && s.block.lzma.EOS():
			err = s.endBlock()
		case (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && s.r.ends():
			err = early(err)
		case err != nil:
			err = fmt.Errorf("an xz block is damaged: %w", err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// endBlock reads what stands behind the data of a block.
func (s *xzStream) endBlock() error {
	k := s.block
	s.block = nil
	packed := s.r.n - k.from
	switch {
	case k.wantPacked >= 0 && uint64(k.wantPacked) != packed-k.header:
		return fmt.Errorf("an xz block has %d packed bytes and says that it has %d", packed-k.header, k.wantPacked)
	case k.wantPlain >= 0 && uint64(k.wantPlain) != k.plain:
		return fmt.Errorf("an xz block holds %d bytes and says that it has %d", k.plain, k.wantPlain)
	}
	if err := s.padding(packed); err != nil {
		return err
	}
	if s.check != nil {
		sum := s.check.Sum(nil)
		if s.check.Size() < sha256.Size { // the others stand there the other way round
			for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
				sum[i], sum[j] = sum[j], sum[i]
			}
		}
		var want [sha256.Size]byte
		if err := whole(s.r, want[:len(sum)]); err != nil {
			return err
		}
		if !bytes.Equal(want[:len(sum)], sum) {
			return fmt.Errorf("the checksum of block %d of an xz stream is wrong", s.blocks+1)
		}
		packed += uint64(len(sum))
	}
	s.blocks++
	note(s.sizes, packed, k.plain)
	return nil
}

// padding passes over the zeros that make n bytes a multiple of four.
func (s *xzStream) padding(n uint64) error {
	for ; n%4 != 0; n++ {
		b, err := s.r.ReadByte()
		if err != nil {
			return early(err)
		}
		if b != 0 {
			return errors.New("an xz block or index is not followed by zeros")
		}
	}
	return nil
}

// index compares the index with the blocks that were read, and reads the end of the stream.
func (s *xzStream) index() error {
	from := s.r.n - 1
	sum := crc32.NewIEEE()
	sum.Write([]byte{0})
	in := &summed{s.r, sum}
	blocks, err := vli(in)
	if err != nil {
		return err
	}
	if blocks != s.blocks {
		return fmt.Errorf("the xz stream has %d blocks and says that it has %d", s.blocks, blocks)
	}
	told := crc64.New(crc64.MakeTable(crc64.ECMA))
	for range blocks {
		packed, err := vli(in)
		if err != nil {
			return err
		}
		plain, err := vli(in)
		if err != nil {
			return err
		}
		note(told, packed, plain)
	}
	if told.Sum64() != s.sizes.Sum64() {
		return errors.New("the blocks of an xz stream are not of the sizes that its index has")
	}
	for n := s.r.n - from; n%4 != 0; n++ {
		b, err := in.ReadByte()
		if err != nil {
			return early(err)
		}
		if b != 0 {
			return errors.New("an xz index is not followed by zeros")
		}
	}
	var f [16]byte
	if err := whole(s.r, f[:4]); err != nil {
		return err
	}
	size := s.r.n - from
	if binary.LittleEndian.Uint32(f[:]) != sum.Sum32() {
		return errors.New("the checksum of an xz index is wrong")
	}
	if err := whole(s.r, f[:12]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(f[:]) != crc32.ChecksumIEEE(f[4:10]) || string(f[10:12]) != "YZ" ||
		(uint64(binary.LittleEndian.Uint32(f[4:]))+1)*4 != size || !bytes.Equal(f[8:10], s.flags[:]) {
		return errors.New("the end of an xz stream is damaged")
	}
	return nil
}

// note adds the sizes of a block to a hash.
func note(h hash.Hash, packed, plain uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], packed)
	binary.LittleEndian.PutUint64(b[8:], plain)
	h.Write(b[:])
}

// summed is a reader that sums what is read of it byte by byte.
type summed struct {
	r   *counted
	sum hash.Hash32
}

func (s *summed) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.sum.Write([]byte{b})
	}
	return b, err
}

// vli reads a number of up to 63 bits, seven to a byte.
func vli(r io.ByteReader) (v uint64, err error) {
	for i := range 9 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, early(err)
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if b == 0 && i > 0 {
				break // nobody writes it so
			}
			return v, nil
		}
	}
	return 0, errors.New("a number in the xz data is damaged")
}
