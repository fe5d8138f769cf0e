package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// sample is a file of some rows in two row groups.
func sample(t testing.TB, compression string, rows int) []byte {
	t.Helper()
	s := expr.SchemaOf(
		expr.Field{Name: "id", Type: expr.Of(expr.BigInt).Nullable(false)},
		expr.Field{Name: "name", Type: expr.Of(expr.String)},
		expr.Field{Name: "amount", Type: expr.DecimalOf(20, 2)},
		expr.Field{Name: "ok", Type: expr.Of(expr.Boolean)},
	)
	var b bytes.Buffer
	codec, err := sinkState{Compression: compression}.codec()
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEncoder(s, &b, codec, usualLimits(), int64(max(rows/2, 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Write(operators.Batch{Rec: record(memory.DefaultAllocator, s, 0, rows, false)}); err != nil {
		t.Fatal(err)
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func save(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDamage flips, cuts and empties: a damaged file fails by name, or the damage lies where nothing
// was read, and then all rows come.
func TestDamage(t *testing.T) {
	for _, compression := range []string{"snappy", "zstd", "none"} {
		good := sample(t, compression, 1000)
		all, err := readAll(t, alloc(t), input{Options: Options{Path: []string{save(t, good)}}})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			damage func(b []byte) []byte
			text   string
		}{
			"first page header":    {func(b []byte) []byte { return flip(b, 4, 12) }, "row group 0, column id: page 0:"},
			"cut tail":             {func(b []byte) []byte { return b[:len(b)-20] }, "does not end with PAR1"},
			"empty":                {func([]byte) []byte { return nil }, "too few for a Parquet file"},
			"text":                 {func([]byte) []byte { return []byte("id,name\n1,Ada\n2,Bob\n") }, "no Parquet file"},
			"footer length":        {func(b []byte) []byte { return flip(b, len(b)-8, 4) }, "footer"},
			"footer":               {func(b []byte) []byte { return flip(b, len(b)-60, 40) }, ""},
			"head":                 {func(b []byte) []byte { return flip(b, 0, 4) }, "does not begin with PAR1"},
			"encrypted":            {func(b []byte) []byte { copy(b[len(b)-4:], "PARE"); return b }, "encrypted"},
			"missing middle":       {func(b []byte) []byte { return append(b[:200:200], b[300:]...) }, ""},
			"second column's page": {func(b []byte) []byte { return flip(b, len(b)/3, 12) }, ""},
		} {
			t.Run(compression+" "+name, func(t *testing.T) {
				path := save(t, c.damage(bytes.Clone(good)))
				got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
				if err == nil {
					// Bytes of plain values, and of pages without checksum, may be other values.
					if len(got) != len(all) {
						t.Fatalf("%d rows of %d and no error", len(got), len(all))
					}
					if c.text != "" {
						t.Error("no error")
					}
					return
				}
				var e *connectors.DataError
				if !errors.As(err, &e) || e.File != path || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%v (%T)", err, err)
				}
				if strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "goroutine") {
					t.Errorf("the text of a panic: %v", err)
				}
			})
		}
	}
}

func flip(b []byte, at, n int) []byte {
	for i := range n {
		b[at+i] ^= 0xff
	}
	return b
}

// TestEveryByte flips bytes all over a small file, some bits of each: never a panic, never fewer rows
// without an error.
func TestEveryByte(t *testing.T) {
	good := sample(t, "snappy", 40)
	path := save(t, good)
	step := 1
	if testing.Short() {
		step = 5
	}
	for i := 0; i < len(good); i += step {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		a := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := readQuietly(t, a, path)
		if err == nil && got != 40 {
			t.Fatalf("byte %d: %d rows and no error", i, got)
		}
		checkSkipping(t, path, got, err)
		a.AssertSize(t, 0)
	}
}

// readQuietly reads all rows and counts them; errors come from any step.
func readQuietly(t testing.TB, a memory.Allocator, path string) (int, error) {
	rows, _, err := readLeaving(t, a, path, false)
	return rows, err
}

// readLeaving is readQuietly, without bad rows where they are skipped; it gives these too.
func readLeaving(t testing.TB, a memory.Allocator, path string, skip bool) (rows int, bad []connectors.Reject, err error) {
	state, err := Spec.Bind(t.Context(), Options{Path: []string{path}}, connectors.Env{Node: "in", SkipBadRows: skip})
	if err != nil {
		return 0, nil, err
	}
	src, err := Spec.Open(state)
	if err != nil {
		return 0, nil, err
	}
	all := make([]int, len(src.Schema().Fields))
	for i := range all {
		all[i] = i
	}
	src.Push(connectors.Pushdown{Columns: all, Limit: -1, Rejects: skip})
	e, err := src.Enumerator(t.Context(), connectors.SplitOptions{}, nil)
	if err != nil {
		return 0, nil, err
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		return 0, nil, err
	}
	r, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: a})
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	r.Add(splits)
	for {
		b, status, err := r.Next(t.Context())
		bad = append(bad, r.(connectors.Rejecting).Rejects()...)
		if len(bad) > mostBad {
			return rows, bad, errManyBad
		}
		if err != nil || status != connectors.More {
			return rows, bad, err
		}
		if b.Rec != nil {
			rows += b.Rows()
			lines(b, src.Schema())
			b.Rec.Release()
		}
	}
}

// A file of few bytes may have millions of rows, all of them bad.
const mostBad = 1 << 16

var errManyBad = errors.New("there are more bad rows than a test looks at")

// checkSkipping reads a file once more without its bad rows: what is damaged fails as it does without on_error, and what
// has no bad rows gives the same.
func checkSkipping(t testing.TB, path string, rows int, failed error) {
	a := memory.NewCheckedAllocator(memory.DefaultAllocator)
	good, bad, err := readLeaving(t, a, path, true)
	a.AssertSize(t, 0)
	var d *connectors.DataError
	switch {
	case errors.Is(err, errManyBad) && failed != nil:
	case failed == nil && (err != nil || good != rows || len(bad) > 0):
		t.Errorf("%d rows are good; without bad ones there are %d, %d bad, %v", rows, good, len(bad), err)
	case errors.As(failed, &d) && d.Kind == "DamagedFile" && err == nil:
		t.Errorf("damage is skipped: %v; %d rows, %d bad", failed, good, len(bad))
	case failed != nil && err == nil && len(bad) == 0:
		t.Errorf("%v, and nothing is bad", failed)
	}
	for _, x := range bad {
		if !json.Valid([]byte(x.Raw)) {
			t.Errorf("row %d: %s", x.Line, x.Raw)
		}
	}
}

func FuzzParquetOpen(f *testing.F) {
	f.Add(sample(f, "snappy", 20))
	f.Add(sample(f, "none", 3))
	f.Add(sample(f, "zstd", 0))
	nested, err := os.ReadFile(nestedFile(f, "n.parquet", orderTypes, orderIDs, orderC, orderItems, orderM))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(nested)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		a := memory.NewCheckedAllocator(memory.DefaultAllocator)
		path := save(t, data)
		rows, err := readQuietly(t, a, path)
		a.AssertSize(t, 0)
		checkSkipping(t, path, rows, err)
		var c interface{ Class() string }
		if err != nil && !errors.As(err, &c) {
			t.Errorf("no class: %v", err)
		}
	})
}

