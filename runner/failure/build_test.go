package failure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// castError is an error as an operator would make it: it says its class, place and datum.
type castError struct {
	class, text, file       string
	line, column            int64
	field, value, exprsText string
	inner                   error
}

func (e *castError) Error() string                    { return e.text }
func (e *castError) Class() string                    { return e.class }
func (e *castError) Position() (string, int64, int64) { return e.file, e.line, e.column }
func (e *castError) Datum() (string, string, string)  { return e.field, e.value, e.exprsText }
func (e *castError) Unwrap() error                    { return e.inner }

// locatedError only adds a place, its text is that of the error inside.
type locatedError struct {
	error
	file string
	line int64
}

func (e locatedError) Position() (string, int64, int64) { return e.file, e.line, 0 }
func (e locatedError) Unwrap() error                    { return e.error }

func TestFromError(t *testing.T) {
	cast := &castError{
		class: "CastError", text: "cannot cast 'two' to INT", file: "orders.csv", line: 4, column: 3,
		field: "qty", value: "two", exprsText: "CAST(qty AS INT)", inner: errors.New("invalid syntax"),
	}
	gone := &fs.PathError{Op: "open", Path: "/in/a.csv", Err: syscall.ENOENT}
	full := &fs.PathError{Op: "write", Path: "/out/part-0", Err: syscall.ENOSPC}
	plain := &castError{class: "DamagedFile", text: "footer is cut off"}
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"nil", nil, nil},
		{"classed below two texts", fmt.Errorf("job failed: %w", fmt.Errorf("subtask 1: %w", cast)), []string{
			"CastError|job failed|", "CastError|subtask 1|", "CastError|cannot cast 'two' to INT|orders.csv:4:3 qty=two CAST(qty AS INT)",
		}},
		{"missing file", fmt.Errorf("source orders: %w", gone), []string{
			"MissingFile|source orders|", "MissingFile|open /in/a.csv: no such file or directory|/in/a.csv:0:0",
		}},
		{"sink on a full disk", fmt.Errorf("commit: %w", &castError{class: "SinkError", text: "sink result: " + full.Error(), inner: full}), []string{
			"SinkError|commit|", "SinkError|sink result|", "DiskFull|write /out/part-0: no space left on device|/out/part-0:0:0",
		}},
		{"class that says the same as the error inside", &castError{class: "MissingFile", text: "no file matches", inner: gone}, []string{
			"MissingFile|no file matches|",
		}},
		{"cancelled", fmt.Errorf("reading: %w", context.Canceled), []string{"Cancelled|reading: context canceled|"}},
		{"sentinel alone", io.EOF, []string{"Internal|EOF|"}},
		{"sentinel below a text", fmt.Errorf("reading footer: %w", io.ErrUnexpectedEOF), []string{"Internal|reading footer: unexpected EOF|"}},
		{"nothing known", errors.New("odd"), []string{"Internal|odd|"}},
		{"permission", fmt.Errorf("a: %w", fs.ErrPermission), []string{"PermissionDenied|a: permission denied|"}},
		{"join: the first", errors.Join(fmt.Errorf("first: %w", plain), cast), []string{"DamagedFile|first|", "DamagedFile|footer is cut off|"}},
		{"a sentinel and its cause", fmt.Errorf("%w: %w", errors.New("stopped"), plain), []string{
			"DamagedFile|stopped|", "DamagedFile|footer is cut off|",
		}},
		{"place without text", fmt.Errorf("scan: %w", locatedError{plain, "a.parquet", 7}), []string{
			"DamagedFile|scan|", "DamagedFile|footer is cut off|a.parquet:7:0",
		}},
		{"place further out", fmt.Errorf("x: %w", &castError{class: "EvaluationError", text: "row: " + plain.text, file: "b.csv", line: 2, inner: plain}), []string{
			"EvaluationError|x|", "EvaluationError|row|b.csv:2:0", "DamagedFile|footer is cut off|b.csv:2:0",
		}},
		{"text not at the end", fmt.Errorf("%w (while closing)", plain), []string{
			"DamagedFile|footer is cut off (while closing)|", "DamagedFile|footer is cut off|",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, cause := range FromError(c.err) {
				place := ""
				if cause.File != "" {
					place = fmt.Sprintf("%s:%d:%d", cause.File, cause.Line, cause.Column)
				}
				if cause.Field != "" {
					place += " " + cause.Field + "=" + cause.Value + " " + cause.Expression
				}
				got = append(got, cause.Class+"|"+cause.Message+"|"+place)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestNew(t *testing.T) {
	f := New([]Cause{{Class: "CastError", Message: "Task failed."}, {Class: "CastError", Message: "bad", File: "a.csv", Line: 2}},
		Where{Task: "Source: a[1] (1/2)", TaskManager: "tm-1", Operator: "a"})
	s, err := NewStrategy(StrategyOptions{Type: "none"})
	if err != nil {
		t.Fatal(err)
	}
	f.Refused(s, 0)
	if f.Headline != "Task failed." || f.RootIndex != 1 || f.RootCause.Message != "bad" || f.RootCause.Line != 2 ||
		f.RootCause.Operator != "a" || f.RootCause.TaskManager != "tm-1" || f.Task != "Source: a[1] (1/2)" ||
		f.Category != CategoryData || f.RestartStrategy != "none" || !f.RecoverySuppressed ||
		f.Restart.Text != "Recovery is suppressed by NoRestartBackoffTimeStrategy" {
		t.Errorf("%+v %+v", f, *f.RootCause)
	}
	if *f.RootCause != f.Chain[f.RootIndex] {
		t.Error("the root cause is not the element of the chain")
	}
	f.Restarted(s, 3)
	if f.RecoverySuppressed || !f.Restart.Recovered || f.Restart.Attempts != 3 {
		t.Errorf("%+v", f.Restart)
	}
	if f := New(nil, Where{}); f.RootCause != nil || f.RootIndex != -1 {
		t.Errorf("%+v", f)
	}
	joined := FromErr(fmt.Errorf("closing: %w", errors.Join(errors.New("one"), nil, errors.New("two"))), Where{})
	if joined.Headline != "closing" || joined.RootCause.Message != "one" || len(joined.Concurrent) != 1 || joined.Concurrent[0].RootCause.Message != "two" {
		t.Errorf("%+v", joined)
	}
}

// TestClasses holds that every class is documented once, in full sentences, with a category of the list.
func TestClasses(t *testing.T) {
	seen := map[Class]bool{}
	for _, d := range Classes() {
		if seen[d.Class] {
			t.Errorf("%s is documented twice", d.Class)
		}
		seen[d.Class] = true
		if !strings.HasSuffix(d.Means, ".") || !strings.HasSuffix(d.Next, ".") || d.Category != d.Class.Category() {
			t.Errorf("%s: %+v", d.Class, d)
		}
	}
	if Class("Odd").Category() != CategoryInfrastructure {
		t.Error("an unknown class has no category")
	}
}
