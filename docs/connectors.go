package docs

import (
	"reflect"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/connectors"
)

// connectorsPage lists the connectors with their options.
func connectorsPage(c connectors.Catalog) []byte {
	p := newPage("Connectors")
	p.paragraph("The name of a connector is the kind key of a source or sink; what stands below it are its options.")
	names := c.Names(func(connectors.Component) bool { return true })
	var rows [][]string
	for _, name := range names {
		rows = append(rows, []string{"[" + name + "](#" + name + ")", yes(c[name].IsSource()), yes(c[name].IsSink()), cell(c[name].Summary())})
	}
	p.table([]string{"Name", "Source", "Sink", ""}, rows)
	for _, name := range names {
		p.heading(name)
		p.paragraph(cell(c[name].Summary()))
		fields := spec.Fields(c[name].Options())
		if len(fields) == 0 {
			p.paragraph("It has no options: `" + name + ": {}`.")
			continue
		}
		p.table([]string{"Option", "Type", "Default", "For", ""}, fieldRows("", fields, ruleTags(reflect.TypeOf(c[name].Options()).Elem()), c[name]))
	}
	p.heading("Files")
	p.paragraph("Paths are relative to the plan file. A source's `path` is a file, a folder, a glob (`*`, `?`, `[a-z]`, `{a,b}`, `**`) or a list of " +
		"them; files are read in the order of their names. A sink's `path` with an extension is one file, which csv and json write with one subtask and parquet with many; " +
		"without one it is a folder of `part-<subtask>-<n>` files.")
	p.paragraph("What a sink does with a target that is there: `mode: error` fails, `mode: overwrite` puts the new result in its place at once and whole, " +
		"`mode: append` adds files to a folder. Until the run has succeeded the target is as it was.")
	return p.bytes()
}

// ruleTags are the rules of an options struct's fields that concern the value itself, by option.
func ruleTags(t reflect.Type) map[string][]string {
	out := map[string][]string{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		unit := ""
		switch f.Type.Kind() {
		case reflect.String:
			unit = " characters"
		case reflect.Slice, reflect.Map:
			unit = " entries"
		}
		for _, rule := range strings.Split(f.Tag.Get("validate"), ",") {
			if rule == "dive" {
				break
			}
			what, n, _ := strings.Cut(rule, "=")
			if word := map[string]string{"min": "at least ", "max": "at most ", "len": "exactly "}[what]; word != "" && !(unit == " entries" && n == "1") {
				out[name] = append(out[name], word+n+unit)
			}
		}
	}
	return out
}

func fieldRows(prefix string, fields []spec.Field, rules map[string][]string, c connectors.Component) [][]string {
	var rows [][]string
	for _, f := range fields {
		role, doc := roleOf(f.Doc, c)
		typ := f.Type
		if len(f.OneOf) > 0 {
			typ = "one of " + codes(f.OneOf)
		}
		typ = strings.Join(append([]string{typ}, rules[f.Name]...), ", ")
		deflt := "unset"
		switch {
		case f.Required:
			deflt = "required"
		case f.Default != "":
			deflt = code(f.Default)
		}
		rows = append(rows, []string{code(prefix + f.Name), typ, deflt, role, cell(doc)})
		below := prefix + f.Name + "."
		if f.Keyed {
			below += "<name>."
		}
		rows = append(rows, fieldRows(below, f.Fields, nil, c)...)
	}
	return rows
}

// roleOf takes "Sources:" or "Sinks:" off an option's text, where it is not for both.
func roleOf(doc string, c connectors.Component) (role, rest string) {
	for _, r := range []struct{ prefix, role string }{{"Sources: ", "source"}, {"Sinks: ", "sink"}} {
		if rest, ok := strings.CutPrefix(doc, r.prefix); ok {
			return r.role, strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	switch {
	case c.IsSource() && c.IsSink():
		return "both", doc
	case c.IsSource():
		return "source", doc
	}
	return "sink", doc
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
