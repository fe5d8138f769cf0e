package parquet

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestFloat16 holds every one of the 65536 values against the definition of IEEE 754: below 2^-14 they are subnormal.
func TestFloat16(t *testing.T) {
	for bits := range 1 << 16 {
		var b [2]byte
		binary.LittleEndian.PutUint16(b[:], uint16(bits))
		got, bad := fromFloat16(b[:])
		if bad != nil {
			t.Fatalf("%#04x: %v", bits, bad)
		}
		exponent, fraction := bits>>10&31, float64(bits&1023)
		want := math.Ldexp(1024+fraction, exponent-25)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if bits>>15 == 1 {
			want = -want
		}
		if math.IsNaN(want) && math.IsNaN(got) {
			continue
		}
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%#04x: got %v, want %v", bits, got, want)
		}
	}
}
