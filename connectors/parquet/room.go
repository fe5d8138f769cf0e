package parquet

import (
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
)

// A room is the memory in which the chunks of a column are decoded, one after the other, so that
// reading on takes no more of it.
type room struct {
	inflater
	raw    []byte   // a chunk as it stands in the file
	pages  [][]byte // decompressed
	used   int      // of pages: those that values of this call of decode may point into
	levels []int16  // of a page
	given  []int16  // of what is given out
	codes  []int32
	plan   *pagePlan // of the chunk that is opened next; nil: all of it is read

	dict   any // []T of the dictionary page read last
	loaded loading
}

// turn begins a call of decode: values that it gave before are done with, except that the page being
// read goes on.
func (r *room) turn() {
	if r.used > 1 {
		r.pages[0], r.pages[r.used-1] = r.pages[r.used-1], r.pages[0]
		r.used = 1
	}
}

// page decompresses a page. Bytes to keep hold until the next turn, others until the next page.
func (r *room) page(codec compress.Compression, b []byte, size int, keep bool) ([]byte, error) {
	if codec == compress.Codecs.Uncompressed {
		return r.decompress(codec, b, nil, size)
	}
	if !keep {
		r.used = 0
	}
	if r.used == len(r.pages) {
		r.pages = append(r.pages, nil)
	}
	p := grown(r.pages[r.used], size)
	r.pages[r.used] = p
	r.used++
	return r.decompress(codec, b, p, size)
}

// unpack decompresses a dictionary page; a dictionary whose values point into it has bytes of its own.
func (r *room) unpack(codec compress.Compression, b []byte, size int, own bool) ([]byte, error) {
	if !own {
		return r.page(codec, b, size, false)
	}
	return r.decompress(codec, b, make([]byte, size), size)
}

func (r *room) levelsOf(n int) []int16 {
	if cap(r.levels) < n {
		r.levels = make([]int16, n)
	}
	return r.levels[:n]
}

func (r *room) codesOf(n int) []int32 {
	if cap(r.codes) < n {
		r.codes = make([]int32, n)
	}
	return r.codes[:n]
}

// dictionaryOf is memory for the n values of a dictionary page, that of the chunk before where it has room.
func dictionaryOf[T any](r *room, n int) []T {
	list, ok := r.dict.([]T)
	if !ok || cap(list) < n {
		list = make([]T, n+n/8)
	}
	if pointsInto[T]() {
		clear(list[:cap(list)]) // they would keep the page before alive
	}
	r.dict = list
	return list[:n]
}

// grown is a buffer of n bytes, b where it has them. It leaves space, so that the next chunk, which
// has about the same size, finds it.
func grown(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, n+n/8)
	}
	return b[:n]
}

// pointsInto holds for values that point into the page they stand in.
func pointsInto[T any]() bool {
	switch any(*new(T)).(type) {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return true
	}
	return false
}
