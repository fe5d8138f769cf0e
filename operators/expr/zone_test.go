package expr

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestZoneBothWays: the local time of an instant is the local time of the instant found for it, which is the
// instant itself or the earlier of two, and what lies at the ends of the range is found in time too.
func TestZoneBothWays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, name := range []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia", "+18:00", "-18:00"} {
		z, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20000 {
			v := r.Int64() >> r.IntN(20) * (1 - 2*r.Int64N(2))
			if i%2 == 0 {
				v = r.Int64N(200*365*microsPerDay) - 100*365*microsPerDay
			}
			back(t, z, name, v)
		}
		for _, v := range []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 26*microsPerHour, math.MaxInt64 - 26*microsPerHour, 0} {
			back(t, z, name, v)
			z.instant(v)
		}
	}
}

func back(t *testing.T, z *Zone, name string, v int64) {
	t.Helper()
	days, micros := z.clock(v)
	local, ok := microsAt(days, micros)
	if !ok {
		return
	}
	got, what := z.instant(local)
	if d, m := z.clock(got); what != localOnce || got > v || d != days || m != micros {
		t.Fatalf("%s: %d is day %d, %d µs, and that is %d (%d)", name, v, days, micros, got, what)
	}
}
