package csv

import (
	"bytes"
	"errors"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// sample looks at pieces that lie spread over all files.
func (v *inference) sample() error {
	list := make([]infer.Extent, len(v.inputs))
	for i, in := range v.inputs {
		list[i] = infer.Extent{Bytes: in.Bytes, InOrder: in.Compression != ""}
	}
	pieces := infer.Pieces(list, v.b.budget)
	seen := map[int]bool{}
	for _, p := range pieces {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		in := &v.inputs[p.File]
		if in.Fields == 0 {
			seen[p.File], in.sampled = true, true // there is nothing in it
			continue
		}
		all, err := v.piece(in, p)
		if err != nil {
			return err
		}
		in.sampled = true
		seen[p.File] = seen[p.File] || all
	}
	for i := range v.inputs {
		v.whole = v.whole && seen[i]
	}
	return nil
}

// piece looks at the records that begin in a piece, and tells whether these are all of the file's.
func (v *inference) piece(in *input, p infer.Piece) (all bool, err error) {
	to := v.places(in)
	take := func(r Record) {
		if r.Fault != "" || r.Blank && in.Fields > 1 || len(r.Fields) != in.Fields && v.b.Ragged != "pad" {
			return // the reader refuses it, or passes it over
		}
		v.rows++
		for k, b := range r.Fields[:min(len(r.Fields), len(to))] {
			if to[k] < 0 || !r.Quoted[k] && slices.Contains(v.b.Nulls, string(b)) {
				continue
			}
			c := &v.columns[to[k]]
			if c.File = ""; len(v.inputs) > 1 {
				c.File = in.Path
			}
			c.Add(b, r.Line)
		}
	}
	switch {
	case in.Compression != "" || in.InOrder != "" && p.At == 0:
		return v.fromBeginning(in, p, take)
	case in.InOrder != "":
		return false, v.fromMiddle(in, p, take)
	}
	return p.Whole, v.plain(in, p, take)
}

// places says for each field of a file which column it is, -1 for none.
func (v *inference) places(in *input) []int {
	place := make(map[string]int, len(v.names))
	for i, n := range v.names {
		if _, twice := place[n]; !twice {
			place[n] = i
		}
	}
	to := make([]int, len(in.names))
	for k, n := range in.names {
		i, ok := place[n]
		if !ok {
			i = -1
		}
		to[k] = i
	}
	return to
}

// plain reads records of a file that can be cut: their beginning is found as a split's is.
func (v *inference) plain(in *input, p infer.Piece, take func(Record)) (err error) {
	h, err := v.fs.Open(in.Abs)
	if err != nil {
		return files.ReadFailure(err, in.Path, "cannot open "+in.Path)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	at, end := max(p.At, in.Data), min(p.At+p.Bytes, in.Bytes)
	if at >= end {
		return nil
	}
	line, sit := int64(0), outside
	begins := at == in.Data
	if begins {
		line, err = text.LineAt(h, in.Path, in.Bytes, at)
	} else {
		probe := prober{reach: defaultReach()}
		probe.w.scan, probe.w.delimiter, probe.w.bound = bestScanner(), v.b.Delimiter, v.b
		probe.w.Open(h, in.Path, in.Bytes)
		sit, err = probe.ask(1, at, in)
		at-- // the byte before tells whether a record begins right there
	}
	if err != nil {
		return err
	}
	buf := make([]byte, end-at)
	if err := text.ReadFull(h, in.Path, in.Bytes, buf, at); err != nil {
		return err
	}
	v.bytes += end - max(at, p.At)
	if !begins {
		buf = buf[v.recordIn(buf, stand{sit: sit}):]
	}
	var fields []span
	for len(buf) > 0 {
		r := scanRecord(buf, v.b.Delimiter, end >= in.Bytes, fields)
		if fields = r.fields; r.verdict != whole {
			return nil // cut off, or a fault that the reader will report
		}
		take(plainRecord(r, buf, line))
		if line > 0 {
			line += int64(bytes.Count(buf[:r.length], []byte{'\n'}))
		}
		buf = buf[r.length:]
	}
	return nil
}

// recordIn is where the first record begins behind the first byte of buf; what stands before that byte is
// left out.
func (v *inference) recordIn(buf []byte, at stand) int {
	at.before = buf[0]
	if at.sit == outside && buf[0] == '\n' {
		return 1
	}
	for i := 1; i < len(buf); i++ {
		at, _ = at.next(buf[i], v.b.Delimiter)
		if at.sit == outside && buf[i] == '\n' {
			return i + 1
		}
	}
	return len(buf)
}

func plainRecord(r record, raw []byte, line int64) Record {
	out := Record{Line: line, Blank: r.blank}
	for _, f := range r.fields {
		out.Fields = append(out.Fields, f.text(raw))
		out.Quoted = append(out.Quoted, f.quoted)
	}
	return out
}

// fromBeginning reads records of a file that is read in order.
func (v *inference) fromBeginning(in *input, p infer.Piece, take func(Record)) (all bool, err error) {
	s, err := openStream(v.fs, in, v.b.Dialect)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.SkipTo(in.Data); err != nil {
		return false, err
	}
	t := &Text{s}
	for p.Whole || s.Base < p.Bytes {
		r, ok, err := t.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			all = true
			break
		}
		take(r)
	}
	v.bytes += s.Base
	return all, nil
}

// fromMiddle reads records of a file whose records have no beginning that can be told for certain, behind
// the first line end of a piece. Where most of them do not fit, the piece began inside quotes.
func (v *inference) fromMiddle(in *input, p infer.Piece, take func(Record)) (err error) {
	h, err := v.fs.Open(in.Abs)
	if err != nil {
		return files.ReadFailure(err, in.Path, "cannot open "+in.Path)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	at := p.At &^ 3 // where a character of UTF-16 begins
	buf := make([]byte, p.At+p.Bytes-at)
	if err := text.ReadFull(h, in.Path, in.Bytes, buf, at); err != nil {
		return err
	}
	encoding := v.b.Dialect.Encoding
	if in.marked != "" {
		encoding = in.marked
	}
	if encoding != "" {
		if buf, err = text.Decode(encoding, buf); err != nil && len(buf) == 0 {
			return nil // the reader will say so if it is a fault
		}
	}
	end := byte('\n')
	if v.b.Dialect.CR {
		end = '\r'
	}
	from, to := bytes.IndexByte(buf, end), bytes.LastIndexByte(buf, end)
	if from < 0 || to <= from {
		return nil
	}
	o := v.o
	o.SkipLines, o.Encoding = 0, ""
	t, err := NewText(buf[from+1:to+1], o)
	if err != nil {
		return err
	}
	var list []Record
	fit := 0
	for {
		r, ok, err := t.Next()
		if err != nil || !ok {
			break
		}
		r.Line = 0
		for k, b := range r.Fields {
			r.Fields[k] = bytes.Clone(b)
		}
		if list = append(list, r); r.Fault == "" && len(r.Fields) == in.Fields {
			fit++
		}
	}
	if fit*2 < len(list) {
		return nil
	}
	v.bytes += p.Bytes
	for _, r := range list {
		take(r)
	}
	return nil
}
