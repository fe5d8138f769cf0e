package csv

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestUTF32: a text of UTF-32 is read by its byte-order mark or by its name, and is refused where it ends within a
// character, has numbers that are none, or is no UTF-32 although the plan says so.
func TestUTF32(t *testing.T) {
	var little, big []byte
	for _, r := range "\uFEFFa,b\n1,é\n2,\"😀\n\"\n" {
		little = binary.LittleEndian.AppendUint32(little, uint32(r))
		big = binary.BigEndian.AppendUint32(big, uint32(r))
	}
	read := func(encoding, text string) ([]string, error) {
		_, state, err := bindText(t, Options{Columns: columns(t, "a INT; b STRING"), Encoding: encoding}, text)
		if err != nil {
			return nil, err
		}
		rows, _, err := readAll(t, state, how{split: 5, read: 7})
		return rows, err
	}
	for _, c := range [][2]string{
		{"", string(little)}, {"", string(big)}, {"utf-32", string(little)}, {"UTF32", string(big)},
		{"utf-32le", string(little)}, {"utf-32be", string(big)}, {"utf-32le", string(little[4:])},
	} {
		rows, err := read(c[0], c[1])
		if want := `1|"é";2|"😀\n"`; err != nil || strings.Join(rows, ";") != want {
			t.Errorf("%s: %q, expected %q: %v", c[0], rows, want, err)
		}
	}
	for name, c := range map[string][2]string{
		"cut":            {"", string(little[:len(little)-2])},
		"not a number":   {"", string(little[:20]) + "\x00\x00\x11\x00" + string(little[20:])},
		"half a pair":    {"", string(little[:20]) + "\x00\xd8\x00\x00" + string(little[20:])},
		"no mark":        {"utf-32", string(little[4:])},
		"of other width": {"utf-32", "\xff\xfea\x00,\x00b\x00\n\x00"},
	} {
		if rows, err := read(c[0], c[1]); err == nil {
			t.Errorf("%s: read as %q", name, rows)
		}
	}
}
