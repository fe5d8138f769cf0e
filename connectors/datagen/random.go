package datagen

import (
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// A draw is a place in a column's random numbers: one of a row, from which as many more come as the row's
// value needs.
type draw uint64

// odd numbers far from each other, so that neighbouring rows and neighbouring draws share no pattern.
const (
	rowStep  = 0x9E3779B97F4A7C15
	drawStep = 0xD1342543DE82EF95
)

// mix spreads every bit of x over all of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// stream is the beginning of a column's random numbers; purpose sets apart what is drawn for one column.
func stream(seed int64, column, purpose string) uint64 {
	return mix(uint64(seed)*drawStep + xxhash.Sum64String(column+"\x00"+purpose))
}

// at is the draw of a row.
func at(stream uint64, row int64) draw { return draw(mix(stream + uint64(row)*rowStep)) }

// word is the k-th random number of the draw.
func (d draw) word(k uint64) uint64 { return mix(uint64(d) + k*drawStep) }

// below is a random number below n; below 2^64 where n is 0.
func (d draw) below(k, n uint64) uint64 {
	w := d.word(k)
	if n == 0 {
		return w
	}
	hi, _ := bits.Mul64(w, n)
	return hi
}

// unit is a random number from 0 to 1, without 1.
func (d draw) unit(k uint64) float64 { return float64(d.word(k)>>11) / (1 << 53) }

// A zipf draws ranks from 1 to n, rank k with a share of k^-s. It inverts the integral of x^-s and throws
// away what lies above the steps (Hörmann and Derflinger, 1996), so it needs no table however large n is.
type zipf struct {
	n, s          float64
	first, last   float64 // the integral at 1.5, less the first rank's share, and at n + 0.5
	nearestAccept float64
}

func newZipf(n uint64, s float64) zipf {
	z := zipf{n: float64(n), s: s}
	z.first, z.last = z.integral(1.5)-1, z.integral(z.n+0.5)
	z.nearestAccept = 2 - z.inverse(z.integral(2.5)-z.share(2))
	return z
}

func (z zipf) share(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

func (z zipf) integral(x float64) float64 {
	l := math.Log(x)
	if t := (1 - z.s) * l; math.Abs(t) > 1e-8 {
		return math.Expm1(t) / (1 - z.s)
	}
	return l
}

func (z zipf) inverse(y float64) float64 {
	if t := (1 - z.s) * y; math.Abs(t) > 1e-8 {
		return math.Exp(math.Log1p(math.Max(t, -1)) / (1 - z.s))
	}
	return math.Exp(y)
}

// rank draws one.
func (z zipf) rank(d draw) uint64 {
	for k := uint64(0); ; k++ {
		u := z.last + float64(d.unit(k)*(z.first-z.last))
		x := z.inverse(u)
		r := math.Min(math.Max(math.Floor(x+0.5), 1), z.n)
		if r-x <= z.nearestAccept || u >= z.integral(r+0.5)-z.share(r) {
			return uint64(r)
		}
	}
}
