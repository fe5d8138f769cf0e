package csv

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// randomCSV is a text that often keeps to the dialect and sometimes does not.
func randomCSV(rng *rand.Rand) []byte {
	var b bytes.Buffer
	plain := []string{"1", "0", "-7", "12345678", "123456789012", "3.5", "-0.25", ".5", "5.", "x", "é", "", "", "NULL", "2024-02-29", "2024-02-29 10:11:12", "2024-02-29T10:11:12.123456", "true", " 4 ", "99999999999999999999", "a long text of more than sixteen bytes", "\r", "5\" pipe", "6\"", "x\"\"y", " \"q\""}
	inside := []string{"a", "\n", ",", "\"\"", "\r\n", "1", "x,y\n", "\n1,2\n3,4\n"}
	fields := 1 + rng.IntN(4)
	ends := []string{"\n", "\r\n"}[rng.IntN(2)]
	faults := rng.IntN(3) == 0
	quotes := rng.IntN(3)
	simple := rng.IntN(2) == 0
	for range rng.IntN(40) {
		for k := range fields {
			if k > 0 {
				b.WriteByte(',')
			}
			switch {
			case k == 0 && rng.IntN(10) > 0:
				b.WriteString(plain[rng.IntN(5)])
			case rng.IntN(3) < quotes:
				b.WriteByte('"')
				for range rng.IntN(6) {
					b.WriteString(inside[rng.IntN(len(inside))])
				}
				b.WriteByte('"')
			case simple:
				b.WriteString(plain[rng.IntN(4)])
			default:
				b.WriteString(plain[rng.IntN(len(plain))])
			}
			if faults && rng.IntN(40) == 0 {
				b.WriteString([]string{"\"", ",", "\"x", "\n", "\xff", "\r"}[rng.IntN(6)])
			}
		}
		b.WriteString(ends)
		if rng.IntN(30) == 0 {
			b.WriteString("\n")
		}
	}
	out := b.Bytes()
	if rng.IntN(3) == 0 && len(out) > 0 {
		out = out[:len(out)-1]
	}
	return out
}

// TestRandom compares reader and oracle on many small files.
func TestRandom(t *testing.T) {
	dir := t.TempDir()
	n := uint64(300)
	if testing.Short() {
		n = 100
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 7))
		data := randomCSV(rng)
		split, read := 1+rng.Int64N(200), 1+rng.Int64N(100)
		if !t.Run("", func(t *testing.T) { compare(t, dir, data, rng.Uint64(), split, read) }) {
			t.Fatalf("seed %d, splits of %d, reads of %d bytes:\n%q", seed, split, read, data)
		}
	}
}

// TestBlockEdges moves quotes, delimiters and line ends over the edges of the scanner's blocks.
func TestBlockEdges(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []string{
		"1,\"a\"\n2,b\n", "1,\"a\"x\n2,b\n", "1,\"a\"\r\n2,\"b\"\r\n", "1,\"a\"\rx\n", "1,\"a\"\"b\"\n2,\"\"\n", "1,a\"b\n2,c\n", "1,\"\n\n\n", "\"1\",\"\n\"\n3,\"\"\"\"\n",
		"1,\"a\" \n2,\"b\"\n", "12345678,9\n", "\n\n1,2\n\n",
	} {
		for pad := range 70 {
			data := append(bytes.Repeat([]byte("0"), pad), ",z\n"...)
			data = append(append(data, s...), s...)
			if !t.Run("", func(t *testing.T) { compare(t, dir, data, uint64(pad)*977, 1<<20, 1<<10) }) {
				t.Fatalf("pad %d: %q", pad, s)
			}
		}
	}
}
