package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// Of a column chunk in which the filter passes over rows only the pages are read that have other rows, by the
// places that the page index says; runs of bytes that are near each other are read at once. The pages stand behind one
// another in memory as in the file, and rows between them are holes, which are passed over with the rows around them.

// nearBytes is how many bytes between two pages are read along with them: a read costs more than they do.
const nearBytes = 32 << 10

// A pagePlace is where a page stands, by the page index: in the file with its header, and from which row of the
// group on.
type pagePlace struct{ offset, size, from int64 }

// A pagePlan is which pages of a chunk are read.
type pagePlan struct {
	head    int64       // bytes before the first data page: the dictionary
	pages   []pagePlace // to read, in order
	to      []int64     // row behind the last of each
	ends    []int       // where each ends among the bytes
	dropped int64       // pages
	start   int64       // of the chunk in the file
}

// plan makes the plan of a chunk of start and size in the file, nil where all of it is read: no page lies in the gaps
// as a whole, or the places are none that the chunk can have.
func plan(places []pagePlace, gaps []rowRange, rows, start, size int64) (p *pagePlan, ok bool) {
	if len(places) == 0 || places[0].from != 0 {
		return nil, false
	}
	p = &pagePlan{start: start, head: places[0].offset - start}
	at, end := places[0].offset, p.head
	for i, x := range places {
		to := rows
		if i+1 < len(places) {
			to = places[i+1].from
		}
		if p.head < 0 || x.offset != at || x.size <= 0 || x.size > start+size-at || to <= x.from || to > rows {
			return nil, false
		}
		at += x.size
		if inGaps(gaps, x.from, to) {
			p.dropped++
			continue
		}
		end += x.size
		p.pages, p.to, p.ends = append(p.pages, x), append(p.to, to), append(p.ends, int(end))
	}
	if p.dropped == 0 {
		return nil, true
	}
	return p, true
}

// indexOf is where the page index of a column in a row group is, nowhere where that is not known.
func (p *pruner) indexOf(group, leaf int) pageIndex {
	if p == nil || group >= len(p.stats) || leaf >= len(p.stats[group]) {
		return pageIndex{}
	}
	return p.stats[group][leaf].index
}

// inGaps reports whether rows lie within one gap.
func inGaps(gaps []rowRange, from, to int64) bool {
	return slices.ContainsFunc(gaps, func(g rowRange) bool { return g.from <= from && to <= g.to })
}

// load reads the planned bytes into memory, and says how many were read for it.
func (p *pagePlan) load(d *document, raw []byte) (_ []byte, read int64, err error) {
	type run struct{ from, to int64 } // in the file
	var runs []run
	add := func(from, size int64) {
		if n := len(runs); n > 0 && from-runs[n-1].to <= nearBytes {
			runs[n-1].to = from + size
		} else if size > 0 {
			runs = append(runs, run{from, from + size})
		}
	}
	add(p.start, p.head)
	for _, x := range p.pages {
		add(x.offset, x.size)
	}
	for _, r := range runs {
		read += r.to - r.from
	}
	raw = grown(raw, int(read))
	next, into, base := 0, 0, 0 // page, where it belongs, and where the run stands
	if p.head > 0 {
		into = int(p.head)
	}
	for _, r := range runs {
		b := raw[base : base+int(r.to-r.from)]
		if err := d.readAt(b, r.from); err != nil {
			return raw, read, err
		}
		for ; next < len(p.pages) && p.pages[next].offset+p.pages[next].size <= r.to; next++ {
			x := p.pages[next]
			into += copy(raw[into:], b[x.offset-r.from:x.offset-r.from+x.size])
		}
		base += len(b)
	}
	return raw[:into], read, nil
}

