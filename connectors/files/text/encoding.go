package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// The encodings that need no table. UTF-8 is "": it is read as it stands.
const (
	utf16LE   = "utf-16le"
	utf16BE   = "utf-16be"
	utf16Mark = "utf-16" // which of the two is told by the byte-order mark
	utf32LE   = "utf-32le"
	utf32BE   = "utf-32be"
	utf32Mark = "utf-32"
)

// Marked is the encoding that the byte-order mark at a text's beginning tells, of UTF-16 and UTF-32; "" where there
// is none.
func Marked(head []byte) string {
	for _, m := range []struct{ mark, name string }{
		{"\xFF\xFE\x00\x00", utf32LE}, {"\x00\x00\xFE\xFF", utf32BE}, {"\xFF\xFE", utf16LE}, {"\xFE\xFF", utf16BE},
	} {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			return m.name
		}
	}
	return ""
}

// EncodingName is the one name of an encoding that goes by several, "" for UTF-8; one that is not known is
// an error.
func EncodingName(name string) (string, error) {
	n := strings.ToLower(strings.TrimSpace(name))
	switch strings.NewReplacer("-", "", "_", "").Replace(n) {
	case "", "utf8", "ascii", "usascii":
		return "", nil
	case "utf16":
		return utf16Mark, nil
	case "utf16le":
		return utf16LE, nil
	case "utf16be":
		return utf16BE, nil
	case "utf32":
		return utf32Mark, nil
	case "utf32le":
		return utf32LE, nil
	case "utf32be":
		return utf32BE, nil
	case "latin1":
		return "iso-8859-1", nil
	case "latin9":
		return "iso-8859-15", nil
	}
	if rest, ok := strings.CutPrefix(n, "cp125"); ok {
		n = "windows-125" + rest
	}
	if _, err := table(n); err != nil {
		return "", fmt.Errorf("encoding %q is not known: expected a name such as utf-8, utf-16, utf-32, latin-1, windows-1252, iso-8859-15, shift_jis or gb18030", name)
	}
	return n, nil
}

func table(name string) (encoding.Encoding, error) {
	e, err := ianaindex.IANA.Encoding(name)
	if err == nil && e == nil {
		err = errors.New("there is no table for it")
	}
	return e, err
}

// decode turns a text of an encoding into UTF-8. A byte that the encoding does not know is an error,
// never a replacement character.
func decode(name string, r io.Reader) (io.Reader, error) {
	switch name {
	case "":
		return r, nil
	case utf16LE, utf16BE, utf16Mark:
		return &utf16Reader{r: r, big: name == utf16BE}, nil
	case utf32LE, utf32BE, utf32Mark:
		order := utf32.LittleEndian
		if name == utf32BE {
			order = utf32.BigEndian
		}
		return &strict{r: transform.NewReader(r, utf32.UTF32(order, utf32.IgnoreBOM).NewDecoder()), name: name}, nil
	}
	e, err := table(name)
	if err != nil {
		return nil, err
	}
	return &strict{r: transform.NewReader(r, e.NewDecoder()), name: name}, nil
}

// A strict reader refuses what a decoder put there for bytes that it did not know.
type strict struct {
	r    io.Reader
	name string
	tail []byte // of the read before: a replacement character may be cut in two
	bad  bool
}

func (s *strict) Read(b []byte) (int, error) {
	if s.bad {
		return 0, &undecodable{fmt.Sprintf("here are bytes that are no %s", s.name), s.name}
	}
	n, err := s.r.Read(b)
	all := append(s.tail, b[:n]...)
	if i := bytes.Index(all, []byte("\uFFFD")); i >= 0 {
		s.bad = true
		return max(0, i-len(s.tail)), nil
	}
	s.tail = append(s.tail[:0], all[max(0, len(all)-2):]...)
	return n, err
}

// An undecodable text is not in the encoding it is read in.
type undecodable struct{ message, wanted string }

func (u *undecodable) Error() string { return u.message }

// A utf16Reader turns UTF-16 into UTF-8. Half of a pair and half a unit are errors.
type utf16Reader struct {
	r    io.Reader
	big  bool
	in   []byte
	have int
	out  []byte
	err  error
}

func (u *utf16Reader) Read(b []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(b, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) unit(i int) rune {
	if u.big {
		return rune(u.in[i])<<8 | rune(u.in[i+1])
	}
	return rune(u.in[i+1])<<8 | rune(u.in[i])
}

func (u *utf16Reader) fill() {
	if u.in == nil {
		u.in = make([]byte, 32<<10)
	}
	n, err := u.r.Read(u.in[u.have:])
	u.have += n
	u.out = u.out[:0]
	i := 0
	for i+1 < u.have {
		c := u.unit(i)
		if utf16.IsSurrogate(c) {
			if i+3 >= u.have && err == nil {
				break
			}
			low := rune(0)
			if i+3 < u.have {
				low = u.unit(i + 2)
			}
			if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
				u.err = &undecodable{"here is half of a surrogate pair, which is no UTF-16", "UTF-16"}
				return
			}
			i += 2
		}
		i += 2
		u.out = utf8.AppendRune(u.out, c)
	}
	if err == io.EOF && i < u.have {
		err = &undecodable{"it ends with half a UTF-16 unit", "UTF-16"}
	}
	u.have = copy(u.in, u.in[i:u.have])
	u.err = err
}

// Decode turns a text of an encoding into UTF-8; with an error it gives what comes before the fault.
func Decode(encoding string, b []byte) ([]byte, error) {
	name, err := EncodingName(encoding)
	if err != nil {
		return nil, err
	}
	r, err := decode(name, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
