package print

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func schema() expr.Schema {
	return expr.SchemaOf(
		expr.Field{Name: "country", Type: expr.Of(expr.String)},
		expr.Field{Name: "amount", Type: expr.DecimalOf(12, 2)},
	)
}

func batch(countries []string, cents []int64) operators.Batch {
	s := array.NewStringBuilder(memory.DefaultAllocator)
	n := array.NewInt64Builder(memory.DefaultAllocator)
	defer s.Release()
	defer n.Release()
	for i := range countries {
		if countries[i] == "-" {
			s.AppendNull()
		} else {
			s.Append(countries[i])
		}
		n.Append(cents[i])
	}
	cols := []arrow.Array{s.NewArray(), n.NewArray()}
	return operators.Batch{Rec: column.NewRecord(schema().Fields, cols, int64(len(cents)))}
}

// A job prints batches of a run.
type job struct {
	sink connectors.Sink
	all  []connectors.Committable
}

func open(t *testing.T, out *bytes.Buffer, format string) *job {
	t.Helper()
	spec := Spec(out)
	b, err := spec.BindSink(t.Context(), Options{Format: format}, schema(), connectors.Env{Node: "out"})
	if err != nil {
		t.Fatal(err)
	}
	if !b.SingleFile {
		t.Error("several writers could print across each other")
	}
	s, err := spec.OpenSink(b.State, schema())
	if err != nil {
		t.Fatal(err)
	}
	return &job{sink: s}
}

func (j *job) write(t *testing.T, run string, batches ...operators.Batch) {
	t.Helper()
	w, err := j.sink.Writer(&operators.Task{Ctx: t.Context()}, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	c, err := w.Prepare(0, true)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	j.all = append(j.all, c...)
}

func (j *job) commit(t *testing.T, run string) {
	t.Helper()
	c, err := j.sink.Committer()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time prints nothing
		if _, err := c.Commit(t.Context(), run, 0, j.all); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"":     "country        amount\n----------  ---------\nDE              12.50\nNULL        -99999.05\n日本             0.00\na\\nb\\u001b       1.00\n",
		"csv":  "country,amount\nDE,12.50\n,-99999.05\n日本,0.00\n\"a\nb\x1b\",1.00\n",
		"json": "{\"country\":\"DE\",\"amount\":12.50}\n{\"country\":null,\"amount\":-99999.05}\n{\"country\":\"日本\",\"amount\":0.00}\n{\"country\":\"a\\nb\\u001b\",\"amount\":1.00}\n",
	} {
		var out bytes.Buffer
		j := open(t, &out, format)
		b := batch([]string{"DE", "x", "-", "日本", "a\nb\x1b"}, []int64{1250, 1, -9999905, 0, 100})
		b.Sel = []int32{0, 2, 3, 4}
		j.write(t, "run", b)
		if out.Len() > 0 {
			t.Errorf("printed before the commit: %s", out.String())
		}
		j.commit(t, "run")
		if out.String() != want {
			t.Errorf("%q: got\n%s\nwant\n%s", format, out.String(), want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for format, want := range map[string]string{"table": "country  amount\n-------  ------\n", "csv": "country,amount\n", "json": ""} {
		var out bytes.Buffer
		j := open(t, &out, format)
		j.write(t, "run")
		j.commit(t, "run")
		if out.String() != want {
			t.Errorf("%s: %q", format, out.String())
		}
	}
}

// TestLarge prints what is more than is held back as it comes, all of it once.
func TestLarge(t *testing.T) {
	var out bytes.Buffer
	j := open(t, &out, "csv")
	var batches []operators.Batch
	var want strings.Builder
	want.WriteString("country,amount\n")
	for i := range 300 {
		var c []string
		var n []int64
		for k := range 500 {
			c = append(c, fmt.Sprint("country-", i, "-", k))
			n = append(n, int64(k))
			fmt.Fprintf(&want, "country-%d-%d,%d.%02d\n", i, k, k/100, k%100)
		}
		batches = append(batches, batch(c, n))
	}
	j.write(t, "run", batches...)
	if out.Len() == 0 {
		t.Error("nothing was printed before the commit")
	}
	j.commit(t, "run")
	if out.String() != want.String() {
		t.Errorf("%d bytes, want %d", out.Len(), want.Len())
	}
}

// TestLaterProcess prints nothing of a run that was made in another process.
func TestLaterProcess(t *testing.T) {
	var first, later bytes.Buffer
	j := open(t, &first, "csv")
	j.write(t, "run", batch([]string{"DE"}, []int64{1}))
	next := open(t, &later, "csv")
	next.all = j.all
	next.commit(t, "run")
	if later.Len() > 0 {
		t.Errorf("printed %s", later.String())
	}
}

func TestFormatUnknown(t *testing.T) {
	var out bytes.Buffer
	_, err := Spec(&out).BindSink(t.Context(), Options{Format: "xml"}, schema(), connectors.Env{})
	if err == nil || !strings.Contains(err.Error(), "expected table, csv or json") {
		t.Errorf("%v", err)
	}
}

// TestStreaming prints every batch at once.
func TestStreaming(t *testing.T) {
	for format, want := range map[string][2]string{
		"":     {"country         amount\n----------  ----------\nDE               12.50\n", "a longer name        0.01\n"},
		"csv":  {"country,amount\nDE,12.50\n", "a longer name,0.01\n"},
		"json": {"{\"country\":\"DE\",\"amount\":12.50}\n", "{\"country\":\"a longer name\",\"amount\":0.01}\n"},
	} {
		var out bytes.Buffer
		spec := Spec(&out)
		b, err := spec.BindSink(t.Context(), Options{Format: format}, schema(), connectors.Env{Node: "out", Streaming: true})
		if err != nil || !b.AsTheyCome {
			t.Fatal(b, err)
		}
		s, err := spec.OpenSink(b.State, schema())
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Writer(&operators.Task{Ctx: t.Context()}, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range []operators.Batch{batch(nil, nil), batch([]string{"DE"}, []int64{1250}), batch([]string{"a longer name"}, []int64{1})} {
			out.Reset()
			if err := w.Write(x); err != nil {
				t.Fatal(err)
			}
			if i > 0 && out.String() != want[i-1] {
				t.Errorf("%s: batch %d printed\n%s", format, i, out.String())
			}
			if shown := w.(connectors.Showing).Shown(); shown != int64(i) {
				t.Errorf("%s: %d rows are shown after %d", format, shown, i)
			}
		}
		out.Reset()
		c, err := w.Prepare(0, true)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		j := &job{sink: s, all: c}
		j.commit(t, "run")
		if out.Len() > 0 || c[0].Rows != 2 {
			t.Errorf("%s: the commit printed %q of %d rows", format, out.String(), c[0].Rows)
		}
	}
}
