package expr

import (
	"cmp"
	"slices"
)

// A TryCast is for how many rows a TRY_CAST gave NULL for one reason. A row whose value was NULL before is
// not among them.
type TryCast struct {
	Expression string `json:"expression"` // "TRY_CAST(qty AS INT)"
	Reason     string `json:"reason"`     // a word of [Status.Reason]
	Rows       int64  `json:"rows"`
}

// Reason is the status as one stable word, for counters; "" for OK.
func (s Status) Reason() string {
	switch s {
	case OK:
		return ""
	case Empty:
		return "empty"
	case OutOfRange:
		return "out-of-range"
	case Fraction:
		return "fraction"
	case Zoned:
		return "time-zone"
	case Skipped:
		return "skipped-time"
	case NotUTF8:
		return "not-utf8"
	}
	return "malformed"
}

// TryCasts counts the rows for which TRY_CAST gave NULL, over the programs of one operator. A row counts once
// per expression, however often it stands in them: which programs an expression is in is the optimizer's
// choice. A TRY_CAST of constants alone is not counted, since no row is at fault. The zero TryCasts counts
// nothing until it watches a program. It belongs to the goroutine of its programs.
type TryCasts struct{ all []*tried }

// A tried is one expression and what is counted for it.
type tried struct {
	expression string
	rows       [NotUTF8 + 1]int64
	seen       []uint64 // rows of this batch that are counted
	dirty      bool     // seen has some
}

// A miss is a NULL given for an entry of a dictionary.
type miss struct {
	tried *tried
	why   Status
}

// Watch counts what a program's TRY_CASTs give NULL for, from now on.
func (t *TryCasts) Watch(p *Program) {
	if p != nil {
		t.watch(p.root)
	}
}

func (t *TryCasts) watch(nd *node) {
	for _, a := range nd.args {
		t.watch(a)
	}
	if nd.e.Op != OpTryCast || nd.constant {
		return
	}
	text := nd.e.String()
	at := slices.IndexFunc(t.all, func(x *tried) bool { return x.expression == text })
	if at < 0 {
		at = len(t.all)
		t.all = append(t.all, &tried{expression: text})
	}
	nd.tried = t.all[at]
}

// Begin says that the programs go on to another batch, whose rows have not been counted.
func (t *TryCasts) Begin() {
	for _, x := range t.all {
		if x.dirty {
			clear(x.seen)
			x.dirty = false
		}
	}
}

// Counts is what was counted so far, by expression and reason in alphabetical order; nil for nothing.
func (t *TryCasts) Counts() []TryCast {
	var out []TryCast
	for _, x := range t.all {
		for s, n := range x.rows {
			if n > 0 {
				out = append(out, TryCast{Expression: x.expression, Reason: Status(s).Reason(), Rows: n})
			}
		}
	}
	slices.SortFunc(out, func(a, b TryCast) int {
		return cmp.Or(cmp.Compare(a.Expression, b.Expression), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// at counts a row of the batch, unless it is counted already.
func (x *tried) at(row int, why Status) {
	w, bit := row>>6, uint64(1)<<(row&63)
	if w >= len(x.seen) {
		x.seen = append(x.seen, make([]uint64, w+1-len(x.seen))...)
	}
	if x.seen[w]&bit != 0 {
		return
	}
	x.seen[w] |= bit
	x.dirty = true
	x.rows[why]++
}

// missed notes that a TRY_CAST gives NULL for a row of c: of the batch, or an entry of a dictionary that
// stands for the rows which have it.
func (c *ctx) missed(nd *node, row int, why Status) {
	switch {
	case nd.tried == nil:
	case c.learning != nil:
		c.learning.miss(c.entry+row, miss{nd.tried, why})
	default:
		nd.tried.at(row, why)
	}
}

// miss keeps what was missed for an entry, -1 for NULL.
func (m *memo) miss(entry int, x miss) {
	for len(m.misses) <= entry+1 {
		m.misses = append(m.misses, nil)
	}
	m.misses[entry+1] = append(m.misses[entry+1], x)
}

// countMisses counts the selected rows whose entries were missed.
func (m *memo) countMisses(col *vec, n int, sel []int32) {
	if len(m.misses) == 0 {
		return
	}
	each(n, sel, nil, func(i int) bool {
		at := 0
		if !col.isNull(i) {
			at = int(col.codes[i]) + 1
		}
		if at < len(m.misses) {
			for _, x := range m.misses[at] {
				x.tried.at(i, x.why)
			}
		}
		return true
	})
}

// triesIn reports whether a node or one below it is a TRY_CAST.
func triesIn(e *Expr) bool {
	found := false
	Walk(e, func(n *Expr) bool {
		found = found || n.Op == OpTryCast
		return !found
	})
	return found
}
