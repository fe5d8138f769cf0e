package operatortest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// tiny is a budget of managed memory that few operators get by with.
const tiny = 16 << 10

// A Stage is one operator of a chain of exchanges: its options are JSON.
type Stage struct {
	Component operators.Component
	Options   string
}

// A Case is an input and what must come out of it.
type Case struct {
	Name    string
	In      []string // the rows of each input, see ParseRows
	Want    string   // rows, in any order unless Ordered
	Ordered bool
	Error   string // the run fails, and the error says this
	Then    []Stage
	Count   bool // only the number of rows must be as wanted: which they are is open
}

// Run runs each case over component and the stages after it in many variants: batches of 1, 2, 7
// and all rows; 1 to 4 subtasks, rows going where Needs says; plain and dictionary-coded texts; with
// and without a selection; with and without memory. The result must be the wanted one, the
// output's columns of the types that Schema declares, the books must balance, and all memory be
// given back.
func Run(t *testing.T, component operators.Component, options string, in []expr.Schema, cases ...Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			stages := append([]Stage{{component, options}}, c.Then...)
			for _, v := range variants() {
				got, err := runVariant(v, stages, in, c.In)
				if problem := c.judge(got, err); problem != "" {
					t.Fatalf("%s:\n%s", v, problem)
				}
			}
		})
	}
}

// variants are batch sizes times subtasks, each with a third of the ways to code, select and limit
// memory, by turns, so that any two settings meet.
func variants() []variant {
	var out []variant
	turn := 0
	for _, batch := range []int{0, 1, 2, 7} {
		for parallelism := 1; parallelism <= 4; parallelism++ {
			for mode := range numModes {
				for _, selection := range []bool{false, true} {
					for _, budget := range []int64{-1, tiny} {
						if turn%3 == (batch+parallelism)%3 || len(out) == 0 {
							out = append(out, variant{batch: batch, parallelism: parallelism, dictionary: mode, selection: selection, budget: budget})
						}
						turn++
					}
				}
			}
		}
	}
	return out
}

// judge says what is wrong with a result, "" if nothing.
func (c *Case) judge(got []string, err error) string {
	if c.Error != "" {
		if err == nil {
			return "no error, expected one that says: " + c.Error
		}
		if !strings.Contains(err.Error(), c.Error) {
			return fmt.Sprintf("the error says: %v\nexpected: %s", err, c.Error)
		}
		return ""
	}
	if err != nil {
		return "error: " + err.Error()
	}
	var want []string
	for _, line := range strings.Split(c.Want, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			want = append(want, line)
		}
	}
	if c.Count && len(got) == len(want) {
		return ""
	}
	if !c.Ordered {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		return "got:\n" + strings.Join(got, "\n") + "\nwanted:\n" + strings.Join(want, "\n")
	}
	return ""
}

// A Setting is one way to run stages.
type Setting struct {
	Batch       int // rows of a batch, 0: all
	Parallelism int // 0: 1
	Memory      int64
	Spills      *int // where not nil, the number of spill files is added to it
}

// Result runs the stages once and returns the rows; the books and memory are checked too.
func Result(stages []Stage, in []expr.Schema, rows []string, o Setting) ([]string, error) {
	v := variant{batch: o.Batch, parallelism: max(o.Parallelism, 1), budget: o.Memory, spills: o.Spills}
	return runVariant(v, stages, in, rows)
}

func runVariant(v variant, stages []Stage, in []expr.Schema, rows []string) (lines []string, err error) {
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	var inputs []arrow.Record
	defer func() {
		release(inputs)
		leaks := &leak{}
		if alloc.AssertSize(leaks, 0); leaks.Len() > 0 {
			err = errors.Join(errors.New(leaks.String()), err)
		}
	}()
	for i, s := range in {
		rec, err := ParseRows(alloc, s, rows[i])
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, rec)
	}
	for _, s := range stages {
		out, schema, err := runStage(alloc, v, s, in, inputs)
		if err != nil {
			return nil, err
		}
		release(inputs)
		inputs, in = []arrow.Record{out}, []expr.Schema{schema}
	}
	return FormatRows(in[0], inputs[0], nil), nil
}

// runStage runs one operator over its subtasks and puts their output together, in their order.
func runStage(alloc memory.Allocator, v variant, s Stage, in []expr.Schema, inputs []arrow.Record) (arrow.Record, expr.Schema, error) {
	options := []byte(s.Options)
	schema, err := s.Component.Schema(options, in)
	if err != nil {
		return nil, schema, err
	}
	needs, err := s.Component.Needs(options, in)
	if err != nil {
		return nil, schema, err
	}
	parallelism := v.parallelism
	for _, n := range needs {
		if n.Kind == operators.Global {
			parallelism = 1
		}
	}
	parts := make([][]arrow.Record, len(in)) // by input and subtask
	for i := range in {
		parts[i] = distribute(alloc, in[i], inputs[i], needs[i], parallelism)
		defer release(parts[i])
	}
	var out []arrow.Record
	defer func() { release(out) }()
	for sub := range parallelism {
		mine := make([]arrow.Record, len(in))
		for i := range in {
			mine[i] = parts[i][sub]
		}
		recs, err := runSubtask(v, s, in, mine, schema, sub, parallelism)
		out = append(out, recs...)
		if err != nil {
			return nil, schema, err
		}
	}
	return join(alloc, schema, out), schema, nil
}

// distribute gives each subtask its rows of an input.
func distribute(alloc memory.Allocator, s expr.Schema, rec arrow.Record, need operators.Distribution, parallelism int) []arrow.Record {
	n := int(rec.NumRows())
	idx := make([][]int32, parallelism)
	var hashes []uint64
	if need.Kind == operators.Hash {
		var keys []arrow.Array
		for _, k := range need.Keys {
			keys = append(keys, rec.Column(k))
		}
		types := make([]expr.Type, len(keys))
		for i, f := range s.Pick(need.Keys).Fields {
			types[i] = f.Type
		}
		hashes = make([]uint64, n)
		column.NewHasher(types).Hash(keys, nil, nil, hashes)
	}
	for row := range n {
		sub := row * parallelism / n
		switch need.Kind {
		case operators.Hash:
			sub = column.KeyGroup(hashes[row], MaxParallelism) * parallelism / MaxParallelism
		case operators.Broadcast:
			for i := range idx {
				idx[i] = append(idx[i], int32(row))
			}
			continue
		}
		idx[sub] = append(idx[sub], int32(row))
	}
	out := make([]arrow.Record, parallelism)
	for i := range out {
		rec.Retain()
		if idx[i] == nil {
			idx[i] = []int32{}
		}
		out[i] = column.Compact(alloc, operators.Batch{Rec: rec, Sel: idx[i]})
	}
	return out
}

func release(recs []arrow.Record) {
	for _, r := range recs {
		r.Release()
	}
}

// join is the records as one, with plain texts.
func join(alloc memory.Allocator, s expr.Schema, recs []arrow.Record) arrow.Record {
	text := make([]arrow.Array, len(s.Fields))
	rows := int64(0)
	for _, r := range recs {
		rows += r.NumRows()
	}
	for c := range text {
		var parts []arrow.Array
		for _, r := range recs {
			p := column.Plain(alloc, r.Column(c))
			defer p.Release()
			parts = append(parts, p)
		}
		if len(parts) == 0 {
			text[c] = emptyColumn(alloc, s.Fields[c].Type)
		} else if a, err := column.Concat(alloc, parts); err == nil {
			text[c] = a
		} else {
			panic(err) // columns were checked against the schema
		}
		defer text[c].Release()
	}
	return column.NewRecord(s.Fields, text, rows)
}
