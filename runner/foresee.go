package runner

import (
	"context"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// A FilePruning is what the filter of a source will pass over of a file.
type FilePruning struct {
	Path string `json:"path"`
	report.Pruning
}

// foresee asks the sources of a graph what their filters pass over by statistics. It opens their files once more.
func foresee(ctx context.Context, cat jobgraph.Catalogs, g *jobgraph.Graph) (map[string][]FilePruning, error) {
	var out map[string][]FilePruning
	for _, v := range g.Vertices {
		for _, op := range v.Operators {
			if op.Source == nil || op.Source.Push.Where == nil {
				continue
			}
			src, err := cat.Connectors[op.Component].Open(op.Source.State)
			if err != nil {
				return nil, err
			}
			p, ok := src.(connectors.Pruned)
			if !ok {
				continue
			}
			src.Push(op.Source.Push)
			tallies, err := p.Foresee(ctx)
			if err != nil {
				return nil, err
			}
			for _, t := range tallies {
				f := report.PruningOf(&t)
				if f == nil {
					continue
				}
				if out == nil {
					out = map[string][]FilePruning{}
				}
				out[op.Node] = append(out[op.Node], FilePruning{t.File, *f})
			}
		}
	}
	return out, nil
}

// writePruning says shortly what the filter of a source will pass over.
func (x *Explanation) writePruning(b *strings.Builder, node string) {
	var files []report.SourceFile
	for _, f := range x.Pruning[node] {
		files = append(files, report.SourceFile{Path: f.Path, Pruning: &f.Pruning})
	}
	report.WritePruning(b, node, files, "     ")
}
