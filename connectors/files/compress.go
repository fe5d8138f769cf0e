package files

import (
	"bytes"
	"compress/bzip2"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// CompressionHead is how many bytes of a file's beginning [Compression] looks at.
const CompressionHead = 10

// Compression tells by its first bytes and its name how a file is compressed as a whole: "gzip",
// "zstd", "bzip2", "xz", "lz4", "zip", "snappy", and "" where it is not. A name that the bytes
// contradict is an error: such a file was cut, or is something else.
func Compression(name string, head []byte) (string, error) {
	for _, m := range []struct{ magic, kind string }{
		{"\x1f\x8b", "gzip"},
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"BZh", "bzip2"},
		{"\xfd7zXZ\x00", "xz"},
		{"\x04\x22\x4d\x18", "lz4"},
		{"PK\x03\x04", "zip"},
		{"\xff\x06\x00\x00sNaPpY", "snappy"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) && (m.kind != "bzip2" || bzip2Head(head)) {
			return m.kind, nil
		}
	}
	// A zstd file may begin with a frame to be passed over.
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" {
		return "zstd", nil
	}
	named := map[string]string{
		".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bzip2", ".xz": "xz", ".lz4": "lz4",
		".zip": "zip", ".sz": "snappy", ".snappy": "snappy",
	}[strings.ToLower(filepath.Ext(name))]
	if named != "" {
		return "", fmt.Errorf("it is named as %s, and does not begin as %s does", named, named)
	}
	return "", nil
}

// bzip2Head reports whether a block follows the three letters, or the end of a stream that has none.
func bzip2Head(head []byte) bool {
	return len(head) >= 10 && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// Decompress reads compressed bytes to their end. Several gzip members or zstd frames one after the
// other are read as one; bytes behind the last one that are none are an error, and so is an end in
// the middle.
func Decompress(kind string, r io.Reader) (io.ReadCloser, error) {
	switch kind {
	case "":
		return io.NopCloser(r), nil
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, ends(err)
		}
		// Closing says once more what reading said.
		return unpacking{z, func() error { return nil }}, nil
	case "zstd":
		// One goroutine: a reader is one already. Larger windows come from settings made for archives.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, ends(err)
		}
		return unpacking{z, func() error { z.Close(); return nil }}, nil
	case "bzip2":
		return unpacking{bzip2.NewReader(r), func() error { return nil }}, nil
	}
	return nil, &Error{Kind: InvalidOption, Message: kind + " files are not read: expected gzip, zstd, bzip2 or no compression; unpack it first"}
}

// An unpacking gives what comes out of a decompressor.
type unpacking struct {
	io.Reader
	close func() error
}

// Read says of an end in the middle that it is one.
func (u unpacking) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = ends(err)
	}
	return n, err
}

// Close frees the decompressor's memory.
func (u unpacking) Close() error { return u.close() }

// ends makes an early end an error that says so, where the decompressor's own does not.
func ends(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the compressed data end too early: %w", io.ErrUnexpectedEOF)
	}
	return err
}
