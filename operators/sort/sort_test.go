package sort_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/sort"
)

// TestScripts reads lines such as "by amount DESC NULLS FIRST" and "limit 2 offset 1", and runs
// every case in one phase and in two.
func TestScripts(t *testing.T) {
	operatortest.Scripts(t, func(s *operatortest.Script) ([][]operatortest.Stage, error) {
		o := sort.Options{Sort: expr.Sort{Limit: -1}}
		for _, by := range s.Words("by") {
			name, rest, _ := strings.Cut(by, " ")
			o.By = append(o.By, expr.SortKey{
				Col:        s.In[0].Index(name),
				Desc:       strings.Contains(rest, "DESC"),
				NullsFirst: strings.Contains(rest, "NULLS FIRST"),
			})
		}
		for _, l := range s.Words("limit") {
			if _, err := fmt.Sscanf(l, "%d offset %d", &o.Limit, &o.Offset); err != nil {
				return nil, err
			}
		}
		return [][]operatortest.Stage{{stage(o, sort.Global)}, {stage(o, sort.Local), stage(o, sort.Global)}}, nil
	})
}

func stage(o sort.Options, phase string) operatortest.Stage {
	o.Phase = phase
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return operatortest.Stage{Component: operators.Erase(sort.Spec()), Options: string(b)}
}
