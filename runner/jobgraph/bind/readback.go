package bind

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// readBack warns of sinks whose output the paths of a source mean as well: the next run would take it for
// input.
func readBack(bp *jobgraph.BoundPlan, cat connectors.Catalog) plans.Findings {
	var found plans.Findings
	for i := range bp.Plan.Nodes {
		sink := &bp.Plan.Nodes[i]
		if sink.Sink == nil {
			continue
		}
		for k := range bp.Plan.Nodes {
			src := &bp.Plan.Nodes[k]
			if src.Source == nil || cat[src.Source.Kind] == nil || !cat[src.Source.Kind].ReadsFiles() {
				continue
			}
			if replaces(bp.Sinks[sink.Name], bp.Sources[src.Name]) {
				continue // a fault, which is told as one
			}
			if p := covering(src.Source, bp.Plan.Dir, sink.Sink.Kind, bp.Sinks[sink.Name]); p != "" {
				f := plans.NewFinding(bp.Plan, sink.Sink.Pos, "target-under-source",
					fmt.Sprintf("what sink %s writes lies under path %q of source %s: the next run would read it", sink.Name, p, src.Name))
				f.Severity = plans.SeverityWarning
				f.Hint = "write it to another folder, or narrow the source's path"
				found = append(found, f)
			}
		}
	}
	return found
}

// replaces reports whether a target is one of the source's files.
func replaces(sink connectors.BoundSink, src jobgraph.BoundSource) bool {
	if src.Source == nil {
		return false
	}
	return slices.ContainsFunc(src.Source.Inventory().Files, func(f connectors.File) bool {
		return slices.Contains(sink.Targets, resolved(f.Path))
	})
}

// covering is the pattern of a source that means what a sink writes, "" where none does.
func covering(src *plans.Connector, dir, kind string, sink connectors.BoundSink) string {
	var o struct {
		Path []string `json:"path"`
	}
	if json.Unmarshal(src.Options, &o) != nil {
		return "" // the connector says what is wrong
	}
	for _, t := range sink.Targets {
		if !sink.SingleFile {
			t = filepath.Join(t, "part-0-0."+kind)
		}
		i := slices.IndexFunc(o.Path, func(p string) bool {
			return files.Covers(p, dir, t) || files.Covers(p, resolved(dir), t)
		})
		if i >= 0 {
			return o.Path[i]
		}
	}
	return ""
}
