package failure

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxLineBytes bounds one line of the input; what goes beyond is dropped. A message of a megabyte
// says nothing that its first half did not.
const maxLineBytes = 1 << 20

// ErrNotText is returned for an input that is no text.
var ErrNotText = errors.New("the input is not a text: it holds NUL bytes")

// lines reads an input line by line with bounded memory.
type lines struct {
	r    *bufio.Reader
	long []byte // a line longer than the reader's buffer
}

func newLines(r io.Reader) (*lines, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err = b.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		// What PowerShell writes when an output is redirected.
		big := head[0] == 0xfe
		if _, err = b.Discard(2); err == nil {
			b = bufio.NewReaderSize(&utf16Reader{r: b, big: big}, 64<<10)
		}
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return unpacked(b)
	case bytes.IndexByte(bytes.TrimLeft(head, "\x00"), 0) >= 0:
		// NUL bytes at the start alone are what rotating a log in use leaves.
		return nil, ErrNotText
	default:
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return &lines{r: b}, nil
}

// unpacked reads a log that was compressed with gzip, as old logs are.
func unpacked(r io.Reader) (*lines, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("the input begins as gzip does: %w", err)
	}
	return &lines{r: bufio.NewReaderSize(z, 64<<10)}, nil
}

// next returns the next line without its line end; it is valid until the next call. The error is
// io.EOF after the last line.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			if len(l.long) < maxLineBytes {
				l.long = append(l.long, line...)
			}
		}
		line = l.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(line) == 0 && err != nil {
		return nil, io.EOF
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, nil
}

// utf16Reader turns UTF-16 into UTF-8.
type utf16Reader struct {
	r    *bufio.Reader
	big  bool
	left []byte
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.left) == 0 {
		c, err := u.unit()
		if err != nil {
			return 0, err
		}
		if c >= 0xd800 && c < 0xdc00 {
			low, err := u.unit()
			if err != nil {
				return 0, err
			}
			c = (c-0xd800)<<10 + (low - 0xdc00) + 0x10000
		}
		u.left = utf8.AppendRune(u.left[:0], c)
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

func (u *utf16Reader) unit() (rune, error) {
	var pair [2]byte
	if _, err := io.ReadFull(u.r, pair[:]); err != nil {
		return 0, io.EOF
	}
	if u.big {
		return rune(pair[0])<<8 | rune(pair[1]), nil
	}
	return rune(pair[1])<<8 | rune(pair[0]), nil
}

// withoutColours removes ANSI escape sequences. Most lines have none and are returned as they are.
func withoutColours(line, buf []byte) []byte {
	esc := bytes.IndexByte(line, 0x1b)
	if esc < 0 {
		return line
	}
	out := buf[:0]
	for esc >= 0 {
		out = append(out, line[:esc]...)
		line = line[esc+1:]
		if len(line) > 0 && line[0] == '[' {
			end := 1
			for end < len(line) && (line[end] < 0x40 || line[end] > 0x7e) {
				end++
			}
			line = line[min(end+1, len(line)):]
		}
		esc = bytes.IndexByte(line, 0x1b)
	}
	return append(out, line...)
}
