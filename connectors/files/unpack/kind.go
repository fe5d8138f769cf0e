package unpack

import (
	"bytes"
	"compress/bzip2"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// Head is how many bytes of a file's beginning [Kind] looks at.
const Head = 10

// Kind tells by its first bytes and its name how a file is compressed as a whole: "gzip",
// "zstd", "bzip2", "xz", "lz4", "legacy lz4", "zip", "snappy", and "" where it is not. A name that the bytes
// contradict is an error: such a file was cut, or is something else.
func Kind(name string, head []byte) (string, error) {
	for _, m := range []struct{ magic, kind string }{
		{"\x1f\x8b", "gzip"},
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"BZh", "bzip2"},
		{"\xfd7zXZ\x00", "xz"},
		{"\x04\x22\x4d\x18", "lz4"},
		{"\x02\x21\x4c\x18", "legacy lz4"},
		{"PK\x03\x04", "zip"},
		{"\xff\x06\x00\x00sNaPpY", "snappy"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) && (m.kind != "bzip2" || bzip2Head(head)) {
			return m.kind, nil
		}
	}
	ext := strings.ToLower(filepath.Ext(name))
	// A zstd or an lz4 file may begin with a frame to be passed over, which is the same in both.
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" {
		if ext == ".lz4" {
			return "lz4", nil
		}
		return "zstd", nil
	}
	named := map[string]string{
		".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bzip2", ".xz": "xz", ".lz4": "lz4",
		".zip": "zip", ".sz": "snappy", ".snappy": "snappy",
	}[ext]
	if named != "" {
		return "", fmt.Errorf("it is named as %s, and does not begin as %s does", named, named)
	}
	return "", nil
}

// bzip2Head reports whether a block follows the three letters, or the end of a stream that has none.
func bzip2Head(head []byte) bool {
	return len(head) >= 10 && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// Reader reads compressed bytes to their end. Several members, frames or streams one after the other are
// read as one; bytes behind the last one that are none are an error, and so are an end in the middle and a
// checksum that is wrong.
func Reader(kind string, r io.Reader) (io.ReadCloser, error) {
	switch kind {
	case "":
		return io.NopCloser(r), nil
	case "gzip":
		return io.NopCloser(gzipMembers(r)), nil
	case "lz4":
		return io.NopCloser(lz4Frames(r)), nil
	case "xz":
		return io.NopCloser(xzStreams(r)), nil
	case "zstd":
		// One goroutine: a reader is one already. Larger windows come from settings made for archives.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, early(err)
		}
		return unpacking{z, func() error { z.Close(); return nil }}, nil
	case "bzip2":
		return unpacking{bzip2.NewReader(r), func() error { return nil }}, nil
	}
	return nil, files.Refused("%s files are not read: expected gzip, zstd, bzip2, lz4, xz or no compression; unpack it first", kind)
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
		err = early(err)
	}
	return n, err
}

// Close frees the decompressor's memory.
func (u unpacking) Close() error { return u.close() }
