package expr

import (
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// NewDictID is an identity for a growing dictionary that no other dictionary of the process has: 63
// random bits, so that no shared counter is needed.
func NewDictID() uint64 { return rand.Uint64() | 1 }

// A Program is an expression compiled to kernels. It keeps scratch memory and what it knows of
// dictionaries, and belongs to one goroutine.
//
// # Which rows are evaluated
//
// Only selected rows raise an [EvalError], and of those only the ones that SQL takes: CASE and
// COALESCE look at a branch for the rows that reach it, AND and OR at a further argument for the rows
// not yet decided. Select, which keeps rows that are TRUE, looks at a further argument of AND only for rows that are TRUE
// so far, so that one condition and the same cut into several filters fail alike.
//
// # Numbers
//
// Doubles follow IEEE 754 in arithmetic. In comparisons NaN equals NaN and is larger than every
// other number, and -0.0 equals 0.0: the same order as in keys and sorting. Integers and decimals are exact or fail.
type Program struct {
	root *node
	in   Schema
	c    ctx
}

// A node is a compiled expression node with its scratch memory.
type node struct {
	e    *Expr
	args []*node
	run  func(c *ctx, nd *node, sel []int32) (*vec, error)

	constant bool  // it reads no column: evaluated once, when it is first needed
	known    *vec  // its value
	failed   error // or why it has none
	fails    bool  // it may raise
	cheap    bool  // it cannot fail and is computed faster for all rows than for a selection
	tries    bool  // it has a TRY_CAST, which counts rows: it is computed for those that need it alone
	dictCol  int   // the one STRING column it reads, -1 where it reads others or is that column
	memos    map[uint64]*memo
	extra    any    // what a kernel prepared at compile time
	tried    *tried // of a TRY_CAST: where rows are counted, nil where nobody wants to know

	in        []*vec   // the arguments' values
	out       vec      // the result in own memory
	view      vec      // or one that shares other vecs' memory
	nulls     []uint64 // scratch: validity of the result
	scratch   []uint64
	codes     []int32
	sel, rest []int32 // scratch: narrowed selections
	bufs      [2][]uint64
}

// A ctx is the batch an evaluation works on.
type ctx struct {
	n      int // rows
	cols   []*vec
	rec    arrow.Record
	dict   []uint64
	loaded []vec
	bufs   [][2][]uint64
	plain  bool // no work by dictionary: the columns are entries themselves
	// learning is the memo for whose dictionary the rows are entries, and entry that of the first of them.
	learning *memo
	entry    int
	root     *node            // writes its result to buf, if it can
	alloc    memory.Allocator // for buf
	buf      *memory.Buffer
	owned    []arrow.Array // made on the way, until the end
	p        *Program
}

// Compile makes a program of a checked expression over a schema.
func Compile(e *Expr, in Schema) (*Program, error) {
	p := &Program{in: in}
	root, err := p.build(e)
	if err != nil {
		return nil, err
	}
	p.root = root
	k := len(in.Fields)
	p.c = ctx{cols: make([]*vec, k), loaded: make([]vec, k), bufs: make([][2][]uint64, k), p: p}
	return p, nil
}

func (p *Program) build(e *Expr) (*node, error) {
	nd := &node{e: e, dictCol: -1}
	for _, a := range e.Args {
		k, err := p.build(a)
		if err != nil {
			return nil, err
		}
		nd.args = append(nd.args, k)
	}
	nd.in = make([]*vec, len(nd.args))
	nd.fails = CanFail(e)
	nd.tries = triesIn(e)
	nd.cheap = !nd.fails && !nd.tries && !readsText(e)
	cols := Columns(e)
	nd.constant = len(cols) == 0 && (!e.Type.Nested() || e.Op == OpLiteral) // a nested value has a row of its own for each row
	if e.Op != OpColumn && e.Type.Kind != Bytes && !e.Type.Nested() && len(cols) == 1 && cols[0] < len(p.in.Fields) && p.in.Fields[cols[0]].Type.Kind == String {
		nd.dictCol = cols[0]
	}
	var err error
	switch e.Op {
	case OpColumn:
		if e.Col < 0 || e.Col >= len(p.in.Fields) {
			return nil, fmt.Errorf("column %s has place %d, and the input has %d columns", e.Name, e.Col, len(p.in.Fields))
		}
		nd.run = runColumn
	case OpLiteral:
		nd.known, err = literalVec(e)
	case OpCall:
		err = bindCall(nd)
	case OpCase:
		err = bindCase(nd)
	case OpCast, OpTryCast:
		err = bindCast(nd)
	default:
		err = fmt.Errorf("an expression of form %q cannot be evaluated by itself", e.Op)
	}
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", e, err)
	}
	return nd, nil
}

