package failure

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

const plainTrace = "java.lang.IllegalStateException: größer\n\tat a.b.C.d(C.java:1)\nCaused by: java.io.IOException: zu groß\n\tat a.b.C.e(C.java:2)\n"

// TestEncodings holds that bytes that mean the same text give the same answer.
func TestEncodings(t *testing.T) {
	want, err := Parse(strings.NewReader(plainTrace))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(plainTrace))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	little, big := []byte{0xff, 0xfe}, []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(plainTrace)) {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	for name, raw := range map[string][]byte{
		"byte order mark": append([]byte("\xef\xbb\xbf"), plainTrace...),
		"UTF-16":          little,
		"UTF-16, big":     big,
		"gzip":            packed.Bytes(),
		"rotated":         append(make([]byte, 3000), "\n"+plainTrace...),
	} {
		got, err := Parse(iotest.OneByteReader(bytes.NewReader(raw)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := differences(answer(got), answer(want)); len(diff) > 0 {
			t.Errorf("%s: %s", name, strings.Join(diff, "\n"))
		}
	}
}

// TestUnreadable holds that what cannot be read is an error and not "nothing failed".
func TestUnreadable(t *testing.T) {
	if _, err := Parse(strings.NewReader("\x7fELF\x00\x01")); !errors.Is(err, ErrNotText) {
		t.Errorf("a program: %v", err)
	}
	broken := errors.New("broken")
	if _, err := Parse(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
	if _, err := Parse(iotest.TimeoutReader(repeated("text\n", 1<<20))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("a reader that breaks later: %v", err)
	}
	if _, err := Parse(strings.NewReader("\x1f\x8bnot gzip at all")); err == nil {
		t.Error("half of a gzip file is no error")
	}
	if r, err := Parse(strings.NewReader("")); err != nil || r.Failure != nil {
		t.Errorf("an empty input: %v %+v", err, r)
	}
}

// TestLongLine holds that a line longer than any buffer is read, and what follows it too.
func TestLongLine(t *testing.T) {
	text := "java.lang.IllegalStateException: " + strings.Repeat("x", 3<<20) + "\n\tat a.b.C.d(C.java:1)\nCaused by: java.io.IOException: y\n\tat a.b.C.e(C.java:2)\n"
	r, err := Parse(strings.NewReader(text))
	if err != nil || r.Failure == nil || r.Failure.RootCause.Message != "y" || len(r.Failure.Chain[0].Message) > maxMessageBytes {
		t.Fatal(err, r.Failure)
	}
}