// TestChecksum flips a bit in every page of a file of ours: the error names file, row group and column.
func TestChecksum(t *testing.T) {
	good := sample(t, "none", 1000) // any bits decode
	pages := 0
	for g, group := range otherFooter(t, good).RowGroups {
		for _, c := range group.Columns {
			at := c.MetaData.DataPageOffset
			if d := c.MetaData.DictionaryPageOffset; d != nil {
				at = *d
			}
			for end := at + c.MetaData.TotalCompressedSize; at < end; pages++ {
				h, body, rest, err := nextPage(good[at:end])
				if err != nil || !h.hasCRC {
					t.Fatal(h, err)
				}
				bad := bytes.Clone(good)
				bad[end-int64(len(rest))-int64(len(body)/2)-1] ^= 1
				path := save(t, bad)
				_, err = readQuietly(t, alloc(t), path)
				text := fmt.Sprintf("row group %d, column %s: page", g, c.MetaData.PathInSchema[0])
				var e *connectors.DataError
				if !errors.As(err, &e) || e.Kind != "DamagedFile" || e.File != path || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "checksum") {
					t.Errorf("%s: %v", text, err)
				}
				at = end - int64(len(rest))
			}
		}
	}
	if pages < 8 {
		t.Errorf("only %d pages", pages)
	}
}
