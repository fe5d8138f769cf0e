package table

// widen makes a level's pages reach over the values of a chunk's rows. Without ok the range is too
// wide, or there is no memory.
func (c *dense) widen(t *Table, l *level, first *keyColumn, r rows) bool {
	if l.col < 0 {
		if l.pages == nil {
			l.pages = make([][]uint32, 1)
			return t.acc.grow(pageSize) == nil
		}
		return true
	}
	k := &r.cols[l.col]
	if k.codes != nil {
		return c.grow(t, l, k.dict.Len()+1)
	}
	lo, hi, some := k.bounds(r)
	if !some {
		return c.grow(t, l, 1)
	}
	if len(l.pages) <= 1 {
		l.base = lo
	}
	top := max(hi, l.base+int64(len(l.pages))-2)
	if lo < l.base {
		if uint64(top-lo) >= maxWindow {
			return false
		}
		return c.lower(t, l, lo, int(top-lo)+2)
	}
	if uint64(hi-l.base) >= maxWindow {
		return false
	}
	return c.grow(t, l, int(hi-l.base)+2)
}

// bounds are the least and greatest value of the rows that are not NULL.
func (c *keyColumn) bounds(r rows) (lo, hi int64, some bool) {
	var buf [chunk]int64
	vs := buf[:r.to-r.from]
	c.ints(r, vs)
	nulls := c.nulls()
	for i, v := range vs {
		if nulls && c.null(r.at(i)) {
			continue
		}
		if !some {
			lo, hi, some = v, v, true
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi, some
}

// grow gives a level n pages.
func (c *dense) grow(t *Table, l *level, n int) bool {
	if n <= len(l.pages) {
		return true
	}
	if n > maxWindow+2 {
		return false
	}
	pages, err := resize(&t.acc, l.pages, n, pageSize)
	if err != nil {
		return false
	}
	l.pages = pages[:n]
	return true
}

// lower moves a level's pages up so that they begin at base, and gives it n of them.
func (c *dense) lower(t *Table, l *level, base int64, n int) bool {
	by := int(l.base - base)
	old := len(l.pages)
	if !c.grow(t, l, max(n, old+by)) {
		return false
	}
	copy(l.pages[1+by:], l.pages[1:old])
	clear(l.pages[1 : 1+by])
	l.base = base
	return true
}

// places writes the page of each row: its value - base + 1, 0 for NULL.
func (l *level) places(r rows, out []uint32) {
	if l.col < 0 {
		clear(out)
		return
	}
	k := &r.cols[l.col]
	if k.codes != nil {
		k.codeNumbers(r, out)
		return
	}
	var buf [chunk]int64
	vs := buf[:len(out)]
	k.ints(r, vs)
	nulls := k.nulls()
	for i, v := range vs {
		out[i] = uint32(v-l.base) + 1
		if nulls && k.null(r.at(i)) {
			out[i] = 0
		}
	}
}

// step replaces each number by the level's number for it and the row's value.
func (c *dense) step(t *Table, l *level, r rows, nums []uint32) bool {
	var buf [chunk]uint32
	at := buf[:len(nums)]
	l.places(r, at)
	for i, n := range nums {
		p := l.pages[at[i]]
		if int(n) < len(p) && p[n] != 0 {
			nums[i] = p[n]
			continue
		}
		p, ok := c.page(t, l, at[i], n)
		if !ok {
			return false
		}
		l.next++
		p[n] = l.next
		nums[i] = l.next
	}
	return true
}

// finish turns numbers into slots through the last level, asking the index for all rows of the chunk
// at once whose cells are empty.
func (c *dense) finish(t *Table, l *level, r rows, nums, slots []uint32) (bool, error) {
	if l.col < 0 {
		return c.single(t, l, r, nums, slots)
	}
	var buf [chunk]uint32
	at := buf[:len(nums)]
	l.places(r, at)
	missing := c.missing[:0]
	for i, n := range nums {
		p := l.pages[at[i]]
		if int(n) < len(p) && p[n] != 0 {
			slots[i] = p[n] - 1
			continue
		}
		missing = append(missing, int32(i))
	}
	c.missing = missing
	if len(missing) == 0 {
		return true, nil
	}
	return c.misses(t, l, r, at, nums, slots)
}

// misses asks the table's index for the rows of a chunk that are missing, and remembers their slots.
func (c *dense) misses(t *Table, l *level, r rows, at, nums, slots []uint32) (bool, error) {
	if c.sel == nil {
		c.sel, c.found = make([]int32, chunk), make([]uint32, chunk)
	}
	n := len(c.missing)
	sel, found := c.sel[:n], c.found[:n]
	for j, i := range c.missing {
		sel[j] = int32(r.at(int(i)))
	}
	if err := t.index.lookup(t, rows{cols: r.cols, sel: sel, to: n}, found, true); err != nil {
		return false, err
	}
	for j, i := range c.missing {
		slots[i] = found[j]
		p, ok := c.page(t, l, at[i], nums[i])
		if !ok {
			return false, nil
		}
		p[nums[i]] = found[j] + 1
	}
	return true, nil
}

// single is finish for one key column, whose numbers are found in one page.
func (c *dense) single(t *Table, l *level, r rows, nums, slots []uint32) (bool, error) {
	p := l.pages[0]
	slots = slots[:len(nums)]
	for i, n := range nums {
		if int(n) < len(p) {
			if s := p[n]; s != 0 {
				slots[i] = s - 1
				continue
			}
		}
		ok, err := c.miss(t, l, r, i, 0, n, slots)
		if !ok || err != nil {
			return ok, err
		}
		p = l.pages[0]
	}
	return true, nil
}

// miss asks the table's index for one row and remembers its slot.
func (c *dense) miss(t *Table, l *level, r rows, i int, at, n uint32, slots []uint32) (bool, error) {
	one := r.part(r.from+i, r.from+i+1)
	if err := t.index.lookup(t, one, slots[i:i+1], true); err != nil {
		return false, err
	}
	p, ok := c.page(t, l, at, n)
	if !ok {
		return false, nil
	}
	p[n] = slots[i] + 1
	return true, nil
}

// page is a level's page with room for number n.
func (c *dense) page(t *Table, l *level, at, n uint32) ([]uint32, bool) {
	p := l.pages[at]
	if int(n) < len(p) {
		return p, true
	}
	size := max(2*len(p), 64)
	for size <= int(n) {
		size *= 2
	}
	if c.cells+size > maxCells || t.acc.grow(int64(size)*cellSize) != nil {
		return nil, false
	}
	bigger := make([]uint32, size)
	copy(bigger, p)
	t.acc.shrink(int64(len(p)) * cellSize)
	c.cells += size - len(p)
	l.pages[at] = bigger
	return bigger, true
}
