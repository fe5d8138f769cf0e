package expr

import "github.com/apache/arrow/go/v17/arrow"

// A choice says for each row which branch its value comes from.
type choice struct {
	branch  []int32
	open    [2][]int32
	taken   []int32
	keep    []uint64
	results []*vec
	codes   []int32     // of the branches, where these are all literal texts; -1 for NULL
	dict    arrow.Array // the texts
	id      uint64
}

func bindCase(nd *node) error {
	nd.extra = newChoice(nd, func(i int) bool { return i%2 == 1 || i == len(nd.args)-1 })
	nd.run = runCase
	return nil
}

func bindCoalesce(nd *node) error {
	nd.extra = newChoice(nd, func(int) bool { return true })
	nd.run = runCoalesce
	return nil
}

func newChoice(nd *node, result func(arg int) bool) *choice {
	x := &choice{}
	for i := range nd.args {
		if result(i) {
			x.results = append(x.results, nil)
		}
	}
	x.literals(nd, result)
	return x
}

// literals makes a dictionary of the branches where each is a literal text.
func (x *choice) literals(nd *node, result func(arg int) bool) {
	places := map[string]int32{}
	offs, data := []int32{0}, []byte(nil)
	for i, a := range nd.e.Args {
		if !result(i) {
			continue
		}
		if a.Op != OpLiteral || a.Type.Kind != String || a.Value == nil {
			x.codes = nil
			return
		}
		if a.Value.Null {
			x.codes = append(x.codes, -1)
			continue
		}
		p, ok := places[a.Value.Text]
		if !ok {
			p = int32(len(offs) - 1)
			places[a.Value.Text] = p
			data = append(data, a.Value.Text...)
			offs = append(offs, int32(len(data)))
		}
		x.codes = append(x.codes, p)
	}
	if len(offs) == 1 {
		offs = append(offs, 0) // only NULLs: codes still need an entry to name
	}
	x.dict, x.id = textArray(offs, data), NewDictID()
}

// codesOf gives the rows codes of the branches' texts.
func (nd *node) codesOf(c *ctx, x *choice, sel []int32) *vec {
	nd.codes = sized(nd.codes, c.n)
	codes := nd.codes
	if sel == nil {
		for i, b := range x.branch[:c.n] {
			codes[i] = max(x.codes[b], 0)
		}
	} else {
		clear(codes)
		for _, r := range sel {
			codes[r] = max(x.codes[x.branch[r]], 0)
		}
	}
	nd.view = vec{t: nd.e.Type, m: -1, codes: codes, dict: x.dict, id: x.id, valid: nd.out.valid}
	loadDictionary(&nd.view)
	return &nd.view
}

// start begins with all selected rows open and no branch chosen.
func (x *choice) start(n int) {
	x.branch = sized(x.branch, n)
	clear(x.results)
}

func (x *choice) take(rows []int32, n, branch int) {
	if rows == nil {
		for i := range n {
			x.branch[i] = int32(branch)
		}
		return
	}
	for _, r := range rows {
		x.branch[r] = int32(branch)
	}
}

// runCase looks at a condition for the rows that reach it and at a result for the rows that take it.
func runCase(c *ctx, nd *node, sel []int32) (*vec, error) {
	x := nd.extra.(*choice)
	x.start(c.n)
	if sel != nil && len(sel) == 0 {
		return nd.assemble(c, x, sel)
	}
	open := sel
	last := len(nd.args) - 1
	for k := 0; k < last && (open == nil || len(open) > 0); k += 2 {
		cond, err := nd.args[k].eval(c, open)
		if err != nil {
			return nil, err
		}
		t := isTrue(cond, c.n, &nd.scratch)
		x.taken = narrow(t, c.n, open, x.taken)
		x.keep = sized(x.keep, words(c.n))
		for i := range x.keep {
			x.keep[i] = ^t[i]
		}
		to := &x.open[k/2&1]
		*to = narrow(x.keep, c.n, open, *to)
		open = *to
		if err := nd.branch(c, x, k+1, k/2, x.taken); err != nil {
			return nil, err
		}
	}
	if err := nd.branch(c, x, last, len(x.results)-1, open); err != nil {
		return nil, err
	}
	return nd.assemble(c, x, sel)
}