// readsText reports whether there is work on texts or a choice of branches in an expression.
func readsText(e *Expr) bool {
	found := false
	Walk(e, func(n *Expr) bool {
		found = found || (n.Type.Kind == String || n.Type.Kind == Bytes) && n.Op != OpLiteral || n.Op == OpCase
		return !found
	})
	return found
}

// eval computes the node for the selected rows (nil: all).
func (nd *node) eval(c *ctx, sel []int32) (*vec, error) {
	if nd.constant {
		return nd.evalConstant(c, sel)
	}
	if nd.dictCol >= 0 && !c.plain {
		if v, err := nd.viaDictionary(c, sel); v != nil || err != nil {
			return v, err
		}
	}
	return nd.run(c, nd, sel)
}

// evalConstant computes a node without columns once. It fails only where a row is selected.
func (nd *node) evalConstant(c *ctx, sel []int32) (*vec, error) {
	if nd.known == nil && nd.failed == nil {
		one := ctx{n: 1, p: c.p, plain: true}
		v, err := nd.run(&one, nd, nil)
		if err != nil {
			nd.failed = err
		} else {
			nd.known = v.single()
		}
	}
	if nd.failed == nil {
		return nd.known, nil
	}
	if c.n == 0 || sel != nil && len(sel) == 0 {
		nd.out.reset(nd.e.Type)
		allNull(nd, 1)
		nd.out.m = 0
		return &nd.out, nil
	}
	return nil, atRow(nd.failed, first(sel))
}

// single is a vec's first row for all rows.
func (v *vec) single() *vec {
	s := *v
	s.m = 0
	if v.codes != nil {
		s.codes, s.dict, s.id, s.from = nil, nil, 0, nil
		s.offs, s.data = []int32{0, 0}, nil
		if !v.isNull(0) {
			s.data = v.str(0)
			s.offs[1] = int32(len(s.data))
		}
	}
	return &s
}

func first(sel []int32) int {
	if len(sel) == 0 {
		return 0
	}
	return int(sel[0])
}

// begin points the program at a batch.
func (p *Program) begin(rec arrow.Record, dict []uint64) (*ctx, error) {
	c := &p.c
	if int(rec.NumCols()) != len(p.in.Fields) {
		return nil, fmt.Errorf("the batch has %d columns, the expression %s was compiled for %d", rec.NumCols(), p.root.e, len(p.in.Fields))
	}
	clear(c.cols)
	c.rec, c.dict, c.n = rec, dict, int(rec.NumRows())
	return c, nil
}

// end lets go of the batch's memory.
func (p *Program) end() {
	clear(p.c.cols)
	clear(p.c.loaded)
	p.c.rec, p.c.dict = nil, nil
	for _, a := range p.c.owned {
		a.Release()
	}
	p.c.owned = p.c.owned[:0]
	p.c.root, p.c.alloc = nil, nil
	if p.c.buf != nil {
		p.c.buf.Release()
		p.c.buf = nil
		p.root.out = vec{}
	}
}

// Eval computes the expression for the selected rows (nil: all). The result has the rows of rec, and
// only those in sel are meaningful. dict holds the ids of rec's growing dictionaries as in a batch,
// dictID is the result's, 0 for none. A row that fails gives an [EvalError]. The caller releases arr.
func (p *Program) Eval(alloc memory.Allocator, rec arrow.Record, dict []uint64, sel []int32) (arr arrow.Array, dictID uint64, err error) {
	c, err := p.begin(rec, dict)
	if err != nil {
		return nil, 0, err
	}
	defer p.end()
	c.root, c.alloc = p.root, alloc
	v, err := p.root.eval(c, sel)
	if err != nil {
		return nil, 0, err
	}
	return result(c, v, p.root.e.Type, sel)
}

// Select appends to out[:0] the rows of sel (nil: all) for which a BOOLEAN expression is TRUE.
func (p *Program) Select(rec arrow.Record, dict []uint64, sel []int32, out []int32) ([]int32, error) {
	if p.root.e.Type.Kind != Boolean {
		return nil, fmt.Errorf("%s is %s, a condition is BOOLEAN", p.root.e, p.root.e.Type)
	}
	c, err := p.begin(rec, dict)
	if err != nil {
		return nil, err
	}
	defer p.end()
	return p.root.selectRows(c, sel, out[:0])
}

func runColumn(c *ctx, nd *node, _ []int32) (*vec, error) { return c.column(nd.e.Col) }
