package plans

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// smallest is the plan that an empty file is answered with.
const smallest = `the smallest plan is
  sources:
    orders:
      csv: {path: orders.csv, columns: {order_id: BIGINT, country: STRING}}
  sinks:
    result:
      from: orders
      print: {}`

// Parse reads a plan: file is its name as given, b its bytes, set the parameters of the command line
// (name to value). It finds everything wrong at once, in the order of the file. The plan is nil where
// the text is no YAML mapping; it is fit for use only where the findings have not failed.
func Parse(file string, b []byte, set map[string]string, known Known) (*Plan, Findings) {
	t, refused := clean(file, b)
	if refused != nil {
		return nil, finish(t, Findings{*refused})
	}
	root, fs := readTree(t)
	r := &reader{text: t, known: known, options: config.Options(), decoder: spec.NewDecoder(), findings: fs,
		params: map[string]*Param{}, used: map[string]bool{}, written: map[string]Pos{}}
	sum := sha256.Sum256(b)
	r.plan = &Plan{File: file, Dir: filepath.Dir(file), Digest: "sha256:" + hex.EncodeToString(sum[:]), Mode: "batch", Text: []byte(t.all)}
	if root == nil || root.Nothing() {
		if !fs.Failed() {
			r.add(Pos{Line: 1, Column: 1}, RuleEmptyPlan, "the plan is empty", smallest)
		}
		return nil, finish(t, r.findings)
	}
	if root.Kind != spec.Mapping {
		r.add(at(root.Pos, ""), spec.RuleWrongType, "the plan is "+root.Describe(), smallest)
		return nil, finish(t, r.findings)
	}
	r.top(root, set)
	return r.plan, finish(t, r.findings)
}

// mostFindings is how many findings are told; beyond it nobody reads them.
const mostFindings = 1000

// finish puts findings in the order of the file and adds the lines they are about.
func finish(t *text, fs Findings) Findings {
	fs = hideFindings(t.secrets, fs)
	for i := range fs {
		f := &fs[i]
		f.File = t.file
		f.Line, f.Column = t.clamp(f.Line, f.Column)
		f.Source = t.line(f.Line)
	}
	sort.SliceStable(fs, func(i, j int) bool {
		if fs[i].Line != fs[j].Line {
			return fs[i].Line < fs[j].Line
		}
		return fs[i].Column < fs[j].Column
	})
	fs = slices.CompactFunc(fs, func(a, b Finding) bool { return a == b })
	if len(fs) > mostFindings {
		last := fs[mostFindings]
		last.Severity, last.Rule, last.Expected, last.Near, last.Hint = SeverityError, RuleTooLarge, "", "", ""
		last.Message = fmt.Sprintf("%d more findings are left out", len(fs)-mostFindings)
		fs = append(fs[:mostFindings], last)
	}
	return fs
}

// reader reads one plan.
type reader struct {
	text     *text
	known    Known
	options  config.Registry
	decoder  *spec.Decoder
	plan     *Plan
	findings Findings

	params  map[string]*Param
	bound   expr.Params // the same for expressions
	used    map[string]bool
	whole   bool              // every from names a node that gives rows
	written map[string]Pos    // top-level keys that double an option
	keys    []string          // of places, in order
	places  map[string]string // made when first asked for, see whereabouts
}

// at makes a place of the plan of a place in the tree.
func at(p spec.Pos, path string) Pos { return Pos{Line: p.Line, Column: p.Column, Path: path} }

// add adds an error; the caller may complete it before the next one.
func (r *reader) add(p Pos, rule, message, hint string) *Finding {
	r.findings = append(r.findings, Finding{Severity: SeverityError, Rule: rule, Line: p.Line, Column: p.Column, Path: p.Path, Message: message, Hint: hint})
	return &r.findings[len(r.findings)-1]
}

