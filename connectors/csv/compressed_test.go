package csv

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	return string(w.EncodeAll([]byte(text), nil))
}

// packed is a text in a format whose writer is made by open.
func packed(t testing.TB, text string, open func(w io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func newLZ4(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil }
func newXZ(w io.Writer) (io.WriteCloser, error)  { return xz.NewWriter(w) }

// TestCompressed: compressed files are read in order as one split each, whatever their name; several
// members are one text, and what is cut or followed by something else is a fault that names the file.
func TestCompressed(t *testing.T) {
	var text strings.Builder
	text.WriteString("n,s\n")
	var want []string
	for i := range 30000 {
		fmt.Fprintf(&text, "%d,\"a\nb %d\"\n", i, i%7)
		want = append(want, fmt.Sprintf("%d|%q", i, fmt.Sprintf("a\nb %d", i%7)))
	}
	s := text.String()
	o := Options{Columns: columns(t, "n BIGINT; s STRING")}
	half := len(s) / 3
	good := map[string]string{
		"gzip": gzipped(t, s), "two members": gzipped(t, s[:half]) + gzipped(t, s[half:]), "empty member": gzipped(t, s) + gzipped(t, ""),
		"zstd": zstandard(t, s), "two frames": zstandard(t, s[:half]) + zstandard(t, s[half:]),
		"lz4": packed(t, s, newLZ4), "two lz4 frames": packed(t, s[:half], newLZ4) + packed(t, s[half:], newLZ4),
		"xz": packed(t, s, newXZ), "two xz streams": packed(t, s[:half], newXZ) + "\x00\x00\x00\x00" + packed(t, s[half:], newXZ),
		"skippable frame": "\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstandard(t, s),
	}
	for name, data := range good {
		_, state, err := bindText(t, o, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		src, err := openIn(localFS(), state)
		if err != nil {
			t.Fatal(err)
		}
		if f := src.Inventory().Files[0]; f.Splittable || !strings.Contains(f.Why, "compressed") {
			t.Errorf("%s: inventory %+v", name, f)
		}
		rows, tally, err := readAll(t, state, how{split: 1000})
		if err != nil || !slices.Equal(rows, want) {
			t.Errorf("%s: %d rows of %d, %v", name, len(rows), len(want), err)
		}
		if err == nil && (tally[0].Bytes != int64(len(data)) || tally[0].Rows != int64(len(want))) {
			t.Errorf("%s: books %+v of %d bytes", name, tally, len(data))
		}
	}
	for name, data := range map[string]string{
		"gzip cut": good["gzip"][:len(good["gzip"])-20], "gzip and rubbish": good["gzip"] + "rubbish", "gzip and zeros": good["gzip"] + "\x00\x00\x00",
		"gzip with a wrong byte": good["gzip"][:5000] + "xxxx" + good["gzip"][5004:], "zstd cut": good["zstd"][:len(good["zstd"])-20],
		"zstd and rubbish": good["zstd"] + "rubbish", "gzip and zstd": good["gzip"] + good["zstd"], "gzip and two bytes": good["gzip"] + "\x1f\x8b",
		"lz4 cut": good["lz4"][:len(good["lz4"])-8], "lz4 and rubbish": good["lz4"] + "rubbish", "lz4 with a wrong byte": good["lz4"][:5000] + "xxxx" + good["lz4"][5004:],
		"xz cut": good["xz"][:len(good["xz"])-20], "xz and rubbish": good["xz"] + "rubbish", "xz with a wrong byte": good["xz"][:500] + "xxxx" + good["xz"][504:],
	} {
		_, state, err := bindText(t, o, data)
		if err == nil {
			_, _, err = readAll(t, state, how{split: 1000})
		}
		if class(err) != "DamagedFile" || !strings.Contains(err.Error(), "a.csv") {
			t.Errorf("%s: %s: %v", name, class(err), err)
		}
	}
	for kind, magic := range map[string]string{"zip": "PK\x03\x04", "legacy lz4": "\x02\x21\x4c\x18", "snappy": "\xff\x06\x00\x00sNaPpY"} {
		_, _, err := bindText(t, o, magic+" and so on")
		if class(err) != "InvalidOption" || !strings.Contains(err.Error(), kind+" files are not read: expected gzip, zstd, bzip2, lz4, xz") {
			t.Errorf("%s: %s: %v", kind, class(err), err)
		}
	}
	// A fault has its line in the text.
	_, state, err := bindText(t, o, gzipped(t, "n,s\n1,\"a\nb\"\n2,x\nthree,y\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := readAll(t, state, how{split: 1000})
	if len(rows) != 2 || err == nil || !strings.Contains(err.Error(), "'three' to BIGINT") || !strings.Contains(err.Error(), "a.csv:5:1") {
		t.Errorf("a fault: %q, %v", rows, err)
	}
}

// TestInOrderSource runs the tests of every source on files that are read in order.
func TestInOrderSource(t *testing.T) {
	a := "id;,text;,n\n"
	var rows []string
	var lines []int64
	line := int64(2)
	for i := range 150 {
		text := fmt.Sprintf("%d, 'quoted'\nand broken %d;,", i, i)
		a += fmt.Sprintf("%d;,'%s';,'%d'\n", i, strings.ReplaceAll(text, `'`, `''`), i*3)
		rows = append(rows, fmt.Sprintf("%d|%s|%d", i, text, i*3))
		lines = append(lines, line)
		line += 2
	}
	single := "'"
	o := Options{Columns: columns(t, "id BIGINT; text STRING NOT NULL; n INT"), Delimiter: ";,", Quote: &single}
	t.Run("dialect", func(t *testing.T) { testOptions(t, o, rows, lines, a) })
	t.Run("gzip", func(t *testing.T) { testOptions(t, o, rows, lines, gzipped(t, a)) })
}
