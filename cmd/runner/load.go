package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	connectorlist "github.com/seed-4b0e9f7c/runner/connectors/builtin"
	operatorlist "github.com/seed-4b0e9f7c/runner/operators/builtin"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
)

// planFlags are the flags of all commands that read a plan.
type planFlags struct {
	set         []string
	options     []string
	parallelism string
	slots       string
	config      string
}

func (f *planFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "set a parameter of the plan, `name=value`; may be repeated")
	c.Flags().StringArrayVarP(&f.options, "option", "D", nil, "set an option, `option=value`; may be repeated")
	c.Flags().StringVar(&f.parallelism, "parallelism", "", "parallelism.default: upper bound of every vertex (`n`)")
	c.Flags().StringVar(&f.slots, "slots", "", "taskmanager.numberOfTaskSlots: subtasks that run at once (`n`)")
	c.Flags().StringVar(&f.config, "config", "", "process options, a YAML `file`")
}

// A loaded is a plan with everything it runs with.
type loaded struct {
	plan     *plans.Plan
	options  config.Loaded
	cat      jobgraph.Catalogs
	warnings plans.Findings
}

func catalogs(stdout io.Writer) (jobgraph.Catalogs, error) {
	c, err := connectorlist.Catalog(stdout)
	if err != nil {
		return jobgraph.Catalogs{}, err
	}
	o, err := operatorlist.Catalog()
	return jobgraph.Catalogs{Operators: o, Connectors: c}, err
}

// load reads a plan and the options. Findings are printed to stderr; with errors among them nothing
// is loaded.
func (f *planFlags) load(file string, stdout, stderr io.Writer) (*loaded, error) {
	cat, err := catalogs(stdout)
	if err != nil {
		return nil, err
	}
	p, found, err := f.parse(file, cat)
	if err != nil {
		return nil, err
	}
	if found.Failed() {
		return nil, refuse(stderr, found)
	}
	l := &loaded{plan: p, cat: cat, warnings: found}
	l.options, err = f.loadOptions(p)
	return l, err
}

// parse reads a plan and finds what can be found in it without looking at the files it names.
func (f *planFlags) parse(file string, cat jobgraph.Catalogs) (*plans.Plan, plans.Findings, error) {
	set, err := pairs("--set", f.set)
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, readError(file, err)
	}
	params := map[string]string{}
	for _, s := range set {
		if _, twice := params[s.Name]; twice {
			return nil, nil, fmt.Errorf("--set %s is given twice: keep one of the two", s.Name) // without the values, which may be secrets
		}
		params[s.Name] = s.Value
	}
	p, found := plans.Parse(file, text, params, plans.KnownOf(cat.Connectors, cat.Operators))
	if p != nil {
		// What a stream cannot do is no fault where a flag makes the plan a batch job. Options that cannot be
		// loaded are told of by who needs them.
		_, _ = f.loadOptions(p)
		found = append(found, bind.Offline(p, found, cat.Connectors)...).Sorted()
	}
	return p, found, nil
}

func (f *planFlags) loadOptions(p *plans.Plan) (config.Loaded, error) {
	in := config.LoadInput{Embedded: true, CPUs: runtime.GOMAXPROCS(0), Env: os.Environ(), Plan: p.Values()}
	flags, err := pairs("-D", f.options)
	if err != nil {
		return config.Loaded{}, err
	}
	in.Flags = flags
	for _, x := range []struct{ flag, name, value string }{
		{"--parallelism", config.ParallelismDefault, f.parallelism}, {"--slots", config.TaskSlots, f.slots},
	} {
		if x.value != "" {
			in.Flags = append(in.Flags, config.Value{Name: x.name, Value: x.value, Where: x.flag, Key: x.flag})
		}
	}
	if f.config != "" {
		if in.File, in.Root, err = readOptions(f.config); err != nil {
			return config.Loaded{}, err
		}
	}
	l, err := config.Load(in)
	if err == nil {
		p.Mode = l.String(config.RuntimeMode) // a flag or the environment may say so too
		p.Zone = l.String(config.LocalTimeZone)
	}
	return l, err
}

// readOptions reads a file of options.
func readOptions(file string) (string, *spec.Node, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return file, nil, readError(file, err)
	}
	root, found := plans.ReadYAML(file, b)
	if found.Failed() {
		return file, nil, found
	}
	return file, root, nil
}

// pairs reads name=value arguments.
func pairs(flag string, args []string) ([]config.Value, error) {
	var out []config.Value
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %s: expected name=value", flag, a)
		}
		out = append(out, config.Value{Name: name, Value: value, Where: flag + " " + a})
	}
	return out, nil
}

func readError(file string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("cannot read %s: %w", file, err)
}

// refuse prints findings and ends with the code for a faulty plan.
func refuse(stderr io.Writer, found plans.Findings) error {
	if err := plans.Render(stderr, found); err != nil {
		return err
	}
	errs := 0
	for _, f := range found {
		if f.Severity == plans.SeverityError {
			errs++
		}
	}
	word := "errors"
	if errs == 1 {
		word = "error"
	}
	fmt.Fprintf(stderr, "%d %s; nothing was run\n", errs, word)
	return exit{code: exitPlan}
}
