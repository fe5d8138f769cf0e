package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/unpack"
)

// StreamRead is how much text a stream reads at once.
const StreamRead = 256 << 10

// A File is a text file to read.
type File struct {
	Path        string // to show
	Abs         string // to open
	Bytes       int64  // as it was bound
	Compression string // "" where it is not compressed
	Encoding    string // of [EncodingName]; "" is UTF-8, or the UTF-16 or UTF-32 that a byte-order mark tells
	CR          bool   // lines end with CR
	FormatError string // class of the fault of a text that is not in its encoding
}

// A Stream reads a text file from its beginning on: unpacked and decoded. Its offsets are those of the
// text, not of the file.
type Stream struct {
	Base int64 // offset of the first byte that was not read yet
	Line int64 // of that byte, from 1
	Away int64 // offset of that byte in the unpacked file, less Base
	EOF  bool  // nothing comes behind Rest

	of     File
	file   files.ReadFile
	packed *counter
	unpack io.Closer
	plain  io.Reader
	buf    []byte
	at, n  int // buf[at:n] was not read yet
}

// A counter counts what is read of a file.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// OpenStream opens a file and passes its byte-order mark over.
func OpenStream(fs files.FS, f File) (*Stream, error) {
	h, err := fs.Open(f.Abs)
	if err != nil {
		return nil, files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	s := &Stream{of: f, file: h, Line: 1}
	s.packed = &counter{r: io.NewSectionReader(h, 0, h.Size())}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// NewStream goes through a piece of a text that is UTF-8 already.
func NewStream(piece []byte, cr bool) *Stream {
	n := int64(len(piece))
	r := bytes.NewReader(piece)
	return &Stream{of: File{Path: "a sample", Bytes: n, CR: cr}, Line: 1, packed: &counter{n: n}, plain: r, unpack: io.NopCloser(r), file: nothing{}}
}

// nothing is the file of a text in memory.
type nothing struct{}

func (nothing) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (nothing) Close() error                      { return nil }
func (nothing) Size() int64                       { return 0 }

func (s *Stream) begin() error {
	if err := Unchanged(s.file, s.of.Path, s.of.Bytes); err != nil {
		return err
	}
	z, err := unpack.Reader(s.of.Compression, s.packed)
	if err != nil {
		return s.Damaged(err)
	}
	s.unpack = z
	if s.plain, err = s.decoded(z); err != nil {
		return err
	}
	if err := s.Fill(3); err != nil {
		return err
	}
	if bytes.HasPrefix(s.Rest(), []byte("\uFEFF")) {
		s.Pass(3)
	}
	return nil
}

// decoded is the text as UTF-8. A byte-order mark says which UTF-16 or UTF-32 a text is.
func (s *Stream) decoded(r io.Reader) (io.Reader, error) {
	asked := s.of.Encoding
	if asked != "" && asked != utf16Mark && asked != utf32Mark {
		return decode(asked, r)
	}
	b := bufio.NewReaderSize(r, 4096)
	mark, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.Damaged(err)
	}
	marked := Marked(mark)
	if asked == utf16Mark && strings.HasPrefix(marked, utf32Mark) {
		marked = Marked(mark[:2]) // the plan knows better: the text begins with U+0000
	}
	if asked != "" && !strings.HasPrefix(marked, asked) && len(mark) > 0 {
		return nil, &connectors.DataError{
			Kind: s.of.FormatError, File: s.of.Path, Line: 1, Wanted: asked + "le or " + asked + "be",
			Message: fmt.Sprintf("encoding: %s: the file has no byte-order mark of it, which says what comes first: expected %sle or %sbe", asked, asked, asked),
		}
	}
	s.of.Encoding = marked
	return decode(s.of.Encoding, b)
}

// Close closes the file.
func (s *Stream) Close() error {
	var err error
	if s.unpack != nil {
		err = s.unpack.Close()
	}
	return errors.Join(err, s.file.Close())
}

// Damaged names the file whose compressed or encoded bytes are wrong.
func (s *Stream) Damaged(err error) error {
	var known *files.Error
	if errors.As(err, &known) {
		known.Path = s.of.Path
		return err
	}
	var u *undecodable
	if errors.As(err, &u) {
		return &connectors.DataError{
			Kind: s.of.FormatError, File: s.of.Path, Line: s.Line + s.Lines(s.Rest()), Wanted: u.wanted,
			Message: "the text cannot be decoded: " + u.message,
		}
	}
	if s.of.Compression == "" {
		return files.ReadFailure(err, s.of.Path, "cannot read "+s.of.Path)
	}
	return &connectors.DataError{
		Kind: "DamagedFile", File: s.of.Path, Wanted: "whole " + s.of.Compression + " data and nothing behind them", Cause: err,
		Message: fmt.Sprintf("the %s data are damaged, near byte %d of %d: %v", s.of.Compression, s.packed.n, s.of.Bytes, err),
	}
}

// Lines counts the line ends in b.
func (s *Stream) Lines(b []byte) int64 {
	if s.of.CR {
		return int64(bytes.Count(b, []byte{'\r'}))
	}
	return int64(bytes.Count(b, []byte{'\n'}))
}

// Rest is what is in memory and was not read yet.
func (s *Stream) Rest() []byte { return s.buf[s.at:s.n] }

// Pass moves on over n bytes.
func (s *Stream) Pass(n int) {
	s.Line += s.Lines(s.buf[s.at : s.at+n])
	s.Away += s.Wider(s.buf[s.at : s.at+n])
	s.at += n
	s.Base += int64(n)
}

// Fill makes Rest at least want bytes long, or all that is left.
func (s *Stream) Fill(want int) error {
	for !s.EOF && s.n-s.at < want {
		if s.at > 0 {
			s.n = copy(s.buf, s.buf[s.at:s.n])
			s.at = 0
		}
		if room := max(want, StreamRead); len(s.buf) < room+StreamRead {
			s.buf = append(s.buf, make([]byte, room+StreamRead-len(s.buf))...)
		}
		n, err := s.plain.Read(s.buf[s.n:])
		s.n += n
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			s.EOF = true
			if s.packed.n != s.of.Bytes {
				return s.Damaged(fmt.Errorf("%d bytes of the file are left over", s.of.Bytes-s.packed.n))
			}
		case err != nil:
			return s.Damaged(err)
		}
	}
	return nil
}

