// Package executiongraph holds what a job graph becomes when it runs: vertices with subtasks, and of each
// subtask the attempts to run it. It has the one table of legal transitions; an illegal one changes nothing
// and is reported. The package is pure.
package executiongraph

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Graph is the execution graph of one job.
type Graph struct {
	Vertices []Vertex // in the order of the job graph
	byID     map[string]int
}

// A Vertex has no subtasks until its parallelism is decided.
type Vertex struct {
	ID, Name string
	Subtasks []Subtask
	counts   [stateCount]int // subtasks whose current attempt is in the state
}

// A Subtask is one of the parallel instances of a vertex. Past holds its earlier attempts, oldest first.
type Subtask struct {
	Current Attempt
	Past    []Attempt
}

// An Attempt is one try to run a subtask.
type Attempt struct {
	Number  int
	State   rpc.TaskState
	Slot    rpc.SlotID        // from DEPLOYING on
	At      [stateCount]int64 // ms at which each state was entered, by StateIndex; 0 = never
	Metrics rpc.TaskMetrics
	Failure *rpc.TaskFailure // FAILED
}

// New makes the execution graph of vertices, none of them decided.
func New(ids, names []string) *Graph {
	g := &Graph{Vertices: make([]Vertex, len(ids)), byID: make(map[string]int, len(ids))}
	for i, id := range ids {
		g.Vertices[i] = Vertex{ID: id, Name: names[i]}
		g.byID[id] = i
	}
	return g
}

// Index finds a vertex by id, -1 where there is none.
func (g *Graph) Index(id string) int {
	if i, ok := g.byID[id]; ok {
		return i
	}
	return -1
}

// Decide gives a vertex its subtasks, each with a first attempt in state CREATED.
func (g *Graph) Decide(now int64, vertex, parallelism int) {
	v := &g.Vertices[vertex]
	v.Subtasks = make([]Subtask, parallelism)
	v.counts = [stateCount]int{}
	for i := range v.Subtasks {
		v.Subtasks[i].Current = newAttempt(now, 0)
	}
	v.counts[StateIndex(rpc.Created)] = parallelism
}

// Attempt finds a subtask's current attempt, nil where there is no such subtask.
func (g *Graph) Attempt(vertex, subtask int) *Attempt {
	if vertex < 0 || vertex >= len(g.Vertices) || subtask < 0 || subtask >= len(g.Vertices[vertex].Subtasks) {
		return nil
	}
	return &g.Vertices[vertex].Subtasks[subtask].Current
}

// An IllegalTransition says that somebody asked for a step that the table does not have.
type IllegalTransition struct {
	Task     string
	Attempt  int
	From, To rpc.TaskState
}

// Error names the task and the step.
func (e *IllegalTransition) Error() string {
	return fmt.Sprintf("%s, attempt %d cannot go from %s to %s", e.Task, e.Attempt, e.From, e.To)
}

// Transition moves the current attempt of a subtask to another state. The error is an
// [*IllegalTransition], and then nothing changed.
func (g *Graph) Transition(now int64, vertex, subtask int, to rpc.TaskState) error {
	v := &g.Vertices[vertex]
	a := &v.Subtasks[subtask].Current
	if !Legal(a.State, to) {
		return &IllegalTransition{Task: v.TaskName(subtask), Attempt: a.Number, From: a.State, To: to}
	}
	v.counts[StateIndex(a.State)]--
	v.counts[StateIndex(to)]++
	a.State = to
	a.At[StateIndex(to)] = now
	return nil
}

// Retry gives a subtask, whose current attempt is final, another attempt in state CREATED.
func (g *Graph) Retry(now int64, vertex, subtask int) error {
	v := &g.Vertices[vertex]
	s := &v.Subtasks[subtask]
	if !s.Current.State.Final() {
		return &IllegalTransition{Task: v.TaskName(subtask), Attempt: s.Current.Number, From: s.Current.State, To: rpc.Created}
	}
	v.counts[StateIndex(s.Current.State)]--
	v.counts[StateIndex(rpc.Created)]++
	s.Past = append(s.Past, s.Current)
	s.Current = newAttempt(now, s.Current.Number+1)
	return nil
}

func newAttempt(now int64, number int) Attempt {
	a := Attempt{Number: number, State: rpc.Created}
	a.At[StateIndex(rpc.Created)] = now
	return a
}

// Count is the number of subtasks whose current attempt is in the state.
func (v *Vertex) Count(s rpc.TaskState) int { return v.counts[StateIndex(s)] }

// Active is the number of subtasks that hold a slot.
func (v *Vertex) Active() int {
	return v.Count(rpc.Deploying) + v.Count(rpc.Initializing) + v.Count(rpc.Running) + v.Count(rpc.Canceling)
}

// Finished reports whether the vertex is decided and all its subtasks are FINISHED.
func (v *Vertex) Finished() bool {
	return len(v.Subtasks) > 0 && v.Count(rpc.Finished) == len(v.Subtasks)
}

// TaskName is the name of a subtask as Flink shows it: "Source: orders[1] -> Calc[2] (1/2)".
func (v *Vertex) TaskName(subtask int) string {
	return fmt.Sprintf("%s (%d/%d)", v.Name, subtask+1, len(v.Subtasks))
}
