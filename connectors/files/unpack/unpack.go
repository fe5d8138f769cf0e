// Package unpack tells how files are compressed and reads them to their end: several members, frames or streams
// one after the other are one text, every checksum is looked at, and what stands behind the last one is an error.
package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A member is one of the parts that a compressed file consists of. next is called in front of one or of the end
// of the file; it gives a reader of the member, which leaves r behind it, or nil where the file ends.
type members struct {
	r    *bufio.Reader
	next func(r *bufio.Reader) (io.Reader, error)
	cur  io.Reader
	err  error
}

func newMembers(r io.Reader, next func(r *bufio.Reader) (io.Reader, error)) io.Reader {
	return &members{r: bufio.NewReaderSize(r, 64<<10), next: next}
}

// Read reads on over the ends of members.
func (m *members) Read(b []byte) (n int, err error) {
	for n == 0 && len(b) > 0 {
		if m.err != nil {
			return 0, m.err
		}
		if m.cur == nil {
			if m.cur, m.err = m.next(m.r); m.cur == nil && m.err == nil {
				m.err = io.EOF
			}
			continue
		}
		if n, err = m.cur.Read(b); err == io.EOF {
			m.cur = nil
		} else {
			m.err = err
		}
	}
	return n, nil
}

// gzipMembers reads gzip members.
func gzipMembers(r io.Reader) io.Reader {
	var z gzip.Reader
	first := true
	return newMembers(r, func(r *bufio.Reader) (io.Reader, error) {
		if !first {
			if end, err := atEnd(r, "gzip member", "\x1f\x8b"); end || err != nil {
				return nil, err
			}
		}
		first = false
		if err := z.Reset(r); err != nil {
			return nil, early(err)
		}
		z.Multistream(false)
		return &z, nil
	})
}

// atEnd reports whether a file ends behind a member; where neither the end nor one of the beginnings of another
// member stands there it is an error.
func atEnd(r *bufio.Reader, what string, magics ...string) (end bool, err error) {
	b, err := r.Peek(20)
	if err != nil && !errors.Is(err, io.EOF) && len(b) == 0 {
		return false, err
	}
	if len(b) == 0 {
		return true, nil
	}
	for _, m := range magics {
		if bytes.HasPrefix(b, []byte(m)) {
			return false, nil
		}
	}
	return false, fmt.Errorf("behind the last %s stand bytes that are none: %q", what, b)
}

// early makes the end of a file an error where it may not end.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the compressed data end too early: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// whole reads all of b.
func whole(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return early(err)
}
