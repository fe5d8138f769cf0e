package csv

import (
	"bytes"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// A recordReader reads a file record by record, slowly: headers, places of faults, and what the hot
// path is tested against.
type recordReader struct {
	file      files.ReadFile
	path      string
	size      int64 // where the file ends
	delimiter byte
	pos       int64 // the next record

	buf    []byte
	base   int64 // offset of buf[0]
	fields []span
}

// ahead is how much is read at once.
const ahead = 64 << 10

// peek gives at least the next n bytes, fewer at the end of the file.
func (r *recordReader) peek(n int) ([]byte, error) {
	n = int(min(int64(n), r.size-r.pos))
	skip := r.pos - r.base
	if skip >= 0 && skip+int64(n) <= int64(len(r.buf)) {
		return r.buf[skip:], nil
	}
	if skip >= 0 && skip <= int64(len(r.buf)) {
		r.buf = r.buf[:copy(r.buf, r.buf[skip:])]
	} else {
		r.buf = r.buf[:0]
	}
	r.base = r.pos
	n = int(min(int64(max(n, ahead)), r.size-r.pos))
	have := len(r.buf)
	if cap(r.buf) < n {
		r.buf = append(make([]byte, 0, n), r.buf...)
	}
	r.buf = r.buf[:n]
	if err := text.ReadFull(r.file, r.path, r.size, r.buf[have:], r.pos+int64(have)); err != nil {
		r.buf = r.buf[:have]
		return nil, err
	}
	return r.buf, nil
}

// next gives the next record with its bytes and offset; raw is nil at the end of the file. A record
// with a fault is given as it is, and not passed over.
func (r *recordReader) next() (rec record, raw []byte, at int64, err error) {
	if r.pos >= r.size {
		return record{}, nil, r.pos, nil
	}
	for want := 4 << 10; ; want *= 4 {
		b, err := r.peek(min(want, text.MaxRecord))
		if err != nil {
			return record{}, nil, r.pos, err
		}
		eof := r.pos+int64(len(b)) >= r.size
		rec = scanRecord(b, r.delimiter, eof, r.fields)
		r.fields = rec.fields
		if rec.verdict == whole {
			at, r.pos = r.pos, r.pos+int64(rec.length)
			return rec, b[:rec.length], at, nil
		}
		if rec.verdict != cut || want >= text.MaxRecord {
			return rec, b, r.pos, nil
		}
	}
}

// skipLines passes over the first lines of a file.
func (r *recordReader) skipLines(lines int64) error {
	for ; lines > 0 && r.pos < r.size; lines-- {
		for {
			b, err := r.peek(4 << 10)
			if err != nil {
				return err
			}
			b = b[:min(int64(len(b)), r.size-r.pos)]
			i := bytes.IndexByte(b, '\n')
			if i >= 0 {
				r.pos += int64(i) + 1
				break
			}
			if r.pos += int64(len(b)); r.pos >= r.size {
				break
			}
		}
	}
	return nil
}
