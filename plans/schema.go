package plans

import (
	"encoding/json"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// object is a part of a JSON Schema.
type object = map[string]any

// Schema is the JSON Schema of plans for editors, made of the same declarations that Parse checks
// plans against. It is a little wider than Parse: names, edges and expressions it cannot judge.
func Schema(known Known) ([]byte, error) {
	s := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A plan of runner", "type": "object",
		"properties": object{
			"name":               textSchema("Name of the job; reports lie in a folder of this name."),
			"mode":               object{"enum": []string{"batch", "streaming"}, "description": "How the job runs: batch (default), vertex after vertex; streaming, all of it at once."},
			"params":             object{"type": "object", "propertyNames": object{"pattern": nodeName.String()}, "additionalProperties": scalarSchema(), "description": "Parameters with their defaults, for ${name}; overridden by --set name=value."},
			string(Sources):      section("What is read.", withKinds(known.Sources, object{"on_error": onErrorSchema(), "watermark": watermarkSchema()}, nil)),
			string(Transforms):   section("Steps, each one SELECT, a union or a kind of its own.", transformSchema(known.Steps)),
			string(Aggregations): section("Groups and measures.", aggregationSchema()),
			string(Sinks):        section("What is written.", withKinds(known.Sinks, object{"from": textSchema("The node that is written.")}, []string{"from"})),
			"settings":           settingsSchema(),
		},
		"patternProperties": object{"^x-": true}, "additionalProperties": false, "required": []string{string(Sinks)},
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema of plans: %w", err)
	}
	return append(b, '\n'), nil
}

// onErrorSchema is what becomes of bad rows.
func onErrorSchema() object {
	limits := object{"type": "object", "properties": object{"max_rows": scalarSchema(), "max_share": scalarSchema()}, "additionalProperties": false}
	return object{
		"description": "What becomes of bad rows: fail, or skip with limits.",
		"anyOf": []object{
			{"enum": []string{"fail", "skip"}},
			{"type": "object", "properties": object{"skip": limits}, "additionalProperties": false, "required": []string{"skip"}},
		},
	}
}

func textSchema(doc string) object { return object{"type": "string", "description": doc} }

// scalarSchema takes every bare value, because a text keeps its text: 02134, 1.10, NO.
func scalarSchema() object {
	return object{"type": []string{"string", "number", "boolean", "null"}}
}

func expressionSchema(doc string) object {
	s := scalarSchema()
	s["description"] = doc
	return s
}

// count is an integer, or a parameter that becomes one.
func countSchema(least int, doc string) object {
	return object{"anyOf": []any{object{"type": "integer", "minimum": least}, object{"type": "string", "pattern": `\$\{`}}, "description": doc}
}

func section(doc string, node object) object {
	return object{"type": []string{"object", "null"}, "description": doc, "propertyNames": object{"pattern": nodeName.String()}, "additionalProperties": node}
}

func common() object {
	return object{
		"parallelism":        countSchema(1, "Parallelism of the vertex that finishes the node; it always wins."),
		"slot_sharing_group": textSchema("Only nodes of one group share slots."),
		"uid":                textSchema("Identity of the node's state across versions of the plan."),
		"doc":                textSchema("For people."),
	}
}

func node(properties object, required []string) object {
	for k, v := range common() {
		properties[k] = v
	}
	n := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		n["required"] = required
	}
	return n
}

// withKinds is a node that has exactly one of the kinds.
func withKinds(kinds map[string]Kind, more object, required []string) object {
	var one []any
	for _, name := range names(kinds) {
		s := spec.JSONSchema(kinds[name].Options())
		s["type"] = []string{"object", "null"}
		s["description"] = kinds[name].Summary
		more[name] = s
		one = append(one, object{"required": []string{name}})
	}
	n := node(more, required)
	if len(one) > 0 {
		n["oneOf"] = one
	}
	return n
}

func items() object {
	named := object{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": expressionSchema("An SQL expression.")}
	return object{"anyOf": []any{scalarSchema(), object{"type": "array", "minItems": 1, "items": object{"anyOf": []any{scalarSchema(), named}}}}}
}

func transformSchema(steps map[string]Kind) object {
	star := object{"type": []string{"object", "null"}, "properties": object{"except": object{"type": []string{"array", "string"}, "items": object{"type": "string"}}}, "additionalProperties": false}
	p := object{
		"from":     object{"type": []string{"string", "array"}, "items": object{"type": "string"}, "description": "The node that is read; a union reads several."},
		"where":    expressionSchema("Keeps the rows for which this is TRUE."),
		"distinct": object{"type": "boolean", "description": "Keeps one of each set of equal rows."},
		"order_by": object{"anyOf": []any{object{"type": "string"}, object{"type": "array", "minItems": 1, "items": object{"type": "string"}}},
			"description": "[a, b DESC NULLS LAST]; NULLs sort lowest."},
		"limit": countSchema(0, "At most so many rows."), "offset": countSchema(0, "So many rows are left out first."),
		"union": object{"type": []string{"object", "null"}, "properties": object{"distinct": object{"type": "boolean"}}, "additionalProperties": false,
			"description": "Puts the nodes of from together."},
		"unnest": object{"type": "object", "required": []string{"array"}, "additionalProperties": false, "description": "A row for each element of an ARRAY or each entry of a MAP, beside the columns of from.",
			"properties": object{
				"array": expressionSchema("The ARRAY or MAP."), "ordinality": object{"type": "string", "description": "The column of the element's number, from 1."},
				"as":    object{"type": []string{"string", "array"}, "items": object{"type": "string"}, "description": "Names of the columns that an element becomes; those of its fields where it is a ROW."},
				"outer": object{"type": "boolean", "description": "Keeps rows without elements, with NULLs."},
			}},
		"select": object{"anyOf": []any{items(), object{"type": "object", "minProperties": 1, "properties": object{"*": star}, "additionalProperties": expressionSchema("An SQL expression.")}},
			"description": "name: SQL expression, in order; \"*\" is all columns."},
	}
	for _, name := range names(steps) {
		p[name] = spec.JSONSchema(steps[name].Options())
	}
	return node(p, []string{"from"})
}

func aggregationSchema() object {
	n := node(object{
		"from":     textSchema("The node that is read."),
		"group_by": items(),
		"measures": object{"type": "object", "minProperties": 1, "additionalProperties": expressionSchema("SQL aggregates, and expressions over them.")},
		"having":   expressionSchema("Keeps the groups for which this is TRUE; it sees keys and measures by name."),
	}, []string{"from"})
	n["anyOf"] = []any{object{"required": []string{"group_by"}}, object{"required": []string{"measures"}}}
	return n
}

func settingsSchema() object {
	properties := object{}
	for _, o := range config.Options() {
		if o.Scope != config.Job {
			continue
		}
		s := object{"description": o.Doc, "type": []string{"string", "number"}}
		switch o.Type {
		case config.Boolean:
			s["type"] = []string{"boolean", "string"}
		case config.Enum:
			s = object{"description": o.Doc, "enum": o.Allowed}
		}
		if o.Default != "" {
			s["default"] = o.Default
		}
		properties[o.Name] = s
		if o.Name == config.SlotSharing {
			properties[slotSharing] = s
		}
	}
	return object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false, "description": "Options of the job."}
}
