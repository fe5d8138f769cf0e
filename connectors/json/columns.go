package json

import (
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Columns are the columns of a source and where they stand in a record, in the order of the plan.
type Columns []Column

// A Column is one of them.
type Column struct {
	expr.Field
	Path string `json:"path,omitempty"` // "" is the member of the column's own name
}

// SetEntry takes a column that is the member of its own name. The plan decoder calls it.
func (c *Columns) SetEntry(key, value string) error {
	return c.add(key, value, "")
}

// SetFields takes a column that is written as a mapping. The plan decoder calls it.
func (c *Columns) SetFields(key string, names, values []string) error {
	var typ, path string
	for i, n := range names {
		switch n {
		case "type":
			typ = values[i]
		case "path":
			path = values[i]
			if _, err := parsePath(path); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown key %s: expected type and path, as in {type: BIGINT, path: \"a.b[0].c\"}", n)
		}
	}
	if typ == "" {
		return fmt.Errorf("the type is left out: expected type and path, as in {type: BIGINT, path: \"a.b[0].c\"}")
	}
	return c.add(key, typ, path)
}

func (c *Columns) add(name, typ, path string) error {
	t, err := expr.ParseType(typ)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(*c, func(x Column) bool { return x.Name == name }) {
		return fmt.Errorf("column %s is declared twice", name)
	}
	*c = append(*c, Column{Field: expr.Field{Name: name, Type: t}, Path: path})
	return nil
}

// schema is the columns without their paths.
func (c Columns) schema() expr.Schema {
	var s expr.Schema
	for _, x := range c {
		s.Fields = append(s.Fields, x.Field)
	}
	return s
}

// steps is where a column's values stand.
func (c Column) steps() ([]step, error) {
	if c.Path == "" {
		return []step{{name: c.Name, index: -1}}, nil
	}
	return parsePath(c.Path)
}

// said names a column in a message, with its path where it has one.
func (c Column) said() string {
	if c.Path == "" {
		return "column " + c.Name
	}
	return fmt.Sprintf("column %s (%s)", c.Name, c.Path)
}

// check finds types that JSON has no form for.
func (c Columns) check() error {
	for _, x := range c {
		if err := nestable(x.Type); err != nil {
			return fmt.Errorf("column %s: %w: expected a number type, BOOLEAN, STRING, BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, or an ARRAY, ROW or MAP of them", x.Name, err)
		}
		if _, err := x.steps(); err != nil {
			return fmt.Errorf("column %s: %w", x.Name, err)
		}
	}
	return nil
}
