package text

import (
	"bytes"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// Slack is how many bytes before and behind a window's data may be read and written, so that words that
// lie over its ends can be.
const Slack = 64

// A Window is the part of a file that is in memory.
type Window struct {
	File files.ReadFile
	Path string
	Size int64 // of the file

	Store []byte // Slack bytes, the data, and at least 2*Slack+1 bytes more
	Base  int64  // file offset of the first byte
	N     int    // bytes read
}

// Open turns to another file.
func (w *Window) Open(f files.ReadFile, path string, size int64) {
	w.File, w.Path, w.Size, w.Base, w.N = f, path, size, 0, 0
}

// Fill makes the window the want bytes from an offset on, fewer at the end of the file. What it holds of
// them already is kept.
func (w *Window) Fill(from int64, want int) error {
	want = int(min(int64(want), w.Size-from))
	if need := Slack + want + 1 + 2*Slack; len(w.Store) < need {
		s := make([]byte, need)
		copy(s[Slack:], w.Store[min(Slack, len(w.Store)):min(Slack+w.N, len(w.Store))])
		w.Store = s
	}
	data := w.Store[Slack:]
	have := 0
	if skip := from - w.Base; skip >= 0 && skip < int64(w.N) {
		have = copy(data, data[skip:w.N])
	}
	w.Base, w.N = from, have
	if have >= want {
		w.N = want
		return nil
	}
	if err := ReadFull(w.File, w.Path, w.Size, data[have:want], from+int64(have)); err != nil {
		return err
	}
	w.N = want
	return nil
}

// EOF reports whether the window reaches the end of the file.
func (w *Window) EOF() bool { return w.Base+int64(w.N) >= w.Size }

// Ended puts a line end behind a last line that has none, and gives the bytes with it.
func (w *Window) Ended() []byte {
	m := w.N
	data := w.Store[Slack:]
	if w.EOF() && m > 0 && data[m-1] != '\n' {
		data[m] = '\n'
		m++
	}
	return data[:m]
}

// NextLine is the offset of the first line that begins at an offset or behind it, and end where there is
// none before that.
func (w *Window) NextLine(at, end int64, read int) (int64, error) {
	for pos := at - 1; pos < end; {
		if err := w.Fill(pos, int(min(int64(read), end-pos))); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(w.Store[Slack:Slack+w.N], '\n'); i >= 0 {
			return min(pos+int64(i)+1, end), nil
		}
		pos += int64(w.N)
	}
	return end, nil
}
