package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// RedirectSinks gives a catalog whose sinks write below dir and not where the plan says, so that
// repeated runs of a plan neither touch its results nor fail because they exist. What a sink writes,
// and by how many writers, stays as it is: each has a folder of its own for the last part of its path.
// Sinks without a path, which keep nothing, are as they were.
func RedirectSinks(cat connectors.Catalog, dir string) connectors.Catalog {
	out := make(connectors.Catalog, len(cat))
	for name, c := range cat {
		out[name] = redirected{Component: c, dir: dir}
	}
	return out
}

type redirected struct {
	connectors.Component
	dir string
}

// BindSink binds the sink to its place below the folder.
func (r redirected) BindSink(ctx context.Context, options json.RawMessage, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	options, err := r.moved(options, e)
	if err != nil {
		return connectors.BoundSink{}, fmt.Errorf("sink %s: %w", e.Node, err)
	}
	return r.Component.BindSink(ctx, options, in, e)
}

// moved replaces the option path, which a component declares as one text or as a list with one element.
func (r redirected) moved(options json.RawMessage, e connectors.Env) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if len(options) == 0 {
		return options, nil
	}
	if err := json.Unmarshal(options, &all); err != nil {
		return nil, fmt.Errorf("reading its options: %w", err)
	}
	var path string
	var list []string
	switch raw := all["path"]; {
	case raw == nil:
		return options, nil
	case json.Unmarshal(raw, &path) == nil:
	case json.Unmarshal(raw, &list) == nil && len(list) == 1:
		path = list[0]
	default:
		return options, nil // the component itself says what is wrong with it
	}
	home := filepath.Join(r.dir, e.Node)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for its results: %w", err)
	}
	var value any = filepath.Join(home, filepath.Base(path))
	if list != nil {
		value = []string{filepath.Join(home, filepath.Base(path))}
	}
	moved, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing its options: %w", err)
	}
	all["path"] = moved
	return json.Marshal(all)
}
