package csv

import (
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

const (
	defaultRead = 512 << 10
	// lookahead is how much of the next split is read along with the end of one, for the record that
	// begins before the end.
	lookahead = 4 << 10
)

// A cursor is a split being read. A record belongs to the split that its first byte is in.
type cursor struct {
	in         *input
	file       int64 // place in the list, from 1
	start, end int64
	pos        int64 // where the next record begins
	read       int
	doomed     bool // the file has a fault: the end is never reached in peace
	resumed    bool // pos is from a snapshot
	begins     sit  // what start was taken for
	ends       sit  // what the place `end` is, as followed from start
	tallied    int64
	next, upto int // of single records: the place of the next one and of the first that is not the split's
}

// begin finds the first record of a split that starts in the middle of the file.
func (w *window) begin(c *cursor) error {
	if c.start <= c.in.Data {
		c.pos = max(c.start, min(c.in.Data, c.end))
		if c.end > c.in.Data {
			c.pos = c.in.Data
		}
		return nil
	}
	before, err := w.byteBefore(c.start)
	if err != nil {
		return err
	}
	if c.begins == outside && before == '\n' {
		c.pos = c.start
		return nil
	}
	at := stand{c.begins, before}
	for pos := c.start; pos < c.end; {
		if err := w.Fill(pos, int(min(int64(c.read), c.end-pos))); err != nil {
			return err
		}
		buf := w.look()
		w.judge(buf, at, w.delimiter, true)
		if p := firstIn(w.nls, 0); p >= 0 && p < w.N {
			c.pos = pos + int64(p) + 1
			return nil
		}
		at = at.over(buf[:w.N], w.delimiter)
		pos += int64(w.N)
	}
	c.pos, c.ends = c.end, at.kind()
	return nil
}

// load reads the next records of the split into k; ok is false at its end.
func (w *window) load(c *cursor, k *chunk) (ok bool, err error) {
	if c.pos >= c.end || c.pos >= c.in.Bytes {
		return false, nil
	}
	k.fields = c.in.Fields
	want := int(min(int64(c.read), c.end-c.pos+lookahead))
	for {
		if err := w.Fill(c.pos, want); err != nil {
			return false, err
		}
		buf := w.look()
		own := int(min(int64(len(buf)), c.end-c.pos))
		if w.cutRecords(buf, own, c.file, k) {
			w.follow(c, k, buf)
			return true, nil
		}
		if want >= text.MaxRecord {
			k.fault = structural(record{verdict: cut}, buf, c.pos, c.file, 0)
			k.records = 0
			return true, nil
		}
		want = min(want*2+block, text.MaxRecord)
	}
}

// cutRecords finds the whole records of buf that start before own, the fast way where it can. It is
// false where buf holds no whole record.
func (w *window) cutRecords(buf []byte, own int, file int64, k *chunk) bool {
	k.base, k.quoted = w.Base, w.anyQuote()
	broken := -1
	if k.quoted {
		broken, _, _ = w.judge(buf, stand{before: '\n'}, w.delimiter, true)
	}
	if broken < 0 {
		end := firstIn(w.nls, own-1) + 1
		if end == 0 {
			end = lastIn(w.nls, own-1) + 1
		}
		if end > 0 && k.flatten(buf, &w.masks, end) {
			k.end = k.base + int64(end)
			return true
		}
		if end == 0 && !w.EOF() {
			return false
		}
	}
	data := buf[:w.N]
	k.gather(data, w.Base, w.bound, min(own, w.N), w.EOF(), file)
	return k.end > k.base || k.fault != nil
}

// follow moves the cursor on, and notes at the end of the split what place that is.
func (w *window) follow(c *cursor, k *chunk, buf []byte) {
	last := c.pos
	if k.records > 0 {
		last = k.offset(k.records - 1)
	}
	c.pos = min(k.end, c.in.Bytes)
	if c.pos >= c.end {
		c.ends = outside
		if c.pos > c.end && k.quoted && last < c.end {
			c.ends = stand{before: '\n'}.over(buf[last-w.Base:c.end-w.Base], w.delimiter).kind()
		}
	}
}
