package calc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/calc"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// TestScripts reads lines such as "where amount > 1" and "select double = amount * 2".
func TestScripts(t *testing.T) {
	operatortest.Scripts(t, func(s *operatortest.Script) ([][]operatortest.Stage, error) {
		var o calc.Options
		for _, w := range s.Words("where") {
			e, err := checked(w, s.In[0])
			if err != nil {
				return nil, err
			}
			o.Where = e
		}
		for _, l := range s.Words("select") {
			name, text, _ := strings.Cut(l, " = ")
			e, err := checked(text, s.In[0])
			if err != nil {
				return nil, err
			}
			o.Select = append(o.Select, expr.Named{Name: name, Expr: e})
		}
		b, err := json.Marshal(o)
		return [][]operatortest.Stage{{{Component: operators.Erase(calc.Spec()), Options: string(b)}}}, err
	})
}

func checked(text string, in expr.Schema) (*expr.Expr, error) {
	e, err := expr.Parse(text, nil)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", text, err)
	}
	return expr.Check(e, in, expr.CheckOptions{})
}
