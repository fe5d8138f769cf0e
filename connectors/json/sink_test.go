package json

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestSinkOptions: what a sink cannot do is a fault of the plan, at the option that the message begins with.
func TestSinkOptions(t *testing.T) {
	in := expr.SchemaOf(expr.Field{Name: "s", Type: expr.Of(expr.String)})
	for _, c := range []struct {
		o    Options
		text string
	}{
		{Options{Path: []string{"a", "b"}}, "path: a sink has one target, and 2 are given"},
		{Options{}, "path: a sink has one target, and 0 are given"},
		{Options{Path: []string{"a"}, Columns: Columns{{Field: in.Fields[0]}}}, "columns: belongs to sources"},
		{Options{Path: []string{"a"}, Mode: "replace"}, "expected error, overwrite or append"},
	} {
		_, err := Spec.BindSink(t.Context(), c.o, in, connectors.Env{Dir: t.TempDir()})
		var fault *files.Error
		if err == nil || !strings.Contains(err.Error(), c.text) || !errors.As(err, &fault) || fault.Kind != files.InvalidOption {
			t.Errorf("%+v: %T %v", c.o, err, err)
		}
	}
}