// branch computes argument arg for the rows that take it.
func (nd *node) branch(c *ctx, x *choice, arg, branch int, rows []int32) error {
	if rows != nil && len(rows) == 0 {
		return nil
	}
	v, err := nd.args[arg].eval(c, rows)
	if err != nil {
		return err
	}
	x.results[branch] = v
	x.take(rows, c.n, branch)
	return nil
}

func runCoalesce(c *ctx, nd *node, sel []int32) (*vec, error) {
	x := nd.extra.(*choice)
	x.start(c.n)
	if sel != nil && len(sel) == 0 {
		return nd.assemble(c, x, sel)
	}
	open := sel
	for k := range nd.args {
		if err := nd.branch(c, x, k, k, open); err != nil {
			return nil, err
		}
		valid := spread(x.results[k], c.n)
		if valid == nil || k == len(nd.args)-1 {
			break
		}
		x.keep = sized(x.keep, words(c.n))
		for i := range x.keep {
			x.keep[i] = ^valid[i]
		}
		to := &x.open[k&1]
		*to = narrow(x.keep, c.n, open, *to)
		open = *to
		if len(open) == 0 {
			break
		}
	}
	if v := x.results[0]; !v.one() && (len(x.results) == 1 || x.results[1] == nil) {
		return x.results[0], nil
	}
	return nd.assemble(c, x, sel)
}

// assemble gathers each row's value from the branch it took.
func (nd *node) assemble(c *ctx, x *choice, sel []int32) (*vec, error) {
	out := &nd.out
	out.reset(nd.e.Type)
	out.room(c.n)
	if sel != nil && len(sel) == 0 {
		return out, nil
	}
	if nullable(x.results) {
		nd.nulls = sized(nd.nulls, words(c.n))
		clear(nd.nulls)
		each(c.n, sel, nil, func(i int) bool {
			nd.nulls[i>>6] |= b2u(!x.results[x.branch[i]].isNull(i)) << (i & 63)
			return true
		})
		out.valid = nd.nulls
	}
	if x.codes != nil {
		return nd.codesOf(c, x, sel), nil
	}
	switch t := out.t; t.Kind.Storage() {
	case Boolean:
		clear(out.bits)
		each(c.n, sel, nil, func(i int) bool {
			out.bits[i>>6] |= b2u(x.results[x.branch[i]].bool(i)) << (i & 63)
			return true
		})
	case Int, Date:
		pick(out.i32, x, c.n, sel, func(v *vec) []int32 { return v.i32 })
	case Double:
		pick(out.f64, x, c.n, sel, func(v *vec) []float64 { return v.f64 })
	case String, Bytes:
		return nd.texts(c, sel, func(dst []byte, i int) []byte { return append(dst, x.results[x.branch[i]].str(i)...) })
	default:
		if t.wide() {
			each(c.n, sel, nil, func(i int) bool {
				v := x.results[x.branch[i]]
				out.dec[i] = v.dec[i&v.m]
				return true
			})
			break
		}
		pick(out.i64, x, c.n, sel, func(v *vec) []int64 { return v.i64 })
	}
	return out, nil
}

func nullable(vs []*vec) bool {
	for _, v := range vs {
		if v != nil && v.valid != nil {
			return true
		}
	}
	return false
}

func pick[T any](out []T, x *choice, n int, sel []int32, of func(*vec) []T) {
	from := make([][]T, len(x.results))
	mask := make([]int, len(x.results))
	for k, v := range x.results {
		if v != nil {
			from[k], mask[k] = of(v), v.m
		}
	}
	if sel == nil {
		for i, b := range x.branch[:n] {
			out[i] = from[b][i&mask[b]]
		}
		return
	}
	for _, r := range sel {
		b := x.branch[r]
		out[r] = from[b][int(r)&mask[b]]
	}
}
