package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// compressedFiles are a text as files compressed in several ways, by extension. bzip2 files are only there
// where the program that makes them is.
func compressedFiles(t *testing.T, text string) map[string]string {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	out := map[string]string{"gz": gzipped(t, text), "zst": string(w.EncodeAll([]byte(text), nil))}
	if bzip2, err := exec.LookPath("bzip2"); err == nil {
		c := exec.Command(bzip2, "-c")
		c.Stdin = strings.NewReader(text)
		b, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		out["bz2"] = string(b)
	}
	return out
}

// TestDamagedCompression cuts compressed files, flips their bytes and puts more behind them: the run fails
// and names the file, or gives all rows where the damage lies in what says nothing of the text.
func TestDamagedCompression(t *testing.T) {
	var text strings.Builder
	text.WriteString("k,s\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "%d,some text %d\n", i, i*i%977)
	}
	want := ""
	for ext, good := range compressedFiles(t, text.String()) {
		var bad []string
		for i := 1; i < 40; i++ {
			at := len(good) * i / 40
			bad = append(bad, good[:at])
			flipped := []byte(good)
			flipped[at] ^= byte(1 << (i % 8))
			bad = append(bad, string(flipped))
		}
		for i := range min(20, len(good)) {
			flipped := []byte(good)
			flipped[i] ^= 0x55
			bad = append(bad, string(flipped), good[:len(good)-1-i])
			flipped = []byte(good)
			flipped[len(flipped)-1-i] ^= 0x55
			bad = append(bad, string(flipped))
		}
		bad = append(bad, good+"\n", good+"\x00", good+"more", good+good[:len(good)/2], good+good[:3], "")
		for i, data := range append([]string{good}, bad...) {
			dir := t.TempDir()
			name := "o.csv." + ext
			write(t, dir, name, data)
			r := run(t, filepath.Join(dir, "plan.yaml"), fmt.Sprintf(`
sources: {o: {csv: {path: %s, columns: {k: BIGINT, s: STRING}}, on_error: skip}}
sinks: {out: {from: o, csv: {path: out}}}
`, name), setup{options: map[string]string{"parallelism.default": "2"}})
			if i == 0 {
				finished(t, r)
				want = r.Sinks[0].Digest
				continue
			}
			if r.State == "FINISHED" {
				if r.Sinks[0].Digest != want {
					t.Errorf("%s, damage %d: %d rows, and no error", ext, i, r.Sinks[0].Rows)
				}
				continue
			}
			c := r.Failure.RootCause
			if !strings.Contains(c.File+c.Message, name) || c.Class == "Internal" {
				t.Errorf("%s, damage %d: %s %s", ext, i, c.Class, c.Message)
			}
			if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
				t.Errorf("%s, damage %d: a failed run left its target", ext, i)
			}
			noLeavings(t, dir)
		}
	}
}

// TestCutPlainText: what can be known of a text that was cut is said: quotes that do not close, and records
// that are short. A cut where a record could end gives the records before it.
func TestCutPlainText(t *testing.T) {
	text := "k,s\n" + strings.Repeat("1,\"quoted \"\"text\"\"\n over lines\"\n", 20)
	for at := 4; at < len(text); at += 3 {
		dir := t.TempDir()
		cut := text[:at]
		write(t, dir, "o.csv", cut)
		last := cut[max(0, strings.LastIndex(cut, "\n1")):]
		short := at > 4 && !strings.Contains(last, ",")
		open := strings.Count(cut, `"`)%2 == 1
		r := run(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, s: STRING}}}}
sinks: {out: {from: o, csv: {path: out.csv}}}
`, setup{options: map[string]string{"parallelism.default": "2", "runner.source.split-size": "50 b"}})
		if !short && !open {
			finished(t, r)
			if n := int64(strings.Count("\n"+cut, "\n1,")); r.Sinks[0].Rows != n {
				t.Errorf("cut at byte %d: %d rows, expected %d", at, r.Sinks[0].Rows, n)
			}
			continue
		}
		if r.State != "FAILED" || !strings.HasSuffix(r.Failure.RootCause.File, "o.csv") {
			t.Errorf("cut at byte %d: %s %+v", at, r.State, r.Failure)
		}
	}
}
