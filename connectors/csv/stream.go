package csv

import (
	"bytes"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// streamRead is about how much text goes into a chunk.
const streamRead = text.StreamRead

// A stream reads the records of a file from its beginning on, in any dialect. It is the complete path
// beside the fast one; both read a plain file the same.
type stream struct {
	*text.Stream
	dialect
	fields []span
}

// openStream opens a file and passes its byte-order mark over.
func openStream(fs files.FS, in *input, d dialect) (*stream, error) {
	s, err := text.OpenStream(fs, text.File{
		Path: in.Path, Abs: in.Abs, Bytes: in.Bytes, Compression: in.Compression, Encoding: d.Encoding, CR: d.CR, FormatError: "CsvFormatError",
	})
	if err != nil {
		return nil, err
	}
	return &stream{Stream: s, dialect: d}, nil
}

// skipLines passes over the first lines of a file.
func (s *stream) skipLines(lines int64) error {
	for from := s.Line; s.Line < from+lines; {
		if err := s.Fill(2); err != nil || len(s.Rest()) == 0 {
			return err
		}
		b := s.Rest()
		end := byte('\n')
		if s.CR {
			end = '\r'
		}
		i := bytes.IndexByte(b, end)
		switch {
		case i < 0:
			s.Pass(len(b))
		case i+1 == len(b) && s.CR && !s.EOF:
			s.Pass(i)
		case s.CR:
			s.Pass(i + s.lineEnd(b, i))
		default:
			s.Pass(i + 1)
		}
	}
	return nil
}

// next gives the next record, its bytes, its offset in the text and its line; raw is nil at the end.
// Comments are passed over. A record with a fault is given as it is, and not passed over.
func (s *stream) next() (rec record, raw []byte, at, line int64, err error) {
	for want := 64 << 10; ; {
		if err := s.Fill(want); err != nil {
			return rec, nil, s.Base, s.Line, err
		}
		b := s.Rest()
		if len(b) == 0 {
			return rec, nil, s.Base, s.Line, nil
		}
		comment := s.Comment != "" && bytes.HasPrefix(b, []byte(s.Comment))
		if comment {
			rec = s.comment(b)
		} else {
			rec = s.scan(b, s.EOF, s.fields)
			s.fields = rec.fields
		}
		at, line = s.Base, s.Line
		switch {
		case rec.verdict == whole:
			raw = b[:rec.length]
			s.Pass(rec.length)
			if comment {
				continue
			}
			return rec, raw, at, line, nil
		case rec.verdict != cut || len(b) >= text.MaxRecord:
			return rec, b, at, line, nil
		}
		want = len(b) * 2
	}
}

// comment is the extent of a comment line.
func (s *stream) comment(b []byte) record {
	for i := range b {
		if s.short(b, i, s.EOF) {
			break
		}
		if n := s.lineEnd(b, i); n > 0 {
			return record{length: i + n}
		}
	}
	if s.EOF {
		return record{length: len(b)}
	}
	return record{verdict: cut}
}

// load reads the next records into k; ok is false at the end of the file.
func (s *stream) load(c *cursor, b *bound, k *chunk) (ok bool, err error) {
	k.begin(c.in.Fields)
	k.base, k.end, k.keep = s.Base, s.Base, b.Skip || b.Ragged == "skip"
	for k.records < maxRows && len(k.alt) < streamRead && k.fault == nil {
		away := s.Away
		rec, raw, at, line, err := s.next()
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
			if k.keep {
				k.kept = append(k.kept, k.text(raw, line, at+away))
			}
			k.put(&s.dialect, rec, raw, at, b.Nulls)
		case reject:
			f, t := ragged(rec, raw, at, c.file, c.in.Fields), k.text(raw, line, at+away)
			f.text = &t
			k.rejected = append(k.rejected, f)
		case refuse:
			k.fault = ragged(rec, raw, at, c.file, c.in.Fields)
		}
		ok = true
	}
	k.finish()
	k.end = s.Base
	return ok || k.fault != nil, nil
}
