package json

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// unescape turns what a script cannot show into bytes: \r \xNN; a backslash is written twice, and ~ at the
// end of a line is "no line end here".
func unescape(s string) string {
	v, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\"`), "\n", `\n`) + `"`)
	if err != nil {
		return s
	}
	return v
}

// A how is a way to read.
type how struct {
	split, read int64
	columns     []int
	where       *expr.Expr
	rejects     bool
}

// A result is what came of reading.
type result struct {
	rows    []string
	tally   map[string]connectors.Tally
	rejects []connectors.Reject
}

// readAll reads a bound source, each split with a reader of its own.
func readAll(t testing.TB, state []byte, h how) (res result, err error) {
	t.Helper()
	src, err := openIn(files.Local(), state)
	if err != nil {
		t.Fatal(err)
	}
	schema := src.Schema()
	if h.columns != nil || h.where != nil || h.rejects {
		if h.columns == nil {
			h.columns = src.columns
		}
		src.Push(connectors.Pushdown{Columns: h.columns, Where: h.where, Limit: -1, Rejects: h.rejects})
		schema = schema.Pick(h.columns)
	}
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	o := connectors.SplitOptions{SplitBytes: h.split, ReadBytes: h.read}
	res.tally, err = connectortest.EachSplit(t, src, o, alloc, func(rd connectors.Reader) error { return res.drain(rd, schema) })
	return res, err
}

func (res *result) drain(rd connectors.Reader, schema expr.Schema) error {
	for {
		b, st, err := rd.Next(context.Background())
		if err != nil {
			return err
		}
		res.rejects = append(res.rejects, rd.(connectors.Rejecting).Rejects()...)
		if st != connectors.More {
			return nil
		}
		if b.Rec == nil {
			continue
		}
		for i := range b.Rows() {
			row := i
			if b.Sel != nil {
				row = int(b.Sel[i])
			}
			res.rows = append(res.rows, connectortest.Text(b, schema, row))
		}
		b.Rec.Release()
	}
}

// TestScripts runs testdata: `read` binds the files of its input (a line of --- begins the next one)
// and prints rows and books, or the error.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "read" {
				return "unknown command " + d.Cmd
			}
			o, e, h, err := scripted(d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var texts []string
			for _, s := range strings.Split(d.Input, "---\n") {
				texts = append(texts, unescape(strings.ReplaceAll(s+"\n", "~\n", "")))
			}
			dir, state, err := bindText(t, o, e, texts...)
			var res result
			if err == nil {
				res, err = readAll(t, state, h)
			}
			out := strings.Join(append(res.rows, ""), "\n")
			for _, x := range res.rejects {
				out += fmt.Sprintf("rejected %s at %s:%d:%d byte %d field=%s value=%q raw=%q: %s\n", x.Class, x.File, x.Line, x.Column, x.Offset, x.Field, x.Value, x.Raw, x.Message)
			}
			if err != nil {
				return strings.ReplaceAll(out+explain(err), dir+"/", "")
			}
			for i := range texts {
				name := fmt.Sprintf("%s/%c.jsonl", dir, 'a'+i)
				y := res.tally[name]
				out += fmt.Sprintf("books %s rows=%d read=%d bytes=%d of %d", name, y.Rows, y.Read, y.Bytes, len(texts[i]))
				if y.Rejected > 0 {
					out += fmt.Sprintf(" rejected=%d", y.Rejected)
				}
				out += "\n"
			}
			return strings.ReplaceAll(out, dir+"/", "")
		})
	})
}

func scripted(d *datadriven.TestData) (o Options, e connectors.Env, h how, err error) {
	h.split = 1 << 30
	for _, a := range d.CmdArgs {
		v := strings.Join(a.Vals, ",")
		switch a.Key {
		case "columns":
			for _, f := range strings.Split(v, ";") {
				name, typ, _ := strings.Cut(strings.TrimSpace(f), " ")
				if typ, path, has := strings.Cut(typ, " @ "); has {
					err = errors.Join(err, o.Columns.SetFields(name, []string{"type", "path"}, []string{typ, path}))
				} else {
					err = errors.Join(err, o.Columns.SetEntry(name, typ))
				}
			}
		case "array":
			o.Format = "array"
		case "check":
			o.Check = "all"
		case "last":
			o.DuplicateKeys = "last"
		case "encoding":
			o.Encoding = v
		case "format":
			name, f, _ := strings.Cut(v, ",")
			err = errors.Join(err, o.Formats.SetEntry(name, f))
		case "skip":
			e.SkipBadRows, h.rejects = true, true
		case "only":
			h.columns = []int{}
			for _, s := range a.Vals {
				if i, err := strconv.Atoi(s); err == nil {
					h.columns = append(h.columns, i)
				}
			}
		}
	}
	return o, e, h, err
}

// explain prints an error with all it says about its place.
func explain(err error) string {
	s := "error: " + err.Error() + "\n"
	var e *connectors.DataError
	if errors.As(err, &e) {
		s += fmt.Sprintf("%s at %s:%d:%d field=%s value=%q wanted=%q order=%v\n", e.Kind, e.File, e.Line, e.Column, e.Field, e.Value, e.Wanted, e.Order)
	}
	return s
}
