package parquet

import (
	"math"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A rowRange is rows of a row group, from to to-1.
type rowRange struct{ from, to int64 }

// inGap is for how many rows from where the reader stands on no row passes.
func (r *reader) inGap() int64 {
	for len(r.gaps) > 0 && r.gaps[0].to <= r.at {
		r.gaps = r.gaps[1:]
	}
	if len(r.gaps) == 0 || r.gaps[0].from > r.at {
		return 0
	}
	return r.gaps[0].to - r.at
}

// toGap is how many rows there are to the next gap.
func (r *reader) toGap() int64 {
	if len(r.gaps) == 0 {
		return math.MaxInt64
	}
	return r.gaps[0].from - r.at
}

// gapsOf finds the rows of a group of which none passes the filter, by what the page indexes say of the
// filter's columns. Their pages need not begin at the same rows, so it looks at each stretch of rows that
// lies within one page of each column.
func (r *reader) gapsOf(group int) ([]rowRange, error) {
	p := r.pruner
	if p == nil || group >= len(p.stats) {
		return nil, nil
	}
	rows := r.doc.meta.RowGroup(group).NumRows()
	pages := make([][]pageSpan, r.first)
	cuts := []int64{0, rows}
	for i, c := range r.cols[:r.first] {
		list, err := r.pagesOf(group, c, rows)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			list = []pageSpan{{span: p.groupSpan(group, c, rows).portion(rows)}}
		}
		for _, page := range list {
			cuts = append(cuts, page.from)
		}
		pages[i] = list
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if len(cuts) <= 2 {
		return nil, nil
	}
	spans := make([][]span, r.first)
	for i, list := range pages {
		at := 0
		for _, from := range cuts[:len(cuts)-1] {
			for at+1 < len(list) && list[at+1].from <= from {
				at++
			}
			spans[i] = append(spans[i], list[at].span)
		}
	}
	var gaps []rowRange
	for _, k := range r.none(spans, portionRows, connectors.OfPages) {
		if n := len(gaps); n > 0 && gaps[n-1].to == cuts[k] {
			gaps[n-1].to = cuts[k+1]
		} else {
			gaps = append(gaps, rowRange{cuts[k], cuts[k+1]})
		}
	}
	return gaps, nil
}

// portionRows stands for the rows of a stretch of a page: of its NULLs only none, some and all are told
// apart, as 0, 1 and 2.
const portionRows = 2

// portion is what a page's span says of some of its rows.
func (s span) portion(rows int64) span {
	switch {
	case s.nulls > 0 && s.nulls < rows:
		s.nulls = 1
	case s.nulls == rows:
		s.nulls = portionRows
	}
	return s
}

// A pageSpan is what the page index says of the page that begins at a row of its group.
type pageSpan struct {
	from int64
	span
}

// pagesOf reads the page index of a column in a row group, none where there is none, or where it
// contradicts itself.
func (r *reader) pagesOf(group int, c *fileColumn, rows int64) ([]pageSpan, error) {
	if c.nested != nil || c.absent || c.leaf.index >= len(r.pruner.stats[group]) {
		return nil, nil
	}
	at := r.pruner.stats[group][c.leaf.index].index
	offsets, err := r.doc.indexBytes(at.offsetAt, at.offsetSize)
	if err != nil || offsets == nil {
		return nil, err
	}
	columns, err := r.doc.indexBytes(at.columnAt, at.columnSize)
	if err != nil || columns == nil {
		return nil, err
	}
	firsts, stats := readOffsetIndex(offsets), readColumnIndex(columns)
	if len(firsts) != len(stats) || len(firsts) == 0 || firsts[0].from != 0 {
		r.ignore(c.Name, connectors.OfRowGroups, indexIsWrong)
		return nil, nil
	}
	list := make([]pageSpan, len(firsts))
	for i, place := range firsts {
		from, to := place.from, rows
		if i+1 < len(firsts) {
			to = firsts[i+1].from
		}
		if to <= from || to > rows {
			r.ignore(c.Name, connectors.OfRowGroups, indexIsWrong)
			return nil, nil
		}
		if s := &stats[i]; !s.hasLeast { // a page of NULLs
			s.nulls = to - from
		}
		list[i] = pageSpan{from, c.decoder.span(stats[i], to-from).portion(to - from)}
		r.ignore(c.Name, connectors.OfPages, list[i].why)
	}
	return list, nil
}

// indexBytes reads a page index, nil where there is none at such a place.
func (d *document) indexBytes(at, size int64) ([]byte, error) {
	if size <= 0 || size > maxPage || at < int64(len(magic)) || at > d.Size()-tailSize-size {
		return nil, nil
	}
	b := make([]byte, size)
	return b, d.readAt(b, at)
}

// readOffsetIndex gives the place of each page, nil where that cannot be decoded.
func readOffsetIndex(b []byte) []pagePlace {
	t := thrift{rest: b}
	var places []pagePlace
	t.structure(0, func(id int, kind byte) bool {
		if id != 1 || kind != thriftList {
			return false
		}
		t.list(0, func() {
			p := pagePlace{from: -1}
			t.structure(1, func(id int, kind byte) bool {
				switch {
				case id == 1 && kind == thriftInt64:
					p.offset = t.int64()
				case id == 2 && kind == thriftInt32:
					p.size = int64(t.int32())
				case id == 3 && kind == thriftInt64:
					p.from = t.int64()
				default:
					return false
				}
				return true
			})
			places = append(places, p)
		})
		return true
	})
	if t.bad {
		return nil
	}
	return places
}

// readColumnIndex gives what is said of each page, nil where that cannot be decoded or its lists do not
// have one length. A page of NULLs has no bounds.
func readColumnIndex(b []byte) []chunkStats {
	t := thrift{rest: b}
	var void []bool
	var least, most [][]byte
	var nulls []int64
	t.structure(0, func(id int, kind byte) bool {
		if kind != thriftList {
			return false
		}
		switch id {
		case 1:
			t.items(func() { void = append(void, t.byte() == thriftTrue) })
		case 2:
			t.items(func() { least = append(least, t.binary()) })
		case 3:
			t.items(func() { most = append(most, t.binary()) })
		case 5:
			t.items(func() { nulls = append(nulls, t.int64()) })
		default:
			return false
		}
		return true
	})
	n := len(void)
	if t.bad || len(least) != n || len(most) != n || nulls != nil && len(nulls) != n {
		return nil
	}
	list := make([]chunkStats, n)
	for i := range list {
		list[i] = chunkStats{nulls: -1}
		if nulls != nil {
			list[i].nulls = nulls[i]
		}
		if !void[i] {
			list[i].least, list[i].most, list[i].hasLeast, list[i].hasMost = least[i], most[i], true, true
		}
	}
	return list
}

// items visits the elements of a list; each is to be read by item.
func (t *thrift) items(item func()) {
	n := uint64(t.byte() >> 4)
	if n == 15 {
		n = t.varint()
	}
	if n > uint64(len(t.rest)) {
		t.bad = true
	}
	for ; n > 0 && !t.bad; n-- {
		item()
	}
}