func (r *reader) problems(ps []spec.Problem) {
	for _, p := range ps {
		f := r.add(at(p.Pos, p.Path), p.Rule, p.Message, p.Hint)
		f.Expected, f.Near = p.Expected, p.Near
	}
}

func (r *reader) wrongType(n *spec.Node, path, expected, hint string) {
	if n.Bad {
		return
	}
	name, isOption := strings.CutPrefix(path, "settings.")
	if !isOption {
		name = path[strings.LastIndexByte(path, '.')+1:]
	}
	message := name + " is " + n.Describe()
	if n.Nothing() {
		message = name + " has no value"
	}
	r.add(at(n.Pos, path), spec.RuleWrongType, message, hint).Expected = expected
}

func (r *reader) notYet(p Pos, what, hint string) {
	r.add(p, RuleNotYet, what+" is not supported yet", hint)
}

// unknownKey reports a key that is not known here.
func (r *reader) unknownKey(e spec.Entry, path, what string, known []string) {
	r.problems([]spec.Problem{spec.UnknownKey(e, path, what, known, r.scope(path, what))})
}

// scope tells the options decoder where keys of the plan belong; nothing is worked out before a key
// is unknown.
func (r *reader) scope(path, what string) spec.Scope {
	return spec.Scope{Path: path, What: what, Others: r.everyKey, Elsewhere: r.where}
}

func (r *reader) everyKey() []string {
	if r.keys == nil {
		r.keys = slices.Sorted(maps.Keys(r.whereabouts()))
	}
	return r.keys
}

// where says in words where a key is allowed, "" for a key that is known nowhere.
func (r *reader) where(key string) string {
	where := r.whereabouts()[key]
	if key == "parallelism" {
		where += "; for all of them set parallelism.default under settings"
	}
	return where
}

