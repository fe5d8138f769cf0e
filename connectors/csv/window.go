package csv

import (
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// front is how many bytes stand before a window's data.
const front = text.Slack

// A window is the part of a file that is in memory, with its masks.
type window struct {
	text.Window
	delimiter byte
	scan      scanner
	bound     *bound // what becomes of records that do not fit
	masks
}

// look scans the window and gives its bytes. A file whose last line has no end gets one: the result
// is then a byte longer than what was read.
func (w *window) look() []byte {
	data := w.Ended()
	m := len(data)
	clear(w.Store[front+m : front+m+block])
	blocks := (m + block - 1) / block
	w.masks.size(blocks)
	w.scan(w.Store[front:], blocks, w.delimiter, &w.masks)
	return data
}
