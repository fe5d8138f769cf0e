package expr

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A memo is what a node gives for the entries of one dictionary. It lives outside the task's
// allocator, since a Program has no end, and only grows, so results that share it stay as they are.
type memo struct {
	upTo  int    // entries known
	shift int    // 1: value 0 is what a NULL gives, and entry i stands at i+1
	bad   bool   // an entry fails: rows are computed one by one, so that only those that use it fail
	vals  vec    // the values
	flags []byte // of a BOOLEAN: 0 FALSE, 1 TRUE, 2 NULL
	nulls bool   // some value is NULL
	id    uint64
	text  arrow.Array // of a STRING: the values as a dictionary
	// misses are what TRY_CAST gave NULL for: at 0 for NULL, at i+1 for entry i. It may be shorter.
	misses [][]miss
}

// mostMemos bounds how many dictionaries a node remembers.
const mostMemos = 64

// viaDictionary computes a node that reads one dictionary column once per entry; nil where that is
// not to advantage or not possible.
func (nd *node) viaDictionary(c *ctx, sel []int32) (*vec, error) {
	col, err := c.column(nd.dictCol)
	if err != nil || col.codes == nil {
		return nil, err
	}
	m := nd.memo(c, col, sel)
	if m == nil {
		return nil, nil
	}
	m.countMisses(col, c.n, sel)
	if nd.e.Type.Kind == String {
		return nd.recode(c, col, m, sel), nil
	}
	nd.lookUp(c, col, m, sel)
	return &nd.out, nil
}

// memo brings what is known of the column's dictionary up to date; nil where rows go one by one.
func (nd *node) memo(c *ctx, col *vec, sel []int32) *memo {
	entries := col.dict.Len()
	rows := c.n
	if sel != nil {
		rows = len(sel)
	}
	if entries == 0 || col.dict.NullN() > 0 || col.id == 0 && entries > rows {
		return nil
	}
	m := nd.memos[col.id]
	if col.id == 0 || m == nil {
		m = &memo{}
		if col.id != 0 {
			m.id = NewDictID()
			if nd.memos == nil || len(nd.memos) >= mostMemos {
				nd.memos = map[uint64]*memo{}
			}
			nd.memos[col.id] = m
		}
		m.vals.reset(nd.e.Type)
		m.learnNull(nd, c)
	}
	if !m.bad && m.upTo < entries {
		m.learn(nd, c, col, entries)
	}
	if m.bad {
		return nil
	}
	return m
}

// on is a context whose rows are n texts in place of the dictionary column, from an entry on, -1 for NULL.
func (m *memo) on(nd *node, c *ctx, texts *vec, n, entry int) *ctx {
	k := &ctx{n: n, cols: make([]*vec, len(c.cols)), plain: true, p: c.p, learning: m, entry: entry}
	k.cols[nd.dictCol] = texts
	return k
}

// learnNull finds what the node gives for NULL: value 0, to which NULL rows are pointed.
func (m *memo) learnNull(nd *node, c *ctx) {
	null := vec{t: nd.typeOfColumn(c), m: -1, valid: []uint64{0}, offs: []int32{0, 0}}
	v, err := nd.run(m.on(nd, c, &null, 1, -1), nd, nil)
	if err != nil {
		m.bad = true
		return
	}
	m.shift = 1
	if nd.e.Type.Kind == String && v.isNull(0) {
		m.shift = 0
		return
	}
	m.add(v, 1)
}

func (nd *node) typeOfColumn(c *ctx) Type { return c.p.in.Fields[nd.dictCol].Type }

// learn computes the entries from upTo on.
func (m *memo) learn(nd *node, c *ctx, col *vec, entries int) {
	fresh := vec{t: col.t, m: -1, offs: col.offs[m.upTo : entries+1], data: col.data}
	v, err := nd.run(m.on(nd, c, &fresh, entries-m.upTo, m.upTo), nd, nil)
	if err != nil {
		m.bad = true
		return
	}
	m.add(v, entries-m.upTo)
	m.upTo = entries
	if len(m.vals.data) > math.MaxInt32 { // more than offsets of 32 bits can tell
		m.bad = true
		return
	}
	if nd.e.Type.Kind == String {
		m.text = textArray(m.vals.offs, m.vals.data)
	}
}

// add appends a result's n values.
func (m *memo) add(v *vec, n int) {
	o := &m.vals
	for i := range n {
		null := v.isNull(i)
		flag := byte(0)
		if null {
			flag, m.nulls = 2, true
		}
		j := i & v.m
		switch k := v.t; k.Kind.Storage() {
		case Boolean:
			if !null && v.bool(i) {
				flag = 1
			}
		case Int, Date:
			o.i32 = append(o.i32, v.i32[j])
		case Double:
			o.f64 = append(o.f64, v.f64[j])
		case String:
			if len(o.offs) == 0 {
				o.offs = append(o.offs, 0)
			}
			if !null {
				o.data = append(o.data, v.str(i)...)
			}
			o.offs = append(o.offs, int32(len(o.data)))
		default:
			if k.wide() {
				o.dec = append(o.dec, v.dec[j])
			} else {
				o.i64 = append(o.i64, v.i64[j])
			}
		}
		m.flags = append(m.flags, flag)
	}
}

