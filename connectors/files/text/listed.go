package text

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A Listed record is one of those that an earlier run left out and that are to be read again.
type Listed struct {
	At     int64  // in the unpacked file; of a file of rows their number from 0
	Len    int64  // of its text
	Sum    uint64 // of its text
	Before int64  // what the books count for those before it
	With   bool   // it goes on what the one before begins, as the plan reads it now, so both are of one split
}

// ListedOf makes a listed record.
func ListedOf(r connectors.Record) Listed {
	return Listed{At: r.Offset, Len: int64(len(r.Raw)), Sum: xxhash.Sum64String(r.Raw)}
}

// Size is what the books count for a record.
func (l Listed) Size() int64 { return max(l.Len, 1) }

// Stands reports whether bytes begin with the record's text.
func (l Listed) Stands(b []byte) bool {
	t := Plain(b[:min(l.Len, int64(len(b)))]) // no byte becomes less than one
	return int64(len(t)) >= l.Len && xxhash.Sum64String(t[:l.Len]) == l.Sum
}

// Like is for a text in an encoding. Where the run before took the bytes for UTF-8, text that is not ASCII
// reads differently now and cannot be compared.
func (l Listed) Like(b []byte, encoding string) bool {
	b = b[:min(l.Len, int64(len(b)))]
	return encoding != "" && bytes.ContainsFunc(b, func(c rune) bool { return c >= 0x80 })
}

// Gone is the fault of a record that does not stand where it stood.
func (l Listed) Gone(path string) error {
	return &connectors.DataError{
		Kind: "DamagedFile", File: path, Wanted: "the file as it was",
		Message: fmt.Sprintf("the record that was left out at byte %d does not stand there any more: the file was changed since, or the record before it reaches into it as the plan reads it now", l.At),
	}
}

// FileOf finds a file by the path it is shown with, or by the end of its absolute path. name gives both of
// the i-th of n files.
func FileOf(path string, n int, name func(i int) (shown, abs string)) (int, error) {
	found := -1
	for i := range n {
		shown, abs := name(i)
		if shown == path {
			return i, nil
		}
		if abs == path || strings.HasSuffix(abs, "/"+path) {
			if found >= 0 {
				first, _ := name(found)
				return 0, fmt.Errorf("%s may be %s or %s", path, first, shown)
			}
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("%s is none of the files that the source reads", path)
	}
	return found, nil
}
