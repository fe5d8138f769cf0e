package columntext

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestParseWhole compares with arithmetic of any size: numbers around the ends of the ranges, written with
// points and exponents.
func TestParseWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		bits := []int{8, 16, 32, 64}[rng.IntN(4)]
		n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
		n.Add(n, big.NewInt(rng.Int64N(5)-2))
		if rng.IntN(2) == 0 {
			n.SetInt64(rng.Int64N(3000) - 1500)
		}
		if rng.IntN(2) == 0 {
			n.Neg(n)
		}
		text := n.String()
		cut := rng.IntN(len(text)) + 1
		zeros := fmt.Sprintf("%0*d", rng.IntN(4)+1, 0)
		switch rng.IntN(4) {
		case 0:
			text += "." + zeros
		case 1:
			text = text[:cut] + "." + text[cut:] + zeros + fmt.Sprintf("e%d", len(text)-cut)
		case 2:
			text = text[:cut] + "." + text[cut:] + fmt.Sprintf("E+%d", rng.IntN(25))
		}
		if text[0] == '-' && text[1] == '.' {
			continue
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		limit := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
		want := expr.OK
		switch {
		case !r.IsInt():
			want = expr.Fraction
		case r.Num().Cmp(limit) >= 0 || r.Num().Cmp(new(big.Int).Neg(limit)) < 0:
			want = expr.OutOfRange
		}
		v, s := ParseWhole([]byte(text), bits)
		if s != want || s == expr.OK && v != r.Num().Int64() {
			t.Fatalf("%s as %d bits: %d, %v; expected %v, %v", text, bits, v, s, r, want)
		}
	}
	for text, want := range map[string]expr.Status{
		"": expr.Empty, "1e": expr.Malformed, "e5": expr.Malformed, ".": expr.Malformed, "1.2.3": expr.Malformed, "0e99999999999999999999": expr.OK,
		"1e99999999999999999999": expr.OutOfRange, "1e-99999999999999999999": expr.Fraction, "1e5x": expr.Malformed, "--1e1": expr.Malformed, "0.0e-5": expr.OK,
	} {
		if _, s := ParseWhole([]byte(text), 64); s != want {
			t.Errorf("%q: %v, expected %v", text, s, want)
		}
	}
}