// check is checkPages for the pages of a plan: each has to be where the page index says, with its rows.
func (p *pagePlan) check(b []byte) error {
	size := len(b)
	for n, dictionary := 0, false; len(b) > 0; {
		h, body, rest, err := nextPage(b)
		if err != nil {
			return fmt.Errorf("page %d of those read: %w", n, err)
		}
		b = rest
		if h.hasCRC && crc32.ChecksumIEEE(body) != uint32(h.crc) {
			return fmt.Errorf("page %d of those read: its checksum does not match", n)
		}
		at := size - len(b)
		switch {
		case h.kind == dictionaryPage && n == 0 && !dictionary && at == int(p.head):
			dictionary = true
			continue
		case h.kind != dataPage && h.kind != dataPageV2 || n == 0 && p.head > 0 && !dictionary:
			return fmt.Errorf("page %d of those read is of kind %d, which is not what the page index says", n, h.kind)
		case n >= len(p.ends) || at != p.ends[n] || int64(h.values) != p.to[n]-p.pages[n].from:
			return fmt.Errorf("page %d of those read has %d rows and ends elsewhere than the page index says, or has other rows", n, h.values)
		}
		n++
	}
	return nil
}

// A loading is what a column read of its chunks and the books do not have yet.
type loading struct {
	read, pruned, pages int64     // bytes, bytes passed over, pages passed over
	of                  *document // whose chunk of a row group was counted last
	group               int
}

// count books the reading of a chunk of a size, of which so many bytes were read. A chunk that is read again, since
// it is decoded in another way, counts once.
func (l *loading) count(c *chunk, size, read int64) {
	if l.of == c.doc && l.group == c.group {
		return
	}
	l.of, l.group = c.doc, c.group
	read = min(read, size)
	l.read += read
	if c.plan != nil {
		l.pruned += size - read
		l.pages += c.plan.dropped
	}
}

// settle takes over what the columns counted.
func (r *reader) settle() {
	if r.docFile == 0 || r.src.Files[r.docFile-1].Only != nil {
		return
	}
	t := r.tally(r.docFile)
	for _, c := range r.cols {
		rooms := []*room{&c.room}
		if c.nested != nil {
			for _, l := range c.nested.leaves {
				rooms = append(rooms, &l.room)
			}
		}
		for _, m := range rooms {
			l := &m.loaded
			t.ReadBytes += l.read
			if l.pages > 0 {
				p := r.pruning()
				p.Bytes += l.pruned
				p.Pages += l.pages
			}
			l.read, l.pruned, l.pages = 0, 0, 0
		}
	}
}

var errHole = errors.New("rows are asked for that were passed over")

// hole is how many rows lie between the row that comes next, at the beginning of a page, and that page.
func (c *chunk) hole() int64 {
	if c.plan == nil || c.left > 0 {
		return 0
	}
	i := c.planned()
	if i == len(c.plan.pages) {
		return c.rows - c.next
	}
	return c.plan.pages[i].from - c.next
}

// planned is which page comes next.
func (c *chunk) planned() int {
	done := 0
	if n := len(c.plan.ends); n > 0 {
		done = c.plan.ends[n-1] - len(c.rest)
	}
	i, _ := slices.BinarySearch(c.plan.ends, done+1)
	return i
}

// passed notes that rows of a page that was cut off come next.
func (c *chunk) passed(h pageHeader) error {
	if c.plan == nil || h.kind == dictionaryPage {
		return nil
	}
	if c.hole() != 0 {
		return errHole
	}
	c.next += int64(h.values)
	return nil
}

// planPages finds out which pages of the column's chunk are read, nil for all of them.
func (c *fileColumn) planPages(d *document, group int) (*pagePlan, error) {
	if len(c.gaps) == 0 || c.nested != nil || c.absent {
		return nil, nil
	}
	index := c.reader.pruner.indexOf(group, c.leaf.index)
	b, err := d.indexBytes(index.offsetAt, index.offsetSize)
	if err != nil || b == nil {
		return nil, err
	}
	g := d.meta.RowGroup(group)
	m, err := g.ColumnChunk(c.leaf.index)
	if err != nil {
		return nil, d.damaged("the footer's row groups cannot be decoded", err)
	}
	p, ok := plan(readOffsetIndex(b), c.gaps, g.NumRows(), chunkStart(m), m.TotalCompressedSize())
	if !ok {
		c.reader.ignore(c.Name, connectors.OfRowGroups, indexIsWrong)
	}
	return p, nil
}
