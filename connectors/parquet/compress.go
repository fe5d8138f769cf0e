package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// lz4Raw is the number of LZ4 blocks without a frame, which the library has no name for.
const lz4Raw = compress.Compression(7)

func canDecompress(c compress.Compression) bool {
	switch c {
	case compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4, lz4Raw:
		return true
	}
	return false
}

var errLength = errors.New("a page is longer or shorter than its header says")

// An inflater decompresses pages.
type inflater struct{ zstd *zstd.Decoder }

// decompress gives a page's size bytes: those of out, or of b itself where it is not compressed.
func (i *inflater) decompress(codec compress.Compression, b, out []byte, size int) ([]byte, error) {
	if size == 0 && len(b) == 0 { // values of a page of NULLs, which some writers do not compress
		return nil, nil
	}
	var n int
	var err error
	switch codec {
	case compress.Codecs.Uncompressed:
		out, n = b, len(b)
	case lz4Raw:
		n, err = lz4.UncompressBlock(b, out)
	case compress.Codecs.Lz4:
		n, err = lz4Hadoop(b, out)
	case compress.Codecs.Snappy:
		if n, err = s2.DecodedLen(b); err == nil && n == size {
			_, err = s2.Decode(out, b)
		}
	case compress.Codecs.Zstd:
		n, err = i.zstandard(b, out)
	default:
		return viaLibrary(codec, b, size)
	}
	if err != nil {
		return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
	}
	if n != size {
		return nil, errLength
	}
	return out, nil
}

// lz4Hadoop decompresses the older LZ4, which the format left open: Hadoop puts before each block how
// many bytes it becomes and how many it has, big-endian, and goes on with further blocks where that is not all
// of them; other writers give a single block.
func lz4Hadoop(b, out []byte) (int, error) {
	done, rest := 0, b
	for len(rest) >= 8 {
		size, packed := uint64(binary.BigEndian.Uint32(rest)), uint64(binary.BigEndian.Uint32(rest[4:]))
		rest = rest[8:]
		if size > uint64(len(out)-done) || packed > uint64(len(rest)) {
			return lz4.UncompressBlock(b, out)
		}
		end := done + int(size)
		n, err := lz4.UncompressBlock(rest[:packed], out[done:end])
		done, rest = done+n, rest[packed:]
		for err == nil && done < end && len(rest) >= 4 { // more blocks of the same bytes
			packed = uint64(binary.BigEndian.Uint32(rest))
			if rest = rest[4:]; packed > uint64(len(rest)) {
				break
			}
			if n, err = lz4.UncompressBlock(rest[:packed], out[done:end]); n == 0 {
				break
			}
			done, rest = done+n, rest[packed:]
		}
		if err != nil || done != end {
			return lz4.UncompressBlock(b, out)
		}
	}
	if len(rest) > 0 {
		return lz4.UncompressBlock(b, out)
	}
	return done, nil
}

// zstandard fills out and says how many bytes there were; of too many it knows only that.
func (i *inflater) zstandard(b, out []byte) (int, error) {
	if i.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, err
		}
		i.zstd = d
	}
	got, err := i.zstd.DecodeAll(b, out[:0:len(out)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return len(out) + 1, nil
	}
	return len(got), err
}

// viaLibrary decompresses with the codecs that the Parquet library brings.
func viaLibrary(codec compress.Compression, b []byte, size int) ([]byte, error) {
	c, err := compress.GetCodec(codec)
	if err != nil {
		return nil, err
	}
	return viaReader(b, size, func(r io.Reader) (_ io.ReadCloser, err error) {
		defer func() { // where the bytes do not begin as they should
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		return c.NewReader(r), nil
	})
}

// viaReader takes no more bytes than there should be, whatever the data says.
func viaReader(b []byte, size int, open func(io.Reader) (io.ReadCloser, error)) (_ []byte, err error) {
	r, err := open(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
	}
	defer r.Close()
	out := make([]byte, size)
	n, err := io.ReadFull(r, out)
	if err == nil {
		_, err = io.ReadFull(r, make([]byte, 1))
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil {
			return nil, errLength
		}
	}
	if n < size && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil, errLength
	}
	return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
}
