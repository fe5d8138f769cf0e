package files

import (
	"fmt"
	"time"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// Unchanged is an error where a file is not the one that was bound: it has another size, or was changed
// since (modified is when it was changed last before, in nanoseconds since 1970; 0 = not known). Readers
// ask when they open a file and when they are done with a part of it, so that no result is made of two
// versions of a file. A file that is gone by now is no error: what was opened before is whole.
func Unchanged(fsys FS, abs, show string, bytes, modified int64) error {
	info, err := fsys.Stat(abs)
	if absent(err) {
		return nil
	}
	if err != nil {
		return ReadFailure(err, show, "cannot look at "+show)
	}
	changed := func(format string, args ...any) error {
		return &connectors.DataError{
			Kind: "DamagedFile", File: show, Wanted: "the file as it was when the job began",
			Message: fmt.Sprintf(format, args...) + ": it was changed while the job ran",
		}
	}
	switch now := info.ModTime.UnixNano(); {
	case info.Bytes != bytes:
		return changed("the file has %d bytes now and had %d when the job began", info.Bytes, bytes)
	case modified != 0 && now != modified:
		return changed("the file was written at %s, and was of %s when the job began", stamp(now), stamp(modified))
	}
	return nil
}

func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
