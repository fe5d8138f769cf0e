package runner

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/badrows"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/store"
)

// keepingRejects executes a job, and keeps the rows that its sources leave out in files beside the report: as they
// come in a folder of its own, and sorted when it has published. That they cannot be kept is a warning.
func (r *run) keepingRejects(g *jobgraph.Graph) error {
	if r.s.ReportFile == nil || !r.s.Options.Bool(config.RejectsJournal) || !leavesOut(g) {
		return r.execute(g)
	}
	dir, err := scratch(r.s.SpillDir, "runner-rejects-")
	if err != nil {
		r.warn("bad rows are not kept for a replay: %v", err)
		return r.execute(g)
	}
	r.rejectsDir = dir
	defer func() { _ = os.RemoveAll(dir) }() // it is of no use; what is left of it the next run removes
	if err := r.execute(g); err != nil || r.out.Snapshot.State != rpc.JobFinished {
		return err
	}
	r.out.Rejects = map[string]*report.RejectsFile{}
	for i, v := range g.Vertices {
		for _, op := range v.Operators {
			if op.Source == nil || op.Source.Rejects == nil {
				continue
			}
			kept, err := r.keepRejects(op.Node, r.out.Snapshot.Vertices[i].Subtasks)
			if err != nil {
				r.warn("the bad rows of source %s are not kept for a replay: %v", op.Node, err)
			}
			r.out.Rejects[op.Node] = kept
		}
	}
	return nil
}

// leavesOut reports whether a source may leave rows out.
func leavesOut(g *jobgraph.Graph) bool {
	for _, v := range g.Vertices {
		for _, op := range v.Operators {
			if op.Source != nil && op.Source.Rejects != nil {
				return true
			}
		}
	}
	return false
}

// keepRejects puts what the attempts of a source that count left out into one file; nil where that is nothing.
func (r *run) keepRejects(node string, subtasks []jobmaster.SubtaskSnapshot) (*report.RejectsFile, error) {
	var parts []badrows.Part
	var rejected, kept int64
	for _, t := range subtasks {
		for _, f := range t.Metrics.Files {
			rejected += f.Rejected
		}
		p := t.Metrics.Rejects
		if p == nil {
			continue
		}
		if p.Failed != "" {
			return nil, errors.New(p.Failed)
		}
		parts = append(parts, badrows.Part{Path: p.Path, Ends: p.Ends, Rows: p.Rows})
		kept += p.Rows
	}
	if rejected == 0 || parts == nil { // or a source that cannot read single records again
		return nil, nil
	}
	if kept != rejected {
		return nil, fmt.Errorf("%d of %d were", kept, rejected)
	}
	path := r.s.ReportFile(r.out.Plan.Name, r.id) + "." + node + ".rejects"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	out := report.RejectsFile{File: filepath.Base(path)}
	err := store.Write(path, func(w io.Writer) (err error) {
		out.Bytes, out.Rows, err = badrows.Write(w, r.hidden(badrows.Merge(r.rejectsDir, parts)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// hidden hides what is secret of the paths of records. Two files that look alike then could not be told apart.
func (r *run) hidden(records iter.Seq2[connectors.Record, error]) iter.Seq2[connectors.Record, error] {
	if !r.plan.HasSecrets() {
		return records
	}
	shown := map[string]string{}
	return func(yield func(connectors.Record, error) bool) {
		for x, err := range records {
			if _, known := shown[x.File]; err == nil && !known {
				path := r.plan.Hide(x.File)
				if slices.Contains(slices.Collect(maps.Values(shown)), path) {
					err = fmt.Errorf("two files are shown as %s, since a secret is hidden", path)
				}
				shown[x.File] = path
			}
			x.File = shown[x.File]
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// keptRejects is the file with what the earlier run left out of a source, nil where there is none, or it is not
// the one that the run wrote.
func (of *ReplayOf) keptRejects(s *report.Source) []badrows.Part {
	if s == nil || s.Rejects == nil || of.File == standardInput {
		return nil
	}
	path := filepath.Join(filepath.Dir(of.File), s.Rejects.File)
	if info, err := os.Stat(path); err != nil || info.Size() != s.Rejects.Bytes {
		return nil
	}
	return []badrows.Part{{Path: path, Ends: []int64{s.Rejects.Bytes}, Rows: s.Rejects.Rows}}
}

// found gives records with their files as the source names them now.
func (of *ReplayOf) found(records iter.Seq2[connectors.Record, error], now connectors.Inventory) iter.Seq2[connectors.Record, error] {
	names := map[string]string{}
	return func(yield func(connectors.Record, error) bool) {
		for x, err := range records {
			if _, known := names[x.File]; !known {
				names[x.File] = x.File
				for _, f := range now.Files {
					if of.plan.Hide(f.Path) == x.File {
						names[x.File] = f.Path
					}
				}
			}
			x.File = names[x.File]
			if !yield(x, err) {
				return
			}
		}
	}
}
