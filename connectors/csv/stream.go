package csv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// streamRead is how much text a stream reads at once, and about how much goes into a chunk.
const streamRead = 256 << 10

// A stream reads the records of a file from its beginning on: unpacked, decoded and in any dialect.
// It is the complete path beside the fast one; both read a plain file the same. Its offsets are those
// of the text, not of the file.
type stream struct {
	dialect
	in     *input
	file   files.ReadFile
	packed *counter
	unpack io.Closer
	plain  io.Reader

	buf    []byte
	at, n  int   // buf[at:n] was not read yet
	base   int64 // offset of buf[at] in the text
	line   int64 // of buf[at], from 1
	eof    bool
	fields []span
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

// openStream opens a file and passes its byte-order mark over.
func openStream(fs files.FS, in *input, d dialect) (*stream, error) {
	h, err := fs.Open(in.Abs)
	if err != nil {
		return nil, files.ReadFailure(err, in.Path, "cannot open "+in.Path)
	}
	s := &stream{dialect: d, in: in, file: h, line: 1}
	s.packed = &counter{r: io.NewSectionReader(h, 0, h.Size())}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stream) begin() error {
	if s.file.Size() != s.in.Bytes {
		return &connectors.DataError{
			Kind: "DamagedFile", File: s.in.Path, Wanted: fmt.Sprintf("%d bytes", s.in.Bytes),
			Message: fmt.Sprintf("the file has %d bytes now and had %d when the job began: it was changed meanwhile", s.file.Size(), s.in.Bytes),
		}
	}
	z, err := files.Decompress(s.in.Compression, s.packed)
	if err != nil {
		return s.damaged(err)
	}
	s.unpack = z
	if s.plain, err = s.decoded(z); err != nil {
		return err
	}
	if err := s.fill(3); err != nil {
		return err
	}
	if bytes.HasPrefix(s.buf[s.at:s.n], []byte("\uFEFF")) {
		s.pass(3)
	}
	return nil
}

// decoded is the text as UTF-8. A byte-order mark says which UTF-16 a text is.
func (s *stream) decoded(r io.Reader) (io.Reader, error) {
	if s.Encoding != "" && s.Encoding != utf16Mark {
		return decode(s.Encoding, r)
	}
	b := bufio.NewReaderSize(r, 4096)
	mark, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.damaged(err)
	}
	switch string(mark) {
	case "\xFF\xFE":
		s.Encoding = utf16LE
	case "\xFE\xFF":
		s.Encoding = utf16BE
	default:
		if s.Encoding == utf16Mark && len(mark) > 0 {
			return nil, &connectors.DataError{
				Kind: "CsvFormatError", File: s.in.Path, Line: 1, Wanted: "utf-16le or utf-16be",
				Message: "encoding: utf-16: the file has no byte-order mark, which says what comes first: expected utf-16le or utf-16be",
			}
		}
	}
	return decode(s.Encoding, b)
}

func (s *stream) close() error {
	var err error
	if s.unpack != nil {
		err = s.unpack.Close()
	}
	return errors.Join(err, s.file.Close())
}

// damaged names the file whose compressed or encoded bytes are wrong.
func (s *stream) damaged(err error) error {
	var known *files.Error
	if errors.As(err, &known) {
		known.Path = s.in.Path
		return err
	}
	var u *undecodable
	if errors.As(err, &u) {
		return &connectors.DataError{
			Kind: "CsvFormatError", File: s.in.Path, Line: s.line + s.lines(s.buf[s.at:s.n]), Wanted: u.wanted,
			Message: "the text cannot be decoded: " + u.message,
		}
	}
	if s.in.Compression == "" {
		return files.ReadFailure(err, s.in.Path, "cannot read "+s.in.Path)
	}
	return &connectors.DataError{
		Kind: "DamagedFile", File: s.in.Path, Wanted: "whole " + s.in.Compression + " data and nothing behind them", Cause: err,
		Message: fmt.Sprintf("the %s data are damaged, near byte %d of %d: %v", s.in.Compression, s.packed.n, s.in.Bytes, err),
	}
}

// pass moves on over n bytes.
func (s *stream) pass(n int) {
	s.line += s.lines(s.buf[s.at : s.at+n])
	s.at += n
	s.base += int64(n)
}

