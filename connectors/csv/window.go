package csv

import (
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// front is how many bytes stand before a window's data; as many blocks stand behind.
const front = columntext.Front

// A window is the part of a file that is in memory, with its masks.
type window struct {
	file      files.ReadFile
	path      string
	size      int64 // of the file
	delimiter byte
	scan      scanner
	bound     *bound // what becomes of records that do not fit

	store []byte
	base  int64 // file offset of the first byte
	n     int   // bytes read
	masks
}

// open turns to another file.
func (w *window) open(f files.ReadFile, in *input) {
	w.file, w.path, w.size, w.base, w.n = f, in.Path, in.Bytes, 0, 0
}

// fill makes the window the want bytes from an offset on, fewer at the end of the file. What it
// holds of them already is kept.
func (w *window) fill(from int64, want int) error {
	want = int(min(int64(want), w.size-from))
	if need := front + want + 1 + 2*block; len(w.store) < need {
		s := make([]byte, need)
		copy(s[front:], w.store[min(front, len(w.store)):min(front+w.n, len(w.store))])
		w.store = s
	}
	data := w.store[front:]
	have := 0
	if skip := from - w.base; skip >= 0 && skip < int64(w.n) {
		have = copy(data, data[skip:w.n])
	}
	w.base, w.n = from, have
	if have >= want {
		w.n = want
		return nil
	}
	if err := text.ReadFull(w.file, w.path, w.size, data[have:want], from+int64(have)); err != nil {
		return err
	}
	w.n = want
	return nil
}

// eof reports whether the window reaches the end of the file.
func (w *window) eof() bool { return w.base+int64(w.n) >= w.size }

// look scans the window and gives its bytes. A file whose last line has no end gets one: the result
// is then a byte longer than n.
func (w *window) look() []byte {
	m := w.n
	data := w.store[front:]
	if w.eof() && m > 0 && data[m-1] != '\n' {
		data[m] = '\n'
		m++
	}
	clear(data[m : m+block])
	blocks := (m + block - 1) / block
	w.masks.size(blocks)
	w.scan(data, blocks, w.delimiter, &w.masks)
	return data[:m]
}
