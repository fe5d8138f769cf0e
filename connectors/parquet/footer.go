package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// A document is an open Parquet file: its bytes and its footer.
type document struct {
	files.ReadFile
	path    string // to show
	meta    *metadata.FileMetaData
	strange *strange // what the library does not read of the footer; nil = nothing
}

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	tailSize       = 8
)

// openDocument opens a file and reads its footer.
func openDocument(fs files.FS, abs, show string) (*document, error) {
	f, err := fs.Open(abs)
	if err != nil {
		return nil, files.ReadFailure(err, show, "cannot open "+show)
	}
	d := &document{ReadFile: f, path: show}
	if err := d.readFooter(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

func (d *document) readFooter() error {
	if err := d.checkMagic(); err != nil {
		return err
	}
	err := d.guard("the footer cannot be decoded", func() error {
		footer, err := d.footer()
		if err != nil {
			return err
		}
		d.meta, err = metadata.NewFileMetaData(footer, nil)
		return err
	})
	if err == nil {
		err = d.checkFooter()
	}
	if err != nil && d.readStrange() {
		if d.strange.none {
			return mismatch(d.path, "", fmt.Sprintf("no column of %s can be read; it has none", d.path))
		}
		return d.checkFooter()
	}
	return err
}

// maxFooter bounds what the last bytes of a file can ask for in memory.
const maxFooter = 1 << 29

// footer reads the bytes of the footer. Its lists have as many elements as they say, since the library makes room
// for them at once.
func (d *document) footer() ([]byte, error) {
	var tail [tailSize]byte
	if err := d.readAt(tail[:], d.Size()-tailSize); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(tail[:]))
	if size == 0 || size > d.Size()-tailSize-int64(len(magic)) {
		return nil, d.damaged(fmt.Sprintf("its footer has %d bytes, and the file %d", size, d.Size()), nil)
	}
	if size > maxFooter {
		return nil, &connectors.DataError{Kind: "NotSupported", File: d.path, Message: fmt.Sprintf("its footer has %d bytes; more than %d cannot be read yet", size, maxFooter)}
	}
	b := make([]byte, size)
	if err := d.readAt(b, d.Size()-tailSize-size); err != nil {
		return nil, err
	}
	t := thrift{rest: b}
	t.structure(0, func(int, byte) bool { return false })
	if t.bad {
		return nil, d.damaged("the footer cannot be decoded: it ends before what it says is in it", nil)
	}
	return b, nil
}

func (d *document) checkMagic() error {
	if d.Size() < 2*tailSize-4 {
		return d.damaged(fmt.Sprintf("it has %d bytes, too few for a Parquet file", d.Size()), nil)
	}
	var head [4]byte
	var tail [tailSize]byte
	if err := d.readAt(head[:], 0); err != nil {
		return err
	}
	if err := d.readAt(tail[:], d.Size()-tailSize); err != nil {
		return err
	}
	end := string(tail[4:])
	switch {
	case end == magicEncrypted || string(head[:]) == magicEncrypted:
		return d.encrypted()
	case string(head[:]) != magic && end != magic:
		return d.damaged("it does not begin and end with PAR1, so it is no Parquet file", nil)
	case end != magic:
		return d.damaged("it does not end with PAR1: it was cut off, or is still being written", nil)
	case string(head[:]) != magic:
		return d.damaged("it does not begin with PAR1", nil)
	}
	return nil
}

func (d *document) encrypted() error {
	return &connectors.DataError{Kind: "NotSupported", File: d.path, Message: "the file is encrypted, which cannot be read yet: write it without encryption"}
}

// checkFooter compares the footer's counts with each other, so that nobody believes them singly.
func (d *document) checkFooter() error {
	return d.guard("the footer contradicts itself", func() error {
		if d.meta.IsSetEncryptionAlgorithm() {
			return d.encrypted()
		}
		rows, columns := int64(0), d.meta.Schema.NumColumns()
		places := map[int64]string{} // where column chunks begin
		for i := range d.meta.GetRowGroups() {
			g := d.meta.RowGroup(i)
			if g.NumRows() < 0 || g.NumColumns() != columns {
				return d.damaged(fmt.Sprintf("row group %d has %d rows and %d columns, and the schema %d columns", i, g.NumRows(), g.NumColumns(), columns), nil)
			}
			if err := d.checkGroup(i, g, places); err != nil {
				return err
			}
			rows += g.NumRows()
		}
		if rows != d.meta.NumRows {
			return d.damaged(fmt.Sprintf("its footer says %d rows, and its row groups have %d", d.meta.NumRows, rows), nil)
		}
		return nil
	})
}

// readAt reads all of b; a file that ends before is damaged or was cut meanwhile.
func (d *document) readAt(b []byte, offset int64) error {
	n, err := d.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return d.damaged(fmt.Sprintf("it ends before byte %d", offset+int64(len(b))), nil)
	}
	return files.ReadFailure(err, d.path, "cannot read "+d.path)
}

// damaged is an error about the file as a whole.
func (d *document) damaged(why string, cause error) error {
	return &connectors.DataError{Kind: "DamagedFile", File: d.path, Message: "the file is damaged: " + why, Cause: cause}
}

// guard turns an error of the Parquet library, and a panic, into a damaged file: the library panics
// on many kinds of damage. What is an error of ours already stays as it is.
func (d *document) guard(why string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = d.damaged(why, nil)
		}
	}()
	err = f()
	if err == nil || isOurs(err) {
		return err
	}
	return d.damaged(why, err)
}

// isOurs holds for errors that say their class.
func isOurs(err error) bool {
	var c interface{ Class() string }
	return errors.As(err, &c) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
