package expr

import (
	"math"
	"slices"
)

// Walk visits e and everything under it, parents first. It stops going down where visit says false.
func Walk(e *Expr, visit func(*Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, a := range e.Args {
		Walk(a, visit)
	}
	Walk(e.Filter, visit)
}

// Columns are the input columns that a checked expression reads: places, ascending, each once.
func Columns(e *Expr) []int {
	var cols []int
	Walk(e, func(n *Expr) bool {
		if n.Op == OpColumn {
			cols = append(cols, n.Col)
		}
		return true
	})
	slices.Sort(cols)
	return slices.Compact(cols)
}

// Rewrite gives a copy of e in which f has replaced every node, children first. f gets a node of its
// own that it may change and return, or it returns another one. The tree e is not touched.
func Rewrite(e *Expr, f func(*Expr) *Expr) *Expr {
	if e == nil {
		return nil
	}
	c := *e
	if e.Args != nil {
		c.Args = make([]*Expr, len(e.Args))
		for i, a := range e.Args {
			c.Args[i] = Rewrite(a, f)
		}
	}
	c.Filter = Rewrite(e.Filter, f)
	return f(&c)
}

// CanFail reports whether evaluating a checked expression can raise an EvalError on some row. It
// may say yes for one that never does, and never no for one that can.
func CanFail(e *Expr) bool {
	fails := false
	Walk(e, func(n *Expr) bool {
		fails = fails || failsItself(n)
		return !fails
	})
	return fails
}

func failsItself(n *Expr) bool {
	switch n.Op {
	case OpCast:
		if saturates(n) {
			return false
		}
		allowed, fails := CastRule(n.Args[0].Type, n.Type)
		return !allowed || fails && !castKeeps(n)
	case OpAgg:
		return aggFails(n)
	case OpCall:
		f, ok := functions[n.Name]
		return !ok || f.fails != nil && f.fails(n)
	}
	return false
}

// aggFails reports whether a final value may be out of range: any SUM of exact numbers, and an AVG
// whose type has fewer digits before the point than its argument.
func aggFails(n *Expr) bool {
	switch {
	case n.Name == "SUM":
		return n.Type.Kind.Storage() != Double
	case n.Name == "AVG" && n.Type.Kind == Decimal && len(n.Args) == 1:
		a := n.Args[0].Type
		return a.Precision-a.Scale > n.Type.Precision-n.Type.Scale
	}
	return false
}

// castKeeps reports whether a cast of a literal is known to succeed: NULL, and the literals that
// Check has read when it put an implicit cast round them.
func castKeeps(n *Expr) bool {
	arg := n.Args[0]
	if arg.Op != OpLiteral || arg.Value == nil {
		return false
	}
	return arg.Value.Null || literalFits(n)
}

// Equal reports whether two expressions are the same, wherever they stand in their texts.
func Equal(a, b *Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Op != b.Op || a.Name != b.Name || a.Col != b.Col || a.Type != b.Type || a.Zone != b.Zone ||
		a.Implicit != b.Implicit || a.Distinct != b.Distinct || len(a.Args) != len(b.Args) {
		return false
	}
	if !equalValues(a.Value, b.Value) {
		return false
	}
	for i := range a.Args {
		if !Equal(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return Equal(a.Filter, b.Filter)
}

// equalValues compares literals: NaN is NaN, and 0.0 is not -0.0, which behaves differently.
func equalValues(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Null == b.Null && a.Int == b.Int && a.Text == b.Text && math.Float64bits(a.Double) == math.Float64bits(b.Double)
}

// ContainsAgg reports whether there is an aggregate call in e.
func ContainsAgg(e *Expr) bool {
	found := false
	Walk(e, func(n *Expr) bool {
		found = found || n.Op == OpAgg
		return !found
	})
	return found
}

// Depth is the number of nodes on the longest way down; nil has none.
func Depth(e *Expr) int {
	if e == nil {
		return 0
	}
	d := Depth(e.Filter)
	for _, a := range e.Args {
		d = max(d, Depth(a))
	}
	return d + 1
}
