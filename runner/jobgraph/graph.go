// Package jobgraph turns a bound plan into a job graph: vertices of chained operators, and the edges
// between them. The result is data without closures, so it travels to another process as it is.
package jobgraph

import (
	"encoding/json"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Graph is a job as the JobManager takes it.
type Graph struct {
	Name     string   `json:"name"`
	Mode     string   `json:"mode"`     // batch or streaming
	Vertices []Vertex `json:"vertices"` // in topological order
	Edges    []Edge   `json:"edges"`
	Options  []Option `json:"options"` // job options in force
}

// An Option is an option in force, and where its value comes from.
type Option struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // flag, plan, file, env, default, embedded
	Scope  string `json:"scope"`  // job or cluster
}

// A Vertex is a chain of operators that run in one goroutine per subtask. The chain may branch: several
// operators may read what one gives.
type Vertex struct {
	ID           string     `json:"id"`   // 32 hex digits, equal for equal plans
	Name         string     `json:"name"` // "Source: orders[1] -> Calc[2] -> LocalHashAggregate[3]"
	Operators    []Operator `json:"operators"`
	SharingGroup string     `json:"slotSharingGroup"`
	Parallelism  Request    `json:"parallelism"`
}

// A Request is the parallelism asked for a vertex before anything is decided.
type Request struct {
	Value  int    `json:"value"`           // 0: not set on the node, the job's default is the bound
	Origin string `json:"origin"`          // node, or the origin of parallelism.default
	Fixed  string `json:"fixed,omitempty"` // why it can only be 1: single-file-sink, global-exchange
}

// OpKind tells the three kinds of chain members apart.
type OpKind string

// The kinds.
const (
	SourceOp    OpKind = "source"
	TransformOp OpKind = "operator"
	SinkOp      OpKind = "sink"
)

// An Operator is a member of a chain. A source stands first and has Source; a sink stands last and
// has Sink; the others have Options for their component.
type Operator struct {
	Kind      OpKind          `json:"kind"`
	ID        int             `json:"id"`    // the [n] of its label
	Label     string          `json:"label"` // "Source: orders[1]", "Calc[2]", "Sink: result[5]"
	UID       string          `json:"uid"`   // plan node and role: "revenue/local"
	Node      string          `json:"node"`
	Component string          `json:"component"`
	Options   json.RawMessage `json:"options,omitempty"`
	In        []expr.Schema   `json:"in,omitempty"`
	Out       expr.Schema     `json:"out"`
	Behind    int             `json:"behind,omitempty"` // its input is the operator so many places before it; 0 = 1
	Source    *Source         `json:"source,omitempty"`
	Sink      *Sink           `json:"sink,omitempty"`
	// Deterministic is false where the result depends on the order of rows by nature; Because says why.
	NotDeterministic string `json:"notDeterministic,omitempty"`
}

// A Source is a bound source with what was pushed into it.
type Source struct {
	State []byte               `json:"state"` // for connectors.Component.Open
	Push  connectors.Pushdown  `json:"push"`  // taken by the source
	Inv   connectors.Inventory `json:"inventory"`
	// FileAt is where the name of its file goes into each row, a place in Out from 1; 0: nowhere.
	FileAt int `json:"fileAt,omitempty"`
	// Skip are files, by their place from 1, that no row is wanted of: they are not read.
	Skip []int `json:"skip,omitempty"`
	// Unbounded says that it does not end by itself; Partitioned that its splits are read side by side,
	// each subtask its share ([connectors.Partitioned]).
	Unbounded   bool `json:"unbounded,omitempty"`
	Partitioned bool `json:"partitioned,omitempty"`
	// Rejects is how many bad rows it may leave out; nil where on_error is fail.
	Rejects *RejectLimits `json:"rejects,omitempty"`
}

// RejectLimits are the limits of on_error: skip.
type RejectLimits struct {
	MaxRows  int64   `json:"maxRows"`  // -1: none
	MaxShare float64 `json:"maxShare"` // of the rows read, 0 to 1; -1: none
}

// A Sink is a bound sink.
type Sink struct {
	Bound connectors.BoundSink `json:"bound"`
	// RejectsOf is the source whose bad rows it takes as they are, with the options it writes them with; ""
	// for other sinks.
	RejectsOf string          `json:"rejectsOf,omitempty"`
	Options   json.RawMessage `json:"options,omitempty"`
}

// ExchangeKind is how rows go from the producer's subtasks to the consumer's.
type ExchangeKind string

// The exchanges.
const (
	Forward   ExchangeKind = "FORWARD"
	HashBy    ExchangeKind = "HASH"
	Rebalance ExchangeKind = "REBALANCE"
	Broadcast ExchangeKind = "BROADCAST"
	Global    ExchangeKind = "GLOBAL"
)

// An Edge carries the output of a vertex's last operator (or of a port of one of its operators) to an
// input of another vertex's first operator.
type Edge struct {
	ID       string       `json:"id"`
	From     string       `json:"from"`     // vertex
	Operator int          `json:"operator"` // place in the chain it leaves from
	Port     string       `json:"port,omitempty"`
	To       string       `json:"to"`
	Input    int          `json:"input"` // of the first operator; several edges may feed one input
	Exchange ExchangeKind `json:"exchange"`
	Keys     []int        `json:"keys,omitempty"` // columns of Schema, for HASH
	Blocking bool         `json:"blocking"`
	Schema   expr.Schema  `json:"schema"`
}

// Input is the place in the chain of the operator that the one at place k reads from, -1 for the first.
func (v *Vertex) Input(k int) int { return k - max(v.Operators[k].Behind, 1) }

// Vertex finds a vertex by id, nil where there is none.
func (g *Graph) Vertex(id string) *Vertex {
	for i := range g.Vertices {
		if g.Vertices[i].ID == id {
			return &g.Vertices[i]
		}
	}
	return nil
}

// Streaming reports whether the job is a stream: pipelined exchanges, everything deployed at once.
func (g *Graph) Streaming() bool { return g.Mode == ModeStreaming }

// The modes of a job.
const (
	ModeBatch     = "batch"
	ModeStreaming = "streaming"
)

// In are the edges into a vertex.
func (g *Graph) In(id string) []Edge {
	var es []Edge
	for _, e := range g.Edges {
		if e.To == id {
			es = append(es, e)
		}
	}
	return es
}

// Out are the edges out of a vertex.
func (g *Graph) Out(id string) []Edge {
	var es []Edge
	for _, e := range g.Edges {
		if e.From == id {
			es = append(es, e)
		}
	}
	return es
}

// Option is the value of a job option, "" where it is not in force.
func (g *Graph) Option(name string) string {
	for _, o := range g.Options {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}
