package unpack

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain is what the files in testdata hold. They were made with lz4 1.9.4 and xz 5.4.1: of frames or streams with
// every kind of check, with blocks that refer to the ones before, and with zeros and frames to be passed over between
// them.
func plain() string {
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, "%d words and %d more of them, %d\n", i%10, i%7, i/500)
	}
	return b.String()
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unpacked reads all of a text by its first bytes.
func unpacked(packed string) (string, error) { return unpackedFrom(strings.NewReader(packed), packed) }

func unpackedFrom(r io.Reader, packed string) (string, error) {
	switch {
	case strings.HasPrefix(packed, "\x1f\x8b"):
		r = gzipMembers(r)
	case strings.HasPrefix(packed, xzMagic):
		r = xzStreams(r)
	default:
		r = lz4Frames(r)
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wholeOnes are packed forms of plain.
func wholeOnes(t testing.TB) map[string]string {
	text := plain()
	out := map[string]string{
		"gzip": gzipped(t, text), "gzip, members": gzipped(t, text[:99999]) + gzipped(t, "") + gzipped(t, text[99999:]),
	}
	for _, name := range []string{
		"independent.lz4", "linked.lz4", "nosum.lz4", "frames.lz4", "none.xz", "crc32.xz", "crc64.xz", "sha256.xz", "blocks.xz", "threads.xz", "streams.xz",
	} {
		out[name] = file(t, name)
	}
	return out
}

// TestWhole: what other programs packed is unpacked, however it comes.
func TestWhole(t *testing.T) {
	text := plain()
	for name, packed := range wholeOnes(t) {
		for how, r := range map[string]io.Reader{
			"at once": strings.NewReader(packed), "byte by byte": iotest.OneByteReader(strings.NewReader(packed)), "with its end": iotest.DataErrReader(strings.NewReader(packed)),
		} {
			if got, err := unpackedFrom(r, packed); err != nil || got != text {
				t.Errorf("%s, %s: %d bytes, expected %d: %v", name, how, len(got), len(text), err)
			}
		}
	}
}

// TestLibraries: what the libraries pack is unpacked.
func TestLibraries(t *testing.T) {
	text := plain() + strings.Repeat("x", 1<<20)
	for _, o := range [][]lz4.Option{nil, {lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)}, {lz4.SizeOption(uint64(len(text))), lz4.CompressionLevelOption(lz4.Level9)}} {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		err := w.Apply(o...)
		_, err2 := io.WriteString(w, text)
		if err = errors.Join(err, err2, w.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := unpacked(b.String()); err != nil || got != text {
			t.Errorf("lz4: %d bytes, expected %d: %v", len(got), len(text), err)
		}
	}
	for _, check := range []byte{xz.CRC32, xz.CRC64, xz.SHA256} {
		var b bytes.Buffer
		w, err := xz.WriterConfig{CheckSum: check, BlockSize: 100000}.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(w, text)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := unpacked(b.String()); err != nil || got != text {
			t.Errorf("xz: %d bytes, expected %d: %v", len(got), len(text), err)
		}
	}
}

// TestDamage: a file that was cut anywhere is an error, and so is one with another byte anywhere that a checksum
// stands for, or with bytes behind its end.
func TestDamage(t *testing.T) {
	text := plain()
	for name, packed := range wholeOnes(t) {
		step := max(1, len(packed)/12)
		for n := 1; n < len(packed); n++ {
			if n%step != 0 && n > 40 && n < len(packed)-20 {
				continue
			}
			got, err := unpacked(packed[:n])
			if strings.HasPrefix(name, "gzip, m") || name == "frames.lz4" || name == "streams.xz" {
				if err == nil && !strings.HasPrefix(text, got) {
					t.Fatalf("%s, cut at %d: %d bytes", name, n, len(got))
				}
				continue // one that ends between two members is whole
			}
			if err == nil || !strings.HasPrefix(text, got) {
				t.Fatalf("%s, cut at %d: %d bytes, %v", name, n, len(got), err)
			}
			if n > 20 && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s, cut at %d: %v", name, n, err)
			}
		}
		for _, behind := range []string{"x", "rubbish", "\x00", "\x00\x00\x00\x00\x00", "\x1f\x8c and so on, longer than twenty bytes"} {
			got, err := unpacked(packed + behind)
			if err == nil || got != text || !strings.Contains(err.Error(), "behind the last") {
				t.Errorf("%s and %q: %d bytes, %v", name, behind, len(got), err)
			}
		}
		if strings.HasPrefix(name, "gzip") || name == "nosum.lz4" || name == "none.xz" {
			continue // a gzip header has bytes that mean nothing
		}
		for n := range len(packed) {
			if n%step != 0 && n > 40 && n < len(packed)-20 {
				continue
			}
			got, err := unpacked(packed[:n] + string(packed[n]^0x11) + packed[n+1:])
			if err == nil && got != text {
				t.Fatalf("%s, another byte at %d: another text", name, n)
			}
			// The library does not mind how long a chunk of LZMA2 says that it is, nor we what is passed over.
			if err == nil && name != "frames.lz4" && !strings.HasSuffix(name, ".xz") {
				t.Fatalf("%s, another byte at %d: no error", name, n)
			}
		}
	}
}

// TestNamed: what is not read is named, with what would be right.
func TestNamed(t *testing.T) {
	linked := file(t, "linked.lz4")
	for want, packed := range map[string]string{
		"filter x86: expected LZMA2 alone":                         file(t, "x86.xz"),
		"dictionary of 128 MiB of memory: expected at most 64 MiB": file(t, "large.xz"),
		"behind the last lz4 frame stand bytes that are none":      file(t, "frames.lz4") + file(t, "legacy.lz4"),
		"needs the dictionary 67305985":                            "\x04\x22\x4d\x18\x61\x40\x01\x02\x03\x04\x00",
		"checksum of an lz4 frame's header is wrong":               linked[:6] + "\x01" + linked[7:],
		"checksum of an lz4 block is wrong":                        linked[:3000] + "xx" + linked[3002:],
		"checksum of block 1 of an xz stream is wrong":             file(t, "sha256.xz")[:len(file(t, "sha256.xz"))-40] + "xx" + file(t, "sha256.xz")[len(file(t, "sha256.xz"))-38:],
		"\"rubbish\"": gzipped(t, "x") + "rubbish",
	} {
		if _, err := unpacked(packed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("expected %q: %v", want, err)
		}
	}
}

// FuzzUnpack: no bytes make a reader crash or hang, and one that reads LZ4 or xz to the end agrees with the library.
func FuzzUnpack(f *testing.F) {
	short := "a few words, a few words, a few words\n"
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	x, err := xz.NewWriter(&b)
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range []io.WriteCloser{w, x} {
		b.Reset()
		_, err := io.WriteString(c, short)
		if err = errors.Join(err, c.Close()); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(gzipped(f, short)))
	for _, text := range []string{
		"\x04\x22\x4d\x18\x64\x40\xa7\x08\x00\x00\x80a,b\n1,2\n\x00\x00\x00\x00\x0e\xd9\x79\x98",
		"\x50\x2a\x4d\x18\x03\x00\x00\x00abc",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if len(packed) > 512 {
			return
		}
		var r io.Reader
		switch {
		case bytes.HasPrefix(packed, []byte(xzMagic)):
			r = xzStreams(bytes.NewReader(packed))
		case bytes.HasPrefix(packed, []byte("\x1f\x8b")):
			r = gzipMembers(bytes.NewReader(packed))
		default:
			r = lz4Frames(bytes.NewReader(packed))
		}
		got, err := io.ReadAll(io.LimitReader(r, 16<<20))
		if err != nil || len(got) == 16<<20 || !bytes.HasPrefix(packed, []byte(xzMagic)) {
			return
		}
		lib, err := xz.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("%d bytes, and the library says %v", len(got), err)
		}
		if want, err := io.ReadAll(lib); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, and the library has %d: %v", len(got), len(want), err)
		}
	})
}
