package text

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sort"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A Listing is the records of a file that are to be read again, in the order of that file. There may be
// millions of them, so they are in a file of their own.
type Listing struct {
	Path  string `json:"path"`  // of the file that they are in, perhaps with those of other files
	First int64  `json:"first"` // place in it, in records
	N     int    `json:"n"`
	Size  int64  `json:"size"` // what the books count for all of them
}

// listedSize is how many bytes a listed record takes in a file.
const listedSize = 5 * 8

// List writes the records of up to n files to a file in dir, and gives a listing for each file that has some.
// name gives a file's path as it is shown and as it is opened, and listed one of them without Before.
func List(dir string, records iter.Seq2[connectors.Record, error], n int, name func(file int) (shown, abs string),
	listed func(file int, r connectors.Record) (Listed, error),
) (_ []*Listing, err error) {
	w := &listingWriter{lists: make([]*Listing, n)}
	defer func() {
		if w.f != nil {
			err = errors.Join(err, w.f.Close())
		}
	}()
	last, file := "", -1
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		if file < 0 || r.File != last {
			if file, err = FileOf(r.File, n, name); err != nil {
				return nil, err
			}
			last = r.File
		}
		l, err := listed(file, r)
		if err != nil {
			return nil, err
		}
		shown, _ := name(file)
		if err := w.add(dir, file, shown, l); err != nil {
			return nil, err
		}
	}
	if w.f == nil {
		return w.lists, nil
	}
	return w.lists, w.b.Flush()
}

// A listingWriter writes listings one after the other.
type listingWriter struct {
	f     *os.File
	b     *bufio.Writer
	lists []*Listing
	all   int64 // records
	at    int64 // of the last one
	file  int   // that it is in
}

func (w *listingWriter) add(dir string, file int, shown string, l Listed) (err error) {
	if w.f == nil {
		if w.f, err = os.CreateTemp(dir, "runner-listing-*"); err != nil {
			return fmt.Errorf("listing the records to read again: %w", err)
		}
		w.b = bufio.NewWriterSize(w.f, 64<<10)
	}
	x := w.lists[file]
	switch {
	case x == nil:
		x = &Listing{Path: w.f.Name(), First: w.all}
		w.lists[file] = x
	case file != w.file:
		return fmt.Errorf("the records of %s are not together: they stand between those of other files", shown)
	case l.At == w.at:
		return fmt.Errorf("the record at %d of %s is there twice", l.At, shown)
	case l.At < w.at:
		return fmt.Errorf("the record at %d of %s stands behind that at %d: expected them in the order of the file", l.At, shown, w.at)
	}
	w.at, w.file = l.At, file
	l.Before = x.Size
	var b [listedSize]byte
	with := uint64(0)
	if l.With {
		with = 1
	}
	for i, v := range []uint64{uint64(l.At), uint64(l.Len), l.Sum, uint64(l.Before), with} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	if _, err := w.b.Write(b[:]); err != nil {
		return fmt.Errorf("listing the records to read again: %w", err)
	}
	w.all++
	x.N++
	x.Size += l.Size()
	return nil
}

// A Lister reads listings, one at a time, and has a piece of it in memory. The zero Lister has none.
type Lister struct {
	list *Listing
	f    *os.File
	buf  []byte
	from int // place of the first record of buf
}

// piece is how many records of a listing are in memory.
const piece = 1024

// Turn makes a listing the one that is read.
func (x *Lister) Turn(l *Listing) error {
	if x.list != nil && *x.list == *l {
		return nil
	}
	if err := x.Close(); err != nil {
		return err
	}
	f, err := os.Open(l.Path)
	if err != nil {
		return fmt.Errorf("reading the list of records to read again: %w", err)
	}
	x.list, x.f, x.buf = l, f, x.buf[:0]
	return nil
}

// Len is how many records the listing has.
func (x *Lister) Len() int { return x.list.N }

// At is the record at a place, from 0.
func (x *Lister) At(i int) (l Listed, err error) {
	if at := i - x.from; at < 0 || at*listedSize >= len(x.buf) {
		x.from = i - i%piece
		n := min(x.list.N-x.from, piece) * listedSize
		if cap(x.buf) < n {
			x.buf = make([]byte, piece*listedSize)
		}
		x.buf = x.buf[:n]
		if _, err := x.f.ReadAt(x.buf, (x.list.First+int64(x.from))*listedSize); err != nil {
			x.buf = x.buf[:0]
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return l, fmt.Errorf("reading the list of records to read again: %w", err)
		}
	}
	b := x.buf[(i-x.from)*listedSize:]
	word := func(k int) int64 { return int64(binary.LittleEndian.Uint64(b[8*k:])) }
	return Listed{At: word(0), Len: word(1), Sum: uint64(word(2)), Before: word(3), With: word(4) != 0}, nil
}

// Before is what the books count for the records before a place.
func (x *Lister) Before(i int) (int64, error) {
	if i >= x.list.N {
		return x.list.Size, nil
	}
	l, err := x.At(i)
	return l.Before, err
}

// Find is the place of the first record from one place to another, that one not included, for which ok is
// true, as it is for all behind it; to where there is none.
func (x *Lister) Find(from, to int, ok func(Listed) bool) (int, error) {
	var failed error
	i := from + sort.Search(to-from, func(k int) bool {
		if failed != nil {
			return true
		}
		l, err := x.At(from + k)
		failed = err
		return err != nil || ok(l)
	})
	return i, failed
}

// Close closes the listing.
func (x *Lister) Close() error {
	if x.f == nil {
		return nil
	}
	f := x.f
	x.f, x.list, x.buf = nil, nil, x.buf[:0]
	return f.Close()
}