// fill makes buf[at:n] at least want bytes long, or all that is left.
func (s *stream) fill(want int) error {
	for !s.eof && s.n-s.at < want {
		if s.at > 0 {
			s.n = copy(s.buf, s.buf[s.at:s.n])
			s.at = 0
		}
		if room := max(want, streamRead); len(s.buf) < room+streamRead {
			s.buf = append(s.buf, make([]byte, room+streamRead-len(s.buf))...)
		}
		n, err := s.plain.Read(s.buf[s.n:])
		s.n += n
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			s.eof = true
			if s.packed.n != s.in.Bytes {
				return s.damaged(fmt.Errorf("%d bytes of the file are left over", s.in.Bytes-s.packed.n))
			}
		case err != nil:
			return s.damaged(err)
		}
	}
	return nil
}

// skip passes over text up to an offset.
func (s *stream) skip(to int64) error {
	for s.base < to {
		if err := s.fill(1); err != nil {
			return err
		}
		if s.at == s.n {
			return s.damaged(fmt.Errorf("the text ends at byte %d and had more before", s.base))
		}
		s.pass(int(min(int64(s.n-s.at), to-s.base)))
	}
	return nil
}

// drain reads the rest of compressed data, which are damaged or not by what stands at their end.
func (s *stream) drain() error {
	for s.in.Compression != "" && !s.eof {
		s.pass(s.n - s.at)
		if err := s.fill(1); err != nil {
			return err
		}
	}
	return nil
}

// skipLines passes over the first lines of a file.
func (s *stream) skipLines(lines int64) error {
	for from := s.line; s.line < from+lines; {
		if err := s.fill(2); err != nil || s.at == s.n {
			return err
		}
		b := s.buf[s.at:s.n]
		end := byte('\n')
		if s.CR {
			end = '\r'
		}
		i := bytes.IndexByte(b, end)
		switch {
		case i < 0:
			s.pass(len(b))
		case i+1 == len(b) && s.CR && !s.eof:
			s.pass(i)
		case s.CR:
			s.pass(i + s.lineEnd(b, i))
		default:
			s.pass(i + 1)
		}
	}
	return nil
}

// next gives the next record, its bytes, its offset in the text and its line; raw is nil at the end.
// Comments are passed over. A record with a fault is given as it is, and not passed over.
func (s *stream) next() (rec record, raw []byte, at, line int64, err error) {
	for want := 64 << 10; ; {
		if err := s.fill(want); err != nil {
			return rec, nil, s.base, s.line, err
		}
		b := s.buf[s.at:s.n]
		if len(b) == 0 {
			return rec, nil, s.base, s.line, nil
		}
		comment := s.Comment != "" && bytes.HasPrefix(b, []byte(s.Comment))
		if comment {
			rec = s.comment(b)
		} else {
			rec = s.scan(b, s.eof, s.fields)
			s.fields = rec.fields
		}
		at, line = s.base, s.line
		switch {
		case rec.verdict == whole:
			raw = b[:rec.length]
			s.pass(rec.length)
			if comment {
				continue
			}
			return rec, raw, at, line, nil
		case rec.verdict != cut || len(b) >= maxRecord:
			return rec, b, at, line, nil
		}
		want = len(b) * 2
	}
}

// comment is the extent of a comment line.
func (s *stream) comment(b []byte) record {
	for i := range b {
		if s.short(b, i, s.eof) {
			break
		}
		if n := s.lineEnd(b, i); n > 0 {
			return record{length: i + n}
		}
	}
	if s.eof {
		return record{length: len(b)}
	}
	return record{verdict: cut}
}

// load reads the next records into k; ok is false at the end of the file.
func (s *stream) load(c *cursor, b *bound, k *chunk) (ok bool, err error) {
	k.begin(c.in.Fields)
	k.base, k.end = s.base, s.base
	for k.records < maxRows && len(k.alt) < streamRead && k.fault == nil {
		rec, raw, at, _, err := s.next()
		if err != nil {
			return false, err
		}
		if raw == nil {
			break
		}
		if rec.verdict != whole {
			k.fault = structural(rec, raw, at, c.file, 0)
			break
		}
		switch b.judge(rec, c.in.Fields) {
		case take:
			k.put(&s.dialect, rec, raw, at, b.Nulls)
		case reject:
			k.rejected = append(k.rejected, ragged(rec, raw, at, c.file, c.in.Fields))
		case refuse:
			k.fault = ragged(rec, raw, at, c.file, c.in.Fields)
		}
		ok = true
	}
	k.finish()
	k.end = s.base
	return ok || k.fault != nil, nil
}
