package unpack

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestBehindZstd: bytes behind the last frame are an error, however few.
func TestBehindZstd(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := string(w.EncodeAll([]byte("a few words"), nil))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	skipped := "\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
	for behind, ok := range map[string]bool{
		"": true, packed: true, skipped: true, skipped + packed: true,
		"x": false, "\x00": false, "\x28": false, "\x28\xb5": false, "\x28\xb5\x2f": false, "\x28\xb5\x2f\xfd": false, "rubbish": false, "\x50\x2a\x4d": false, "\x50\x2a\x4d\x18": false, "\x50\x2a\x4d\x18\x03\x00\x00": false, "\x50\x2a\x4d\x18\x03\x00\x00\x00ab": false,
	} {
		z, err := Reader("zstd", strings.NewReader(packed+behind))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		_, err = io.Copy(&got, z)
		if (err == nil) != ok || !strings.HasPrefix(got.String(), "a few words") {
			t.Errorf("%q behind it: %q, %v", behind, got.String(), err)
		}
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	}
}
