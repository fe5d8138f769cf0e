package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/connectors/files/unpack"
)

const (
	wholeBytes = 8 << 20 // files up to this size are looked at as a whole
	headBytes  = 1 << 20 // of a larger one, at its beginning
	pieceBytes = 256 << 10
	pieces     = 32 // of a larger one, spread evenly
)

// A sample is the text of a file, or of parts of it: each begins where a line does.
type sample struct {
	parts    [][]byte // UTF-8
	whole    bool
	bytes    int64 // of the text or the file that was looked at
	encoding string
	guessed  bool   // the encoding is the likely one, which nothing in the text says
	mark     bool   // a byte-order mark of UTF-8
	packed   string // how the file is compressed
	tabbed   bool   // its name says that tabs stand between fields

	badLine int64 // of the first byte that is not UTF-8, where the text is of no encoding that says so
	badByte byte
}

// tabbed are names of files whose fields tabs separate.
var tabbed = regexp.MustCompile(`(?i)\.(tsv|tab)(\.[a-z0-9]+)?$`)

// take reads a sample.
func take(fs files.FS, f files.File) (*sample, error) {
	s := &sample{tabbed: tabbed.MatchString(f.Path)}
	var err error
	if s.packed, err = text.Compression(fs, f); err != nil {
		return nil, err
	}
	h, err := fs.Open(f.Abs)
	if err != nil {
		return nil, files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	err = s.read(h, f)
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, err
	}
	s.decode()
	return s, nil
}

func (s *sample) read(h files.ReadFile, f files.File) error {
	if s.packed != "" {
		z, err := unpack.Reader(s.packed, io.NewSectionReader(h, 0, h.Size()))
		var known *files.Error
		if errors.As(err, &known) {
			return &files.Error{Kind: known.Kind, Path: f.Path, Message: f.Path + ": " + known.Message}
		}
		if err != nil {
			return files.ReadFailure(err, f.Path, "cannot unpack "+f.Path)
		}
		b, err := io.ReadAll(io.LimitReader(z, wholeBytes+1))
		if err = errors.Join(err, z.Close()); err != nil {
			return files.ReadFailure(err, f.Path, "cannot unpack "+f.Path)
		}
		s.whole = len(b) <= wholeBytes
		s.parts, s.bytes = [][]byte{cutEnd(b, s.whole)}, int64(len(b))
		return nil
	}
	get := func(at, n int64) ([]byte, error) {
		b := make([]byte, min(n, h.Size()-at))
		if k, err := h.ReadAt(b, at); k < len(b) {
			return nil, files.ReadFailure(err, f.Path, fmt.Sprintf("cannot read %s at byte %d", f.Path, at))
		}
		s.bytes += int64(len(b))
		return b, nil
	}
	if s.whole = h.Size() <= wholeBytes; s.whole {
		b, err := get(0, h.Size())
		s.parts = [][]byte{b}
		return err
	}
	b, err := get(0, headBytes)
	if err != nil {
		return err
	}
	s.parts = [][]byte{cutEnd(b, false)}
	step := (h.Size() - headBytes) / pieces
	for i := range int64(pieces) {
		if b, err = get(headBytes+i*step+step-min(step, pieceBytes), min(step, pieceBytes)); err != nil {
			return err
		}
		k := bytes.IndexByte(b, '\n')
		if k < 0 {
			k = bytes.IndexByte(b, '\r')
		}
		if k >= 0 {
			s.parts = append(s.parts, cutEnd(b[k+1:], headBytes+(i+1)*step == h.Size()))
		}
	}
	return nil
}

// cutEnd takes the line at the end off that is not whole.
func cutEnd(b []byte, end bool) []byte {
	if end {
		return b
	}
	k := bytes.LastIndexByte(b, '\n')
	if k < 0 {
		k = bytes.LastIndexByte(b, '\r')
	}
	return b[:k+1]
}

// decode finds the encoding and turns the parts into UTF-8. Text of one byte a character that has no
// mark cannot be told for certain: windows-1252 is by far the most frequent one.
func (s *sample) decode() {
	if first := s.parts[0]; bytes.HasPrefix(first, []byte("\uFEFF")) {
		s.mark, s.parts[0] = true, first[3:]
	} else {
		s.encoding = wideEncoding(first)
	}
	if s.encoding == "" {
		for i, p := range s.parts {
			if !utf8.Valid(p) && !s.guessed {
				s.guessed, s.encoding = true, likely(p)
				s.foreign(p, i == 0)
			}
		}
	}
	if s.encoding == "" {
		return
	}
	if !singleByte[s.encoding] {
		s.parts = s.parts[:1] // the others may begin in the middle of a character
	}
	for i, p := range s.parts {
		b, err := text.Decode(s.encoding, p)
		for _, other := range []string{"windows-1252", "latin-1"} {
			if err != nil && i == 0 && s.guessed {
				s.encoding = other
				b, err = text.Decode(s.encoding, p)
			}
		}
		if err == nil || len(b) > 0 {
			s.parts[i] = bytes.TrimPrefix(b, []byte("\uFEFF"))
		}
	}
}

// foreign notes the first byte that is not UTF-8.
func (s *sample) foreign(p []byte, first bool) {
	for at := 0; at < len(p); {
		c, n := utf8.DecodeRune(p[at:])
		if c == utf8.RuneError && n <= 1 {
			if s.badByte = p[at]; first {
				s.badLine = int64(bytes.Count(p[:at], []byte{'\n'})) + 1
			}
			return
		}
		at += n
	}
}
