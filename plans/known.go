package plans

import (
	"maps"
	"slices"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A Kind is what may stand as the kind key of a source, a sink or a step.
type Kind struct {
	Summary   string
	Options   func() any // a new, zero options struct by pointer; see config/spec for its tags
	MinInputs int        // of a step
	MaxInputs int
}

// Known are the components a plan may name.
type Known struct {
	Sources map[string]Kind
	Sinks   map[string]Kind
	Steps   map[string]Kind
	Lookup  Lookup // of ${env:NAME} and ${file:PATH}
}

// KnownOf lists what two catalogs offer to plans. An operator is a step where its options can be
// written in YAML (they have yaml tags); the others serve the forms that plans have keys of their own
// for: select, group_by, union.
func KnownOf(c connectors.Catalog, o operators.Catalog) Known {
	k := Known{Sources: map[string]Kind{}, Sinks: map[string]Kind{}, Steps: map[string]Kind{}, Lookup: SystemLookup()}
	for name, component := range c {
		kind := Kind{Summary: component.Summary(), Options: component.Options}
		if component.IsSource() {
			k.Sources[name] = kind
		}
		if component.IsSink() {
			k.Sinks[name] = kind
		}
	}
	for name, component := range o {
		if len(spec.Fields(component.Options())) == 0 || transformKey(name) {
			continue
		}
		t := component.Traits()
		k.Steps[name] = Kind{Summary: component.Summary(), Options: component.Options, MinInputs: t.MinInputs, MaxInputs: t.MaxInputs}
	}
	return k
}

func (k Known) of(s Section) map[string]Kind {
	switch s {
	case Sources:
		return k.Sources
	case Sinks:
		return k.Sinks
	case Transforms:
		return k.Steps
	}
	return nil
}

func names(kinds map[string]Kind) []string { return slices.Sorted(maps.Keys(kinds)) }

// The keys of the plan and its nodes.
func topKeys() []string {
	return []string{"name", "mode", "params", string(Sources), string(Transforms), string(Aggregations), string(Sinks), "settings"}
}

func nodeKeys() []string { return []string{"parallelism", "slot_sharing_group", "uid", "doc"} }

func selectKeys() []string {
	return []string{"from", "where", "select", "distinct", "order_by", "limit", "offset"}
}

func aggregateKeys() []string { return []string{"from", "group_by", "measures", "having"} }

func transformKey(name string) bool {
	return slices.Contains(append(selectKeys(), "union", "unnest"), name)
}

// laterKeys are known and refused by name: what they bring is not built yet.
func laterKeys(s Section) []string {
	switch s {
	case "":
		return []string{"tests", "sql"}
	case Sources:
		return []string{"kafka", "postgres", "avro", "slot_sharing"}
	case Sinks:
		return []string{"kafka", "postgres", "avro", "slot_sharing"}
	case Transforms:
		return []string{"sql", "join", "window", "slot_sharing"}
	}
	return []string{"window", "slot_sharing"}
}

// whereabouts tells for every key where it is allowed, for keys found elsewhere.
func (r *reader) whereabouts() map[string]string {
	if r.places != nil {
		return r.places
	}
	m := map[string]string{}
	r.places = m
	put := func(where string, keys ...string) {
		for _, k := range keys {
			if m[k] == "" {
				m[k] = where
			}
		}
	}
	put("the plan, at top level", topKeys()...)
	put("a node (one of sources, transforms, aggregations or sinks)", nodeKeys()...)
	put("transforms, aggregations and sinks", "from")
	put("a transform", append(selectKeys(), "union", "unnest")...)
	put("an aggregation", aggregateKeys()...)
	put("a source", "on_error", "watermark")
	for _, s := range []Section{Sources, Transforms, Sinks} {
		kinds := r.known.of(s)
		for _, kind := range names(kinds) {
			for _, f := range spec.Fields(kinds[kind].Options()) {
				put(kind+" in "+string(s), f.Name)
			}
		}
	}
	for _, s := range []Section{Sources, Transforms, Sinks} {
		for _, kind := range names(r.known.of(s)) {
			put("a node in "+string(s), kind)
		}
	}
	put("settings", r.options.Names("")...)
	return m
}
