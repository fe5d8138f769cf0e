package operators

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// ErrMemory says that the slot's managed memory is used up: spill and try again.
var ErrMemory = errors.New("the slot has no managed memory left")

// DistKind is how an operator needs its input spread over its subtasks.
type DistKind string

// The distributions. Global is one subtask.
const (
	Any       DistKind = "any"
	Hash      DistKind = "hash"
	Broadcast DistKind = "broadcast"
	Global    DistKind = "single"
)

// A Distribution is what one input needs. Keys are columns of that input, for Hash.
type Distribution struct {
	Kind DistKind
	Keys []int
}

// A Spec declares an operator: its options (O), what it makes of schemas, and how it is built.
type Spec[O any] struct {
	Name, Summary        string
	MinInputs, MaxInputs int
	Ports                []string // side outputs
	TakesSel             bool     // Process understands Batch.Sel; else the task compacts first
	Stateless            bool     // a row's output depends on that row alone
	Schema               func(o O, in []expr.Schema) (expr.Schema, error)
	Needs                func(o O, in []expr.Schema) []Distribution // nil: any
	Label                func(o O) string                           // its name in a vertex name, "LocalHashAggregate"
	New                  func(o O, in []expr.Schema) (Operator, error)
}

// A Component is a Spec with its options type erased. Options travel as JSON.
type Component interface {
	Name() string
	Summary() string
	Traits() Traits
	Options() any // a new *O
	Schema(options json.RawMessage, in []expr.Schema) (expr.Schema, error)
	Needs(options json.RawMessage, in []expr.Schema) ([]Distribution, error)
	Label(options json.RawMessage) (string, error)
	New(options json.RawMessage, in []expr.Schema) (Operator, error)
}

// Traits are the parts of a Spec that do not depend on options.
type Traits struct {
	MinInputs, MaxInputs int
	Ports                []string
	TakesSel, Stateless  bool
}

// Erase makes a Component of a Spec.
func Erase[O any](s Spec[O]) Component { return erased[O]{s} }

type erased[O any] struct{ spec Spec[O] }

func (e erased[O]) Name() string    { return e.spec.Name }
func (e erased[O]) Summary() string { return e.spec.Summary }
func (e erased[O]) Options() any    { return new(O) }
func (e erased[O]) Traits() Traits {
	s := e.spec
	return Traits{s.MinInputs, s.MaxInputs, s.Ports, s.TakesSel, s.Stateless}
}

func (e erased[O]) decode(b json.RawMessage) (O, error) {
	var o O
	if len(b) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("reading the options of %s: %w", e.spec.Name, err)
	}
	return o, nil
}

func (e erased[O]) Schema(b json.RawMessage, in []expr.Schema) (expr.Schema, error) {
	o, err := e.decode(b)
	if err != nil {
		return expr.Schema{}, err
	}
	return e.spec.Schema(o, in)
}

func (e erased[O]) Needs(b json.RawMessage, in []expr.Schema) ([]Distribution, error) {
	o, err := e.decode(b)
	if err != nil {
		return nil, err
	}
	if e.spec.Needs == nil {
		d := make([]Distribution, len(in))
		for i := range d {
			d[i].Kind = Any
		}
		return d, nil
	}
	return e.spec.Needs(o, in), nil
}

func (e erased[O]) Label(b json.RawMessage) (string, error) {
	o, err := e.decode(b)
	if err != nil || e.spec.Label == nil {
		return e.spec.Name, err
	}
	return e.spec.Label(o), nil
}

func (e erased[O]) New(b json.RawMessage, in []expr.Schema) (Operator, error) {
	o, err := e.decode(b)
	if err != nil {
		return nil, err
	}
	return e.spec.New(o, in)
}

// A Catalog is the operators a process knows, by name.
type Catalog map[string]Component

// NewCatalog makes a catalog; two components of one name are a fault of the program.
func NewCatalog(list ...Component) (Catalog, error) {
	c := Catalog{}
	for _, s := range list {
		if c[s.Name()] != nil {
			return nil, fmt.Errorf("two operators are called %s", s.Name())
		}
		c[s.Name()] = s
	}
	return c, nil
}

// Names are the names in order.
func (c Catalog) Names() []string {
	n := make([]string, 0, len(c))
	for k := range c {
		n = append(n, k)
	}
	sort.Strings(n)
	return n
}