// SkipTo passes over text up to an offset.
func (s *Stream) SkipTo(to int64) error {
	for s.Base < to {
		if err := s.Fill(1); err != nil {
			return err
		}
		if s.at == s.n {
			return s.Damaged(fmt.Errorf("the text ends at byte %d and had more before", s.Base))
		}
		s.Pass(int(min(int64(s.n-s.at), to-s.Base)))
	}
	return nil
}

// SkipToByte passes over text up to an offset of the unpacked file, or to the first place behind it.
func (s *Stream) SkipToByte(to int64) error {
	for s.Base+s.Away < to {
		if err := s.Fill(utf8.UTFMax); err != nil {
			return err
		}
		if s.at == s.n {
			return s.Damaged(fmt.Errorf("the file ends at byte %d and had more before", s.Base+s.Away))
		}
		// A byte of the text stands for at most four of the file, so that a quarter of the way is never too far.
		b := s.Rest()
		n := int(min(int64(len(b)), (to-s.Base-s.Away)/4))
		if s.of.Encoding == "" {
			n = int(min(int64(len(b)), to-s.Base))
		}
		for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) && s.of.Encoding != "" {
			n--
		}
		if n == 0 {
			_, n = utf8.DecodeRune(b)
		}
		s.Pass(n)
	}
	return nil
}

// Drain reads the rest of compressed data, which are damaged or not by what stands at their end.
func (s *Stream) Drain() error {
	for s.of.Compression != "" && !s.EOF {
		s.Pass(s.n - s.at)
		if err := s.Fill(1); err != nil {
			return err
		}
	}
	return nil
}
