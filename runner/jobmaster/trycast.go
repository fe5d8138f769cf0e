package jobmaster

import (
	"cmp"
	"slices"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// addTryCasts sums by operator, expression and reason, and keeps that order.
func addTryCasts(to, more []rpc.TryCast) []rpc.TryCast {
	for _, x := range more {
		at, found := slices.BinarySearchFunc(to, x, func(a, b rpc.TryCast) int {
			return cmp.Or(cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Expression, b.Expression), cmp.Compare(a.Reason, b.Reason))
		})
		if found {
			to[at].Rows += x.Rows
		} else {
			to = slices.Insert(to, at, x)
		}
	}
	return to
}
