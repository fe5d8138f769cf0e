package config

import (
	"fmt"
	"strings"

	"github.com/spf13/viper"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// A fileReader takes the options of config.yaml, flat ("parallelism.default: 2") or nested, or both. Names are
// compared without regard to case, as those of the environment are. The values are looked up in viper, which knows
// such keys; it is given texts, since its own reader makes 0.1 of 0.10, and has neither places nor faults of ours.
type fileReader struct {
	*loader
	viper *viper.Viper
	path  string
	names map[string]string // by name in small letters
	seen  map[string]Value
}

// file reads the tree of config.yaml.
func (l *loader) file(path string, root *spec.Node) {
	r := &fileReader{loader: l, viper: viper.New(), path: path, names: map[string]string{}, seen: map[string]Value{}}
	if err := r.viper.MergeConfigMap(texts(root)); err != nil {
		l.errs = append(l.errs, fmt.Errorf("reading %s: %w", path, err))
		return
	}
	for _, o := range l.reg {
		r.names[strings.ToLower(o.Name)] = o.Name
	}
	switch {
	case root.Kind == spec.Mapping:
		r.mapping(root, "")
	case !root.Nothing():
		l.fail(&Error{Rule: RuleInvalidOption, Message: "the file is " + root.Describe(), Expected: "options and their values, such as parallelism.default: 2"}, r.at(root.Pos))
	}
}

// texts are the entries of a mapping with their values as they are written.
func texts(n *spec.Node) map[string]any {
	m := map[string]any{}
	for _, e := range n.Keys {
		m[e.Key] = e.Value.Text
		if e.Value.Kind == spec.Mapping {
			m[e.Key] = texts(e.Value)
		}
	}
	return m
}

func (r *fileReader) at(p spec.Pos) string { return fmt.Sprintf("%s:%d:%d", r.path, p.Line, p.Column) }

// mapping takes the entries of a mapping whose own keys are before.
func (r *fileReader) mapping(n *spec.Node, before string) {
	for _, e := range n.Keys {
		key, value := before+e.Key, e.Value
		name, known := r.names[strings.ToLower(key)]
		switch {
		case value.Bad:
		case value.Kind == spec.Mapping && !known:
			r.mapping(value, key+".")
		case !known:
			r.set(Value{Name: key, Value: value.Text, Where: r.at(e.Pos)}, FromFile)
		case value.Kind != spec.Scalar:
			r.fail(&Error{Rule: RuleInvalidOption, Option: name, Message: name + " is " + value.Describe(), Expected: r.loader.at(name).Wants()}, r.at(value.Pos))
		case value.Nothing():
			r.fail(&Error{Rule: RuleInvalidOption, Option: name, Message: name + " has no value", Expected: r.loader.at(name).Wants()}, r.at(e.Pos))
		default:
			r.one(Value{Name: name, Value: r.viper.GetString(key), Where: r.at(e.Pos)})
		}
	}
}

// one takes an option. Set twice, flat and nested for example, it is an error: nobody could tell which one counts.
func (r *fileReader) one(v Value) {
	if first, twice := r.seen[v.Name]; twice {
		r.fail(doubled(v, first), v.Where)
		return
	}
	r.seen[v.Name] = v
	r.set(v, FromFile)
}
