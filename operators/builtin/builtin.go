// Package builtin lists the operators that come with the engine.
package builtin

import (
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/aggregate"
	"github.com/seed-4b0e9f7c/runner/operators/calc"
	"github.com/seed-4b0e9f7c/runner/operators/distinct"
	"github.com/seed-4b0e9f7c/runner/operators/limit"
	"github.com/seed-4b0e9f7c/runner/operators/sort"
	"github.com/seed-4b0e9f7c/runner/operators/union"
	"github.com/seed-4b0e9f7c/runner/operators/unnest"
)

// Catalog is the built-in operators, a line each.
func Catalog() (operators.Catalog, error) {
	return operators.NewCatalog(
		operators.Erase(aggregate.Spec()),
		operators.Erase(calc.Spec()),
		operators.Erase(distinct.Spec()),
		operators.Erase(limit.Spec()),
		operators.Erase(sort.Spec()),
		operators.Erase(union.Spec()),
		operators.Erase(unnest.Spec()),
	)
}