// textArray is a STRING array over memory of the Go heap.
func textArray(offs []int32, data []byte) arrow.Array {
	bufs := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offs)), memory.NewBufferBytes(data)}
	d := array.NewData(arrow.BinaryTypes.String, len(offs)-1, bufs, nil, 0, 0)
	defer d.Release()
	return array.NewStringData(d)
}

// place is where a row's value stands in the memo.
func (m *memo) place(col *vec, i int) int {
	if col.isNull(i) {
		return 0
	}
	return int(col.codes[i]) + m.shift
}

// lookUp writes the rows' values of a type other than STRING.
func (nd *node) lookUp(c *ctx, col *vec, m *memo, sel []int32) {
	out := &nd.out
	out.reset(nd.e.Type)
	out.room(c.n)
	switch t := nd.e.Type; t.Kind.Storage() {
	case Boolean:
		lookUpFlags(out.bits, col, m, c.n, sel)
	case Int, Date:
		gather(out.i32, m.vals.i32, col, m, c.n, sel)
	case Double:
		gather(out.f64, m.vals.f64, col, m, c.n, sel)
	default:
		if t.wide() {
			gather[decimal128.Num](out.dec, m.vals.dec, col, m, c.n, sel)
		} else {
			gather(out.i64, m.vals.i64, col, m, c.n, sel)
		}
	}
	if m.nulls {
		out.valid = nd.lookUpNulls(c, col, m, sel)
	}
}

// lookUpNulls are the rows whose value in the memo is not NULL.
func (nd *node) lookUpNulls(c *ctx, col *vec, m *memo, sel []int32) []uint64 {
	nd.nulls = sized(nd.nulls, words(c.n))
	clear(nd.nulls)
	each(c.n, sel, nil, func(i int) bool {
		nd.nulls[i>>6] |= uint64(m.flags[m.place(col, i)]>>1^1) << (i & 63)
		return true
	})
	return nd.nulls
}

func lookUpFlags(out []uint64, col *vec, m *memo, n int, sel []int32) {
	clear(out)
	if col.valid == nil && sel == nil {
		flags := m.flags[m.shift:]
		for w := range out {
			part := col.codes[w*64 : min(n, w*64+64)]
			var bits uint64
			for _, k := range part {
				bits = bits>>1 | uint64(flags[k])<<63
			}
			out[w] = bits >> (64 - len(part))
		}
		return
	}
	each(n, sel, nil, func(i int) bool {
		out[i>>6] |= uint64(m.flags[m.place(col, i)]&1) << (i & 63)
		return true
	})
}

func gather[T any](out, from []T, col *vec, m *memo, n int, sel []int32) {
	if col.valid == nil && sel == nil {
		from = from[m.shift:]
		for i, k := range col.codes[:n] {
			out[i] = from[k]
		}
		return
	}
	each(n, sel, nil, func(i int) bool {
		out[i] = from[m.place(col, i)]
		return true
	})
}

// recode gives texts as codes of the memo's dictionary: the column's own codes where NULL stays NULL.
func (nd *node) recode(c *ctx, col *vec, m *memo, sel []int32) *vec {
	out := &nd.view
	*out = vec{t: nd.e.Type, m: -1, offs: m.vals.offs, data: m.vals.data, dict: m.text, id: m.id}
	if m.shift == 0 {
		out.codes, out.from, out.valid = col.codes, col.from, col.valid
		if m.nulls {
			nd.nulls = sized(nd.nulls, words(c.n))
			clear(nd.nulls)
			each(c.n, sel, col.valid, func(i int) bool {
				nd.nulls[i>>6] |= uint64(m.flags[col.codes[i]]>>1^1) << (i & 63)
				return true
			})
			out.valid = nd.nulls
		}
		return out
	}
	nd.codes = sized(nd.codes, c.n)
	codes := nd.codes
	if sel != nil {
		clear(codes)
	}
	each(c.n, sel, nil, func(i int) bool {
		codes[i] = int32(m.place(col, i))
		return true
	})
	out.codes = codes
	if m.nulls {
		out.valid = nd.lookUpNulls(c, col, m, sel)
	}
	return out
}

// selectRows gives the rows whose entry is TRUE.
func (m *memo) selectRows(col *vec, n int, sel, out []int32) []int32 {
	k := 0
	switch {
	case sel == nil && col.valid == nil:
		out = sized(out, n)
		flags := m.flags[m.shift:]
		for i, code := range col.codes[:n] {
			out[k] = int32(i)
			k += int(flags[code] & 1)
		}
	case sel == nil:
		out = sized(out, n)
		for i := range n {
			out[k] = int32(i)
			k += int(m.flags[m.place(col, i)] & 1)
		}
	default:
		out = sized(out, len(sel))
		for _, r := range sel {
			out[k] = r
			k += int(m.flags[m.place(col, int(r))] & 1)
		}
	}
	return out[:k]
}
