package json

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// slowElement is appendElement byte by byte.
func slowElement(dst, b []byte) (_ []byte, n int, whole bool) {
	depth, inside := 0, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inside && c == '\\':
			if i+1 < len(b) {
				dst = append(dst, c)
				i++
				if c = b[i]; c == '\n' {
					return append(dst, c), i + 1, true
				}
			}
		case inside && c == '"':
			if inside = false; depth == 0 {
				return append(dst, c), i + 1, true
			}
		case inside && c == '\n':
			return append(dst, c), i + 1, true
		case inside:
		case c == '"':
			inside = true
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			if depth--; depth == 0 {
				return append(dst, c), i + 1, true
			}
		case depth == 0 && bytes.IndexByte([]byte(",]} \t\r\n"), c) >= 0:
			return dst, i, true
		case c == '\n':
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst, len(b), false
}

// TestElement: an element is found eight bytes at a time as it is byte by byte.
func TestElement(t *testing.T) {
	parts := []string{`"`, `\`, `\"`, "{", "}", "[", "]", ",", ":", "\n", " ", "\t", "a", "text of some length", "12345", "é", "\x00", "\x80", "\xff", "z|y"}
	for seed := range uint64(20000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		b := []byte([]string{"", "{", "[", `{"a":`, `"`}[rng.IntN(5)])
		for range rng.IntN(40) {
			b = append(b, parts[rng.IntN(len(parts))]...)
		}
		got, n, whole := appendElement([]byte("x"), b)
		want, m, all := slowElement([]byte("x"), b)
		if !bytes.Equal(got, want) || n != m || whole != all {
			t.Fatalf("seed %d: %q: %q, %d, %v, expected %q, %d, %v", seed, b, got, n, whole, want, m, all)
		}
	}
}
