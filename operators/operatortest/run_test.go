package operatortest

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// faulty passes batches on, except for what is wrong with it.
type faulty struct {
	fault string
	task  *operators.Task
}

func (f *faulty) Open(t *operators.Task) error {
	f.task = t
	if f.fault == "memory" {
		t.Memory.Reserve(1)
	}
	return nil
}

func (f *faulty) EndInput(int, operators.Collector) error { return nil }

func (f *faulty) Close() error {
	if f.fault == "close" {
		return errors.New("cannot close")
	}
	return nil
}

func (f *faulty) Process(_ int, b operators.Batch, out operators.Collector) error {
	switch f.fault {
	case "leak":
		b.Rec.Retain()
	case "lost":
		b.Rec.Release()
		return nil
	case "books":
		out.Count(operators.Absorbed, 1)
	case "selection":
		b.Sel = []int32{1, 0}
	case "rows":
		out.Count(operators.Released, int64(b.Rows()))
		b.Rec.Retain()
		if err := out.Emit(b); err != nil {
			b.Rec.Release()
			return err
		}
	case "spill":
		if _, err := f.task.Memory.Spill("x"); err != nil {
			return err
		}
	}
	return out.Emit(b)
}

func faultySpec(fault string) operators.Component {
	return operators.Erase(operators.Spec[struct{}]{
		Name: "faulty", MinInputs: 1, MaxInputs: 1, TakesSel: true,
		Schema: func(_ struct{}, in []expr.Schema) (expr.Schema, error) {
			if fault == "schema" {
				return MustSchema("a BIGINT, b BIGINT"), nil
			}
			return in[0], nil
		},
		New: func(struct{}, []expr.Schema) (operators.Operator, error) { return &faulty{fault: fault}, nil },
	})
}

// TestHarnessFindsFaults runs operators that are wrong in one way each.
func TestHarnessFindsFaults(t *testing.T) {
	in := []expr.Schema{MustSchema("a BIGINT, b STRING")}
	for fault, want := range map[string]string{
		"":          "",
		"leak":      "memory size",
		"lost":      "books",
		"books":     "books",
		"memory":    "still reserved",
		"spill":     "still open",
		"close":     "cannot close",
		"schema":    "Arrow type",
		"selection": "not ascending",
		"rows":      "wanted",
	} {
		t.Run(fault, func(t *testing.T) {
			c := Case{In: []string{"1, x\n2, y\n3, NULL"}, Want: "1, x\n2, y\n3, NULL"}
			for _, v := range variants() {
				problem := c.judge(runVariant(v, []Stage{{faultySpec(fault), "{}"}}, in, c.In))
				if (problem == "") != (want == "") || !strings.Contains(problem, want) {
					t.Fatalf("%s: the harness says %q, expected something about %q", v, problem, want)
				}
			}
		})
	}
}

// TestVariantsMeet says that any two settings of the harness meet in some variant.
func TestVariantsMeet(t *testing.T) {
	met := map[[2]any]bool{}
	for _, v := range variants() {
		settings := []any{[2]int{0, v.batch}, [2]int{1, v.parallelism}, [2]int{2, int(v.dictionary)}, [2]any{3, v.selection}, [2]any{4, v.budget}}
		for i, a := range settings {
			for _, b := range settings[i+1:] {
				met[[2]any{a, b}] = true
			}
		}
	}
	if want := 4*4 + 4*3 + 4*2 + 4*2 + 4*3 + 4*2 + 4*2 + 3*2 + 3*2 + 2*2; len(met) != want {
		t.Errorf("%d pairs of settings meet, not %d", len(met), want)
	}
}
