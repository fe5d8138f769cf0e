package runner

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/badrows"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// readRejects reads what a sink of bad rows wrote, and makes sure that it is that. There may be millions of them,
// so they go to disk, where they are sorted.
func (r *run) readRejects(bp *jobgraph.BoundPlan, k *report.Sink) (_ iter.Seq2[connectors.Record, error], err error) {
	paths, err := r.s.replay.written(bp, k)
	if err != nil {
		return nil, err
	}
	src, err := r.rejectsSource(k, paths)
	if err != nil {
		return nil, refuse("sink %s: its bad rows cannot be read again: %v", k.Node, err)
	}
	f, err := os.CreateTemp(r.s.replay.dir, "rejects-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	rd := &rejectsReader{run: r, src: src, schema: connectors.RejectSchema(), spool: badrows.NewSpool(f, badrows.DefaultLimit)}
	if err := rd.read(); err != nil {
		if r.ctx.Err() != nil {
			return nil, err
		}
		return nil, refuse("sink %s: its bad rows cannot be read again: %v", k.Node, err)
	}
	part, err := rd.spool.Finish()
	if err != nil {
		return nil, err
	}
	part.Path = f.Name()
	sum := rd.digest.Sum()
	if got := hex.EncodeToString(sum[:]); !r.s.replay.Force && (got != k.Digest || part.Rows != k.Rows) {
		return nil, refuse("%s: these are not the %d bad rows that run %s wrote: %d rows with another content stand there; give --force to replay them",
			strings.Join(k.Files, ", "), k.Rows, r.s.replay.Earlier.RunID, part.Rows)
	}
	return badrows.Merge(r.s.replay.dir, []badrows.Part{part}), nil
}

// written are the files of a sink of bad rows. A secret in their paths is not in the report: then they are
// looked for where the sink of that name writes now.
func (of *ReplayOf) written(bp *jobgraph.BoundPlan, k *report.Sink) ([]string, error) {
	if !slices.ContainsFunc(k.Files, func(f string) bool { return strings.Contains(f, plans.Hidden) }) {
		return k.Files, nil
	}
	at := map[string]string{}
	for _, t := range bp.Sinks[k.Node].Targets {
		at[of.plan.Hide(files.Display(t))] = t
		entries, err := os.ReadDir(t)
		if err != nil {
			continue // a file, or nothing: then it is missing below
		}
		for _, e := range entries {
			path := filepath.Join(t, e.Name())
			at[of.plan.Hide(files.Display(path))] = path
		}
	}
	var out []string
	for _, f := range k.Files {
		path, ok := at[f]
		if !ok {
			return nil, refuse("sink %s: the path of its bad rows has a secret in it that the report hides, and %s has no sink %s that writes there now; "+
				"give a plan with that sink, and the parameters with the secret as they were%s", k.Node, of.plan.File, k.Node, of.otherParams())
		}
		out = append(out, path)
	}
	return out, nil
}

// rejectsSource is a source of a sink's files, with the options that they were written with.
func (r *run) rejectsSource(k *report.Sink, paths []string) (connectors.Source, error) {
	c := r.cat.Connectors[k.Rejects.Kind]
	if c == nil || !c.IsSource() {
		return nil, fmt.Errorf("what a %s sink takes cannot be read; use csv, json or parquet", k.Rejects.Kind)
	}
	if len(k.Files) == 0 {
		return nil, errors.New("the report names no file that it wrote")
	}
	o := map[string]any{}
	if err := json.Unmarshal(k.Rejects.Options, &o); err != nil {
		return nil, fmt.Errorf("reading the options it had: %w", err)
	}
	for name := range o {
		if name == "mode" || k.Rejects.Kind == "parquet" {
			delete(o, name)
		}
	}
	o["path"] = paths
	if k.Rejects.Kind != "parquet" { // whose files know their columns
		o["columns"] = connectors.Columns(connectors.RejectSchema().Fields)
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	state, err := c.Bind(r.ctx, b, connectors.Env{Node: k.Node, Dir: "."})
	if err != nil {
		return nil, err
	}
	return c.Open(state)
}

// A rejectsReader reads bad rows.
type rejectsReader struct {
	run    *run
	src    connectors.Source
	schema expr.Schema
	digest *column.Digest
	spool  *badrows.Spool
}

func (rd *rejectsReader) read() (err error) {
	rd.digest = column.NewDigest(rd.schema)
	var cols []int
	for _, f := range rd.schema.Fields {
		i := rd.src.Schema().Index(f.Name)
		if i < 0 || !rd.src.Schema().Fields[i].Type.Same(f.Type) {
			return fmt.Errorf("it has no column %s of type %s", f.Name, f.Type)
		}
		cols = append(cols, i)
	}
	ctx := rd.run.ctx
	rd.src.Push(connectors.Pushdown{Columns: cols, Limit: -1})
	e, err := rd.src.Enumerator(ctx, connectors.SplitOptions{}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	from, err := rd.src.Reader(&operators.Task{Ctx: ctx, Parallelism: 1, MaxParallelism: 1, Alloc: memory.NewGoAllocator()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	for done := false; ; {
		b, status, err := from.Next(ctx)
		switch {
		case err != nil:
			return err
		case status == connectors.More:
			if err := rd.take(b); err != nil {
				return err
			}
		case status == connectors.NeedSplit && !done:
			var found []connectors.Split
			if found, done, err = e.Discover(ctx); err != nil {
				return err
			}
			from.Add(found)
		default:
			return nil
		}
	}
}

// take takes the records of a batch, and its reference.
func (rd *rejectsReader) take(b operators.Batch) error {
	rd.digest.Add(b)
	rec := column.Compact(memory.NewGoAllocator(), b)
	defer rec.Release()
	offset, ok := rec.Column(2).(*array.Int64)
	if !ok {
		return fmt.Errorf("byte_offset is %s", rec.Column(2).DataType())
	}
	for i := range int(rec.NumRows()) {
		r := connectors.Record{File: textAt(rec.Column(0), i), Offset: offset.Value(i), Raw: textAt(rec.Column(6), i)}
		if line, ok := rec.Column(1).(*array.Int64); ok && line.IsValid(i) {
			r.Line = line.Value(i)
		}
		if err := rd.spool.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// textAt is the text at a place of a column of texts.
func textAt(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.String:
		return strings.Clone(a.Value(i))
	case *array.Dictionary:
		if d, ok := a.Dictionary().(*array.String); ok && a.IsValid(i) {
			return strings.Clone(d.Value(a.GetValueIndex(i)))
		}
	}
	return ""
}
