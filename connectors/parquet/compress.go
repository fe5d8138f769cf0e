package parquet

import (
	"bytes"
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
	case compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, lz4Raw:
		return true
	}
	return false
}

var errLength = errors.New("a page is longer or shorter than its header says")

// decompress gives a page's size bytes. What it gives is not written to again.
func decompress(codec compress.Compression, b []byte, size int) ([]byte, error) {
	if size == 0 && len(b) == 0 { // values of a page of NULLs, which some writers do not compress
		return nil, nil
	}
	switch codec {
	case lz4Raw:
		out := make([]byte, size)
		n, err := lz4.UncompressBlock(b, out)
		if err != nil {
			return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
		}
		if n != size {
			return nil, errLength
		}
		return out, nil
	case compress.Codecs.Uncompressed:
		if len(b) != size {
			return nil, errLength
		}
		return b, nil
	case compress.Codecs.Snappy:
		n, err := s2.DecodedLen(b)
		if err != nil {
			return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
		}
		if n != size {
			return nil, errLength
		}
		out, err := s2.Decode(make([]byte, size), b)
		if err != nil {
			return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
		}
		return out, nil
	case compress.Codecs.Zstd:
		return viaReader(b, size, func(r io.Reader) (io.ReadCloser, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		})
	}
	c, err := compress.GetCodec(codec)
	if err != nil {
		return nil, err
	}
	return viaReader(b, size, func(r io.Reader) (io.ReadCloser, error) { return c.NewReader(r), nil })
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
