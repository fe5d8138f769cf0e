package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// The sources of a value, in rising order of weight.
const (
	FromDefault  = "default"
	FromDerived  = "derived" // worked out from options that are set
	FromEmbedded = "embedded"
	FromFile     = "file"
	FromEnv      = "env"
	FromPlan     = "plan"
	FromFlag     = "flag"
)

// A Value is an option as somebody set it.
type Value struct {
	Name  string
	Value string
	Where string // for messages: "plans/orders.yaml:40:3", "-D parallelism.default=2"
	Key   string // the key it was written as, where that is not the option's name: "mode", "--slots"
}

// LoadInput is everything that options come from.
type LoadInput struct {
	Embedded bool       // JobManager and TaskManager run in this process
	CPUs     int        // of this machine; for the embedded defaults
	File     string     // path of config.yaml, for messages; what is in it is Root
	Root     *spec.Node // of config.yaml, as plans.ReadYAML gives it; nil: there is none, or nothing in it
	Env      []string   // as os.Environ gives it
	Plan     []Value    // settings of the plan and keys that double an option
	Flags    []Value    // of the command line: -D option=value, --parallelism, --slots
	// Budget takes the values of the memory model as they stand, for TaskManagerMemory or JobManagerMemory
	// to judge all together in Flink's words.
	Budget bool
}

// A Setting is an option in force.
type Setting struct {
	Option
	Value  string // "" only where the option is unset and has no default
	Source string // default, embedded, derived, file, env, plan or flag
	Where  string // the place it was set at
}

// Loaded are all options with the values in force, in the order of the registry.
type Loaded struct {
	Settings []Setting
	Warnings []string
}

// Load puts the values of all places together: default, embedded default, config.yaml, environment,
// plan, flags, the later over the earlier. All faults are reported at once, joined; each is an *Error.
func Load(in LoadInput) (Loaded, error) {
	reg := Options()
	l := &loader{reg: reg, budget: in.Budget, out: make([]Setting, len(reg))}
	for i, o := range reg {
		l.out[i] = Setting{Option: o, Value: o.Default, Source: FromDefault}
	}
	if in.Root != nil {
		l.file(in.File, in.Root)
	}
	l.env(in.Env)
	l.values(in.Plan, FromPlan)
	l.values(in.Flags, FromFlag)
	if in.Embedded {
		l.embedded(max(in.CPUs, 1))
		if !in.Budget {
			l.memory()
		}
	}
	return Loaded{Settings: l.out, Warnings: l.warnings}, errors.Join(l.errs...)
}

type loader struct {
	reg      Registry
	budget   bool
	out      []Setting
	warnings []string
	errs     []error
}

func (l *loader) at(name string) *Setting {
	for i := range l.out {
		if l.out[i].Name == name {
			return &l.out[i]
		}
	}
	return nil
}

func (l *loader) fail(e *Error, where string) {
	e.Where = where
	l.errs = append(l.errs, e)
}

func (l *loader) set(v Value, source string) {
	if l.budget && judgedByModel(v.Name) && l.at(v.Name) != nil {
		s := l.at(v.Name)
		s.Value, s.Source, s.Where = v.Value, source, v.Where
		return
	}
	if e := l.reg.Check(v.Name, v.Value); e != nil {
		l.fail(e, v.Where)
		return
	}
	s := l.at(v.Name)
	s.Value, s.Source, s.Where = s.canonical(v.Value), source, v.Where
}

// values takes settings of the plan or of the command line. There one option set twice, in whatever
// spelling, is an error: nobody could tell which one counts.
func (l *loader) values(list []Value, source string) {
	seen := map[string]Value{}
	for _, v := range list {
		if o := l.reg.Lookup(v.Name); source == FromPlan && o != nil && o.Scope == Cluster {
			l.fail(ClusterOption(o), v.Where)
			continue
		}
		if first, twice := seen[v.Name]; twice {
			l.fail(doubled(v, first), v.Where)
			continue
		}
		seen[v.Name] = v
		l.set(v, source)
	}
}

func doubled(v, first Value) *Error {
	return &Error{Rule: RuleDoubledOption, Option: v.Name, Message: fmt.Sprintf("%s is set twice", v.Name),
		Hint: fmt.Sprintf("the first is at %s; keep one of the two", first.Where)}
}

// ClusterOption is the error of a cluster option that stands in a plan.
func ClusterOption(o *Option) *Error {
	return &Error{Rule: RuleClusterOption, Option: o.Name,
		Message: fmt.Sprintf("%s is an option of the cluster, not of a job: %s reads it when it starts, before any plan", o.Name, o.Reader),
		Hint:    fmt.Sprintf("set it with -D %s=…, in config.yaml or as %s", o.Name, EnvName(o.Name))}
}

// embedded fills in what one process on one machine takes by itself.
func (l *loader) embedded(cpus int) {
	if s := l.at(TaskSlots); s.Source == FromDefault {
		s.Value, s.Source = strconv.Itoa(cpus), FromEmbedded
	}
	if s := l.at(ParallelismDefault); s.Source == FromDefault {
		s.Value, s.Source = l.at(TaskSlots).Value, FromEmbedded
	}
}

// EnvName is the environment variable of an option: RUNNER_PARALLELISM_DEFAULT. The "runner." of our
// own options is not said twice.
func EnvName(option string) string {
	name := strings.ToUpper(strings.TrimPrefix(option, "runner."))
	return "RUNNER_" + strings.NewReplacer(".", "_", "-", "_").Replace(name)
}

// env takes the variables of the environment. Others that begin with RUNNER_ belong to somebody else
// (build services set some), so they are no error; one that is nearly an option is worth a warning.
func (l *loader) env(environ []string) {
	names := map[string]string{}
	var known []string
	for _, o := range l.reg {
		names[EnvName(o.Name)] = o.Name
		known = append(known, EnvName(o.Name))
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "RUNNER_") || value == "" {
			continue
		}
		if option, ok := names[name]; ok {
			l.set(Value{Name: option, Value: value, Where: "environment variable " + name}, FromEnv)
			continue
		}
		if near := spec.Near(name, known); near != "" {
			l.warnings = append(l.warnings, fmt.Sprintf("environment variable %s is no option: did you mean %s?", name, near))
		}
	}
}
