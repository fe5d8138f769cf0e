package parquet

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// zstdWindow is how far back zstd looks: about a page.
const zstdWindow = 1 << 20

// A deflater compresses pages. The columns of a file share it, and its memory.
type deflater struct {
	codec compress.Compression
	raw   []byte // a page before it is compressed
	out   []byte
	head  thriftWriter

	zstd *zstd.Encoder
	gzip *gzip.Writer
	lz4  lz4.Compressor
}

// compress gives a page's compressed bytes, which hold until the next call.
func (d *deflater) compress(b []byte) (_ []byte, err error) {
	switch d.codec {
	case compress.Codecs.Uncompressed:
		return b, nil
	case compress.Codecs.Snappy:
		d.out = s2.EncodeSnappy(d.out[:cap(d.out)], b)
	case compress.Codecs.Zstd:
		if d.zstd == nil {
			d.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(zstdWindow))
			if err != nil {
				return nil, fmt.Errorf("compressing a page: %w", err)
			}
		}
		d.out = d.zstd.EncodeAll(b, d.out[:0])
	case compress.Codecs.Gzip:
		err = d.viaGzip(b)
	case lz4Raw:
		d.out = roomFor(d.out[:0], lz4.CompressBlockBound(len(b)))
		var n int
		n, err = d.lz4.CompressBlock(b, d.out[:cap(d.out)])
		d.out = d.out[:n]
	default:
		err = fmt.Errorf("codec %d is none that is written", d.codec)
	}
	if err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	return d.out, nil
}

func (d *deflater) viaGzip(b []byte) error {
	to := bytes.NewBuffer(d.out[:0])
	if d.gzip == nil {
		d.gzip = gzip.NewWriter(to)
	}
	d.gzip.Reset(to)
	if _, err := d.gzip.Write(b); err != nil {
		return err
	}
	err := d.gzip.Close()
	d.out = to.Bytes()
	return err
}

// header encodes a page header. It holds until the next call.
func (d *deflater) header(h pageHeader) []byte {
	w := &d.head
	w.reset()
	w.int32(1, h.kind)
	w.int32(2, h.uncompressed)
	w.int32(3, h.compressed)
	if h.hasCRC {
		w.int32(4, h.crc)
	}
	if h.kind == dictionaryPage {
		w.open(7)
		w.int32(1, h.values)
		w.int32(2, h.encoding)
	} else {
		w.open(5)
		w.int32(1, h.values)
		w.int32(2, h.encoding)
		w.int32(3, encodingRLE) // definition levels
		w.int32(4, encodingRLE) // repetition levels
	}
	w.end()
	w.end()
	return w.b
}

// memory is how many bytes are held.
func (d *deflater) memory() int { return cap(d.raw) + cap(d.out) }
