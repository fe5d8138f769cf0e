package jobmaster

import (
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// Started (event) begins the job.
type Started struct{}

// SplitsFound (event) answers Discover with some of the splits, in file order. Done says that there are
// no more.
type SplitsFound struct {
	Vertex string
	Splits []connectors.Split
	Done   bool
}

// DiscoverFailed (event) answers Discover; Causes are outermost first.
type DiscoverFailed struct {
	Vertex string
	Causes []failure.Cause
}

// Committed (event) answers Commit. Files holds what each sink published, by vertex id. Causes, outermost
// first, are empty where all went well.
type Committed struct {
	Files  map[string][]string
	Causes []failure.Cause
}

// SinksAborted (event) answers AbortSinks. Causes say what could not be cleaned up; they are recorded,
// the job ends as it would have.
type SinksAborted struct{ Causes []failure.Cause }

// Discover (command) asks for the splits of a source vertex: open Operator's source and enumerate.
type Discover struct {
	Vertex   string
	Operator jobgraph.Operator
	Options  connectors.SplitOptions
}

// StopDiscover (command) ends all enumerations of the job.
type StopDiscover struct{}

// Commit (command) publishes the results of all sinks of the job.
type Commit struct {
	Job, Run string
	Sinks    []SinkCommit
}

// A SinkCommit is one sink's part: what its winning attempts prepared (perhaps nothing at all), and what
// losing attempts left prepared, to be removed once the rest is published.
type SinkCommit struct {
	Vertex       string
	Operator     jobgraph.Operator
	Committables []connectors.Committable // by subtask
	Discarded    []connectors.Committable
}

// AbortSinks (command) removes what the sinks of the job staged. Committables holds all that was
// prepared; Discarded is empty.
type AbortSinks struct {
	Job, Run string
	Sinks    []SinkCommit
}

// Finished (command) is the last one.
type Finished struct{ Result Snapshot }

// Event marks the type.
func (Started) Event() {}

// Event marks the type.
func (SplitsFound) Event() {}

// Event marks the type.
func (DiscoverFailed) Event() {}

// Event marks the type.
func (Committed) Event() {}

// Event marks the type.
func (SinksAborted) Event() {}

// Command marks the type.
func (Discover) Command() {}

// Command marks the type.
func (StopDiscover) Command() {}

// Command marks the type.
func (Commit) Command() {}

// Command marks the type.
func (AbortSinks) Command() {}

// Command marks the type.
func (Finished) Command() {}
