package infer

import (
	"fmt"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestPieces: a sample has the beginnings of files, lies spread up to the last byte, keeps to its budget,
// and its pieces lie inside the files in their order.
func TestPieces(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		files  []Extent
		budget int64
		whole  bool
	}{
		"small":       {[]Extent{{Bytes: 10}, {}, {Bytes: 20}}, mib, true},
		"exact":       {[]Extent{{Bytes: mib}}, mib, true},
		"large":       {[]Extent{{Bytes: 1 << 30}}, Budget, false},
		"two":         {[]Extent{{Bytes: 100 * mib}, {Bytes: 10}}, Budget, false},
		"many":        {many(1000, 5*mib), Budget, false},
		"many, small": {many(5000, 20<<10), Budget, false},
		"tiny budget": {[]Extent{{Bytes: 1000}, {Bytes: 1000}}, 100, true},
		"packed":      {[]Extent{{Bytes: 100 * mib, InOrder: true}, {Bytes: 3 * mib, InOrder: true}}, Budget, false},
		"all packed":  {[]Extent{{Bytes: 1000, InOrder: true}}, Budget, false},
		"mixed":       {[]Extent{{Bytes: 100 * mib, InOrder: true}, {Bytes: 300 * mib}}, Budget, false},
	} {
		list := Pieces(c.files, c.budget)
		var sum, last int64
		seen := map[int]bool{}
		all := true
		for i, p := range list {
			e := c.files[p.File]
			if p.At < 0 || !e.InOrder && p.At+p.Bytes > e.Bytes || i > 0 && p.File < list[i-1].File {
				t.Errorf("%s: piece %d %+v of %+v", name, i, p, e)
			}
			if i > 0 && p.File == list[i-1].File && p.At < list[i-1].At+list[i-1].Bytes {
				t.Errorf("%s: pieces %+v and %+v", name, list[i-1], p)
			}
			if p.Whole != (!e.InOrder && p.Bytes == e.Bytes) {
				t.Errorf("%s: %+v is whole", name, p)
			}
			sum += p.Bytes
			all = all && p.Whole
			seen[p.File] = true
			if p.File == len(c.files)-1 {
				last = p.At + p.Bytes
			}
		}
		if all != c.whole {
			t.Errorf("%s: whole is %t", name, all)
		}
		if most := max(2*c.budget, int64(len(c.files))*leastHead); sum > most {
			t.Errorf("%s: %d bytes of a budget of %d", name, sum, c.budget)
		}
		if end := c.files[len(c.files)-1]; !end.InOrder && last != end.Bytes && c.budget > pieceSize {
			t.Errorf("%s: the sample ends at byte %d of %d", name, last, end.Bytes)
		}
		if want := min(len(c.files), mostHeads); len(seen) < want {
			t.Errorf("%s: %d files are looked at, expected %d", name, len(seen), want)
		}
		if again := Pieces(c.files, c.budget); fmt.Sprint(again) != fmt.Sprint(list) {
			t.Errorf("%s: another sample", name)
		}
	}
}

func many(n int, bytes int64) []Extent {
	list := make([]Extent, n)
	for i := range list {
		list[i].Bytes = bytes
	}
	return list
}

// TestFit: what a type was inferred from fits it, and what would lose something does not.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		seen     []string
		want     string
		fits     []string
		fitsNot  []string
		whenDone string // the type when nothing else can come; "" = want
	}{
		{[]string{"1", "-20"}, "BIGINT", []string{"0", "-7", "9223372036854775807"}, []string{"01", "+1", "1.0", "", " 1", "1e3", "x"}, ""},
		{[]string{"1.5", "2"}, "DECIMAL(18, 1)", []string{"3", "-0.5", ".5", "12345.6"}, []string{"1.55", "01.5", "1e3", "NaN", "1,5"}, ""},
		{[]string{"true", "FALSE"}, "BOOLEAN", []string{"True"}, []string{"1", "yes", "t"}, ""},
		{[]string{"2024-01-02"}, "DATE", []string{"1999-12-31"}, []string{"2024-01-02 10:00", "2024-1-2", "2024-02-30"}, ""},
		{[]string{"2024-01-02 10:00"}, "TIMESTAMP(6)", []string{"2024-01-02", "2024-01-02T10:00:01.123456"}, []string{"2024-01-02 10:00:00.1234567", "2024-01-02 10:00Z"}, "TIMESTAMP(0)"},
		{[]string{"1e3", "2.5", "nan"}, "DOUBLE", []string{"1", "-Infinity", "0.1"}, []string{"007", "x", "1e999"}, ""},
		{[]string{"x"}, "STRING", []string{"", "1"}, nil, ""},
	} {
		var col Column
		for i, v := range c.seen {
			col.Add([]byte(v), int64(i))
		}
		typ := col.Judge(false).Type
		if typ.String() != c.want {
			t.Errorf("%q: %s, expected %s", c.seen, typ, c.want)
		}
		if c.whenDone == "" {
			c.whenDone = c.want
		}
		if got := col.Judge(true).Type.String(); got != c.whenDone {
			t.Errorf("%q, and no more: %s, expected %s", c.seen, got, c.whenDone)
		}
		f := NewFit(typ, Rules{})
		for _, v := range append(c.seen, c.fits...) {
			if !f.Fits([]byte(v)) {
				t.Errorf("%q does not fit %s", v, typ)
			}
		}
		for _, v := range c.fitsNot {
			if f.Fits([]byte(v)) {
				t.Errorf("%q fits %s", v, typ)
			}
		}
	}
}

// TestOdd: one value in the way is named, with the type the others have.
func TestOdd(t *testing.T) {
	var c Column
	for i := range 5000 {
		v := fmt.Sprintf("%d.%02d", i, i%100)
		if i == 4711 || i == 4800 {
			v = "12,50"
		}
		c.Add([]byte(v), int64(i+2))
	}
	v := c.Judge(true)
	if v.Type.Kind != expr.String || v.OddCount != 2 || v.Odd.Line != 4713 || v.Odd.Text != "12,50" || v.Almost.String() != "DECIMAL(18, 2)" {
		t.Errorf("%+v odd %+v", v, v.Odd)
	}
}
