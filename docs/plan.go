package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A schema is the part of a JSON Schema that the page shows.
type schema struct {
	Type        any               `json:"type"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Required    []string          `json:"required"`
	OneOf       []schema          `json:"oneOf"`
	AnyOf       []schema          `json:"anyOf"`
	Enum        []any             `json:"enum"`
	Pattern     string            `json:"pattern"`
}

// planPage lists the keys of a plan and its nodes, as the schema of plans has them.
func planPage(planSchema []byte) ([]byte, error) {
	var s schema
	if err := json.Unmarshal(planSchema, &s); err != nil {
		return nil, fmt.Errorf("reading the schema of plans: %w", err)
	}
	p := newPage("Keys of a plan")
	p.paragraph("What they mean, with examples: [The plan](../plan.md). For editors the same is in `plan.schema.json`; a plan names it in its first line:\n\n" +
		"    # yaml-language-server: $schema=plan.schema.json")
	keyTable(p, s, nil)
	sections := []string{"sources", "transforms", "aggregations", "sinks"}
	common := commonKeys(s, sections)
	p.heading("Every node")
	keyTable(p, pick(nodeOf(s.Properties[sections[0]]), common), common)
	for _, name := range sections {
		n := nodeOf(s.Properties[name])
		p.heading("A node of " + name)
		var kinds []string
		for _, o := range n.OneOf {
			kinds = append(kinds, o.Required...)
		}
		if len(kinds) > 0 {
			p.paragraph("Exactly one kind: " + codes(kinds) + "; their options are in [Connectors](connectors.md).")
		}
		keys := slices.DeleteFunc(slices.Collect(maps.Keys(n.Properties)), func(k string) bool { return slices.Contains(common, k) || slices.Contains(kinds, k) })
		if len(keys) > 0 {
			keyTable(p, pick(n, keys), keys)
		}
	}
	p.paragraph("`settings` takes the [options of jobs](options.md#options-of-jobs). Keys at top level that begin with `x-` are free.")
	return p.bytes(), nil
}

// nodeOf is the schema of the nodes of a section.
func nodeOf(section schema) schema {
	var n schema
	if json.Unmarshal(section.Additional, &n) != nil {
		return schema{} // false: no other keys
	}
	return n
}

func commonKeys(s schema, sections []string) []string {
	var common []string
	for key := range nodeOf(s.Properties[sections[0]]).Properties {
		everywhere := true
		for _, name := range sections {
			_, has := nodeOf(s.Properties[name]).Properties[key]
			everywhere = everywhere && has
		}
		if everywhere {
			common = append(common, key)
		}
	}
	return common
}

func pick(s schema, keys []string) schema {
	out := s
	out.Properties = map[string]schema{}
	for _, k := range keys {
		out.Properties[k] = s.Properties[k]
	}
	return out
}

// inOrder is the order in which people write keys; others follow by name.
func inOrder(keys []string) []string {
	order := []string{
		"name", "mode", "params", "sources", "transforms", "aggregations", "sinks", "settings",
		"from", "where", "select", "distinct", "order_by", "limit", "offset", "union", "group_by", "measures", "having",
	}
	rank := func(k string) int {
		if i := slices.Index(order, k); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return keys
}

func keyTable(p *page, s schema, keys []string) {
	if keys == nil {
		keys = slices.Collect(maps.Keys(s.Properties))
	}
	var rows [][]string
	for _, k := range inOrder(keys) {
		f := s.Properties[k]
		need := ""
		if slices.Contains(s.Required, k) {
			need = "required"
		}
		rows = append(rows, []string{code(k), form(f), need, cell(meaning(k, f))})
	}
	p.table([]string{"Key", "Form", "Needed", ""}, rows)
}

// meaning is what a key means, which for a mapping may stand at its values.
func meaning(key string, s schema) string {
	if s.Description != "" {
		return s.Description
	}
	switch key {
	case "group_by":
		return "Columns, or name: expression; left out, everything is one group."
	case "on_error":
		return "What happens to a row that cannot be read."
	}
	return nodeOf(s).Description
}

// form says in words what a value looks like.
func form(s schema) string {
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		return codes(values)
	}
	var types []string
	switch t := s.Type.(type) {
	case string:
		if s.Pattern != "" {
			t = "a parameter"
		}
		types = append(types, t)
	case []any:
		for _, x := range t {
			types = append(types, fmt.Sprint(x))
		}
	}
	for _, a := range s.AnyOf {
		types = append(types, form(a))
	}
	words := map[string]string{"object": "mapping", "array": "list", "string": "text", "boolean": "true or false"}
	var out []string
	for _, t := range types {
		if w := words[t]; w != "" {
			t = w
		}
		if t == "null" || slices.Contains(out, t) {
			continue
		}
		out = append(out, t)
	}
	if slices.Contains(out, "text") && slices.Contains(out, "number") {
		out = slices.DeleteFunc(out, func(t string) bool { return t == "number" || t == "true or false" })
	}
	return strings.Join(out, " or ")
}