func (r *reader) top(root *spec.Node, set map[string]string) {
	if e := root.Get("params"); e != nil {
		r.readParams(e.Value, set)
	}
	r.setParams(set)
	for _, e := range root.Keys {
		switch {
		case strings.HasPrefix(e.Key, "x-") || e.Key == "params":
		case e.Key == "name":
			r.name(e)
		case e.Key == "mode":
			r.mode(e)
		case e.Key == "settings":
			r.settings(e.Value)
		case slices.Contains([]string{string(Sources), string(Transforms), string(Aggregations), string(Sinks)}, e.Key):
			r.section(Section(e.Key), e)
		case slices.Contains(laterKeys(""), e.Key):
			r.notYet(at(e.Pos, e.Key), e.Key, "")
		default:
			r.unknownKey(e, e.Key, "the plan", topKeys())
		}
	}
	r.doubled()
	r.names(root)
	r.edges()
	r.unusedParams()
	if r.plan.Name == "" {
		base := filepath.Base(r.plan.File)
		r.plan.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
}

var planName = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$`)

// name reads the plan's name. Reports lie in a folder of that name, so it is kept to what is one.
func (r *reader) name(e spec.Entry) {
	text, ok := r.scalar(e.Value, e.Key, "text")
	if !ok {
		return
	}
	r.written["name"] = at(e.Pos, e.Key)
	if !planName.MatchString(text) {
		r.add(at(e.Value.Pos, e.Key), spec.RuleInvalidValue, fmt.Sprintf("name is %q", text), "").Expected = "letters, digits, spaces, - _ and ., beginning with a letter or digit"
		return
	}
	r.plan.Name = text
	r.plan.named = &Pos{Line: e.Pos.Line, Column: e.Pos.Column, Path: e.Key}
}

func (r *reader) mode(e spec.Entry) {
	text, ok := r.scalar(e.Value, e.Key, "batch or streaming")
	if !ok {
		return
	}
	r.written["mode"] = at(e.Pos, e.Key)
	switch text {
	case "batch", "streaming":
		r.plan.Mode = text
		r.plan.moded = &Pos{Line: e.Pos.Line, Column: e.Pos.Column, Path: e.Key}
	default:
		f := r.add(at(e.Value.Pos, e.Key), spec.RuleInvalidValue, fmt.Sprintf("mode is %q", text), "")
		f.Expected, f.Near = "batch or streaming", spec.Near(text, []string{"batch", "streaming"})
	}
}

// scalar is the text of a scalar with its parameters put in.
func (r *reader) scalar(n *spec.Node, path, expected string) (string, bool) {
	if n.Kind != spec.Scalar || n.Nothing() {
		r.wrongType(n, path, expected, "")
		return "", false
	}
	return r.substitute(n, path).Text, true
}

// settings reads the options of the job.
func (r *reader) settings(n *spec.Node) {
	if n.Nothing() {
		return
	}
	if n.Kind != spec.Mapping {
		r.wrongType(n, "settings", "a mapping of options to values", "")
		return
	}
	for _, e := range n.Keys {
		path := "settings." + e.Key
		if e.Value.Kind == spec.Mapping && len(e.Value.Keys) > 0 {
			inner := flatten(e.Key, e.Value)
			r.add(at(e.Pos, path), RuleNestedSetting, fmt.Sprintf("%s is written as a mapping", e.Key), "options are flat here: write "+inner)
			continue
		}
		name := optionName(e.Key)
		o := r.options.Lookup(name)
		if o != nil && o.Scope == config.Cluster {
			r.option(config.ClusterOption(o), e.Pos, path)
			continue
		}
		if o == nil {
			r.option(r.options.Check(e.Key, ""), e.Pos, path)
			continue
		}
		if i := slices.IndexFunc(r.plan.Settings, func(s Setting) bool { return s.Name == name }); i >= 0 {
			first := r.plan.Settings[i].Pos
			r.add(at(e.Pos, path), config.RuleDoubledOption, fmt.Sprintf("%s says the same as %s", e.Key, strings.TrimPrefix(first.Path, "settings.")),
				fmt.Sprintf("that one is at line %d, column %d; keep one of the two", first.Line, first.Column))
			continue
		}
		value, ok := r.scalar(e.Value, path, o.Wants())
		if !ok {
			continue
		}
		if err := o.Check(value); err != nil {
			r.option(err, e.Value.Pos, path)
			continue
		}
		if name == config.LocalTimeZone {
			r.plan.Zone = value
		}
		r.plan.Settings = append(r.plan.Settings, Setting{Name: name, Value: value, Pos: at(e.Pos, path)})
	}
}

// slotSharing is the short name that config.SlotSharing has in the settings of a plan, beside the
// slot_sharing_group of a node.
const slotSharing = "slot_sharing"

// optionName is the option that a key of settings means.
func optionName(key string) string {
	if key == slotSharing {
		return config.SlotSharing
	}
	return key
}

// flatten writes the first option of a nested mapping as it should be.
func flatten(prefix string, n *spec.Node) string {
	for n.Kind == spec.Mapping && len(n.Keys) > 0 {
		prefix, n = prefix+"."+n.Keys[0].Key, n.Keys[0].Value
	}
	if n.Kind != spec.Scalar {
		return prefix + ": …"
	}
	return prefix + ": " + n.Text
}

func (r *reader) option(e *config.Error, p spec.Pos, path string) {
	f := r.add(at(p, path), e.Rule, e.Message, e.Hint)
	f.Expected, f.Near = e.Expected, e.Near
}

// doubled refuses a key and the option that says the same beside each other.
func (r *reader) doubled() {
	for _, s := range r.plan.Settings {
		o := r.options.Lookup(s.Name)
		first, both := r.written[o.Key]
		if o.Key == "" || !both {
			if s.Name == config.PipelineName {
				r.plan.Name = s.Value
			}
			continue
		}
		r.add(s.Pos, config.RuleDoubledOption, fmt.Sprintf("%s says the same as the key %s", s.Name, o.Key),
			fmt.Sprintf("%s is at line %d, column %d; keep one of the two", o.Key, first.Line, first.Column))
	}
}
