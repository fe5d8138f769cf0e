package text

import (
	"bytes"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// Wider is by how much b is longer in the file than in UTF-8.
func (s *Stream) Wider(b []byte) int64 {
	switch s.of.Encoding {
	case "":
		return 0
	case utf16LE, utf16BE, utf16Mark:
		n := int64(0)
		for len(b) > 0 {
			_, size := utf8.DecodeRune(b)
			n += []int64{1, 0, -1, 0}[size-1] // 2 bytes for those of 1 to 3, 4 for those of 4
			b = b[size:]
		}
		return n
	case utf32LE, utf32BE, utf32Mark:
		return int64(4*utf8.RuneCount(b) - len(b))
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return s.encoded(b) - int64(len(b))
		}
	}
	return 0
}

// encoded is how long b is in an encoding that has a table.
func (s *Stream) encoded(b []byte) int64 {
	e, err := table(s.of.Encoding)
	if err != nil {
		return int64(len(b))
	}
	out, err := e.NewEncoder().Bytes(b)
	if err != nil {
		return int64(len(b))
	}
	return int64(len(out))
}

// A LineCounter counts the lines of files on from where it was asked before, for places that are asked for
// in file order.
type LineCounter struct {
	path string
	pos  int64
	line int64 // of pos, from 1
}

// At is the line that an offset of a file is in, from 1. The file was size bytes long when it was bound.
func (l *LineCounter) At(f files.ReadFile, path string, size, offset int64) (int64, error) {
	if l.path != path || l.line == 0 || offset < l.pos {
		*l = LineCounter{path: path, line: 1}
	}
	buf := make([]byte, min(256<<10, offset-l.pos))
	for l.pos < offset {
		n := min(int64(len(buf)), offset-l.pos)
		if err := ReadFull(f, path, size, buf[:n], l.pos); err != nil {
			return 0, err
		}
		l.line += int64(bytes.Count(buf[:n], []byte{'\n'}))
		l.pos += n
	}
	return l.line, nil
}

// WithoutEnd is a record without its line end.
func WithoutEnd(raw []byte) []byte {
	switch {
	case bytes.HasSuffix(raw, []byte("\r\n")):
		return raw[:len(raw)-2]
	case bytes.HasSuffix(raw, []byte("\n")) || bytes.HasSuffix(raw, []byte("\r")):
		return raw[:len(raw)-1]
	}
	return raw
}

// Plain is b as text, with U+FFFD for each byte that is no UTF-8: one for one, so that it can be laid over
// the bytes again.
func Plain(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
