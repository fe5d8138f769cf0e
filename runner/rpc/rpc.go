// Package rpc holds every message between Dispatcher, ResourceManager, JobMaster and TaskManager: types
// only. Order holds within a pair of sender and receiver; a connection may break, and every message may be
// delayed.
package rpc

import (
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// An Address names a receiver: "dispatcher", "resourcemanager", "jobmaster/<job id>",
// "taskmanager/<id>".
type Address string

// An Envelope is a message on its way. Leader is the id of the leading JobManager that the sender
// knows; a receiver drops what carries another one.
type Envelope struct {
	From, To Address
	Leader   string
	Body     Message
}

// A Message is one of the types of this package.
type Message interface{ message() }

// A TaskID names one attempt of one subtask.
type TaskID struct {
	Job     string `json:"job"`
	Vertex  string `json:"vertex"`
	Subtask int    `json:"subtask"`
	Attempt int    `json:"attempt"`
}

// A SlotID names a slot of a TaskManager.
type SlotID struct {
	TaskManager string `json:"taskManager"`
	Index       int    `json:"index"`
}

// DeployTask (JobMaster to TaskManager) starts an attempt in a slot.
type DeployTask struct {
	Task           TaskID              `json:"task"`
	Slot           SlotID              `json:"slot"`
	Name           string              `json:"name"` // of the vertex
	Operators      []jobgraph.Operator `json:"operators"`
	Parallelism    int                 `json:"parallelism"`
	MaxParallelism int                 `json:"maxParallelism"`
	Inputs         []InputGate         `json:"inputs"`  // one per input of the first operator
	Outputs        []Output            `json:"outputs"` // one per edge out of the vertex
	Run            string              `json:"run"`     // run id, for sinks
	Options        []jobgraph.Option   `json:"options"` // job options in force
	// Streaming says that inputs and outputs flow; Unbounded that some source of the job does not end, so that
	// nothing may wait for the end of the input.
	Streaming bool `json:"streaming,omitempty"`
	Unbounded bool `json:"unbounded,omitempty"`
}

// An InputGate says what one input of the task reads: one Channel per edge that feeds it.
type InputGate struct {
	Channels []InputEdge `json:"channels"`
}

// An InputEdge is a range of subpartitions of the results of one edge's producers.
type InputEdge struct {
	Edge     string              `json:"edge"`
	From     []exchange.ResultID `json:"from"`
	Lo       int                 `json:"lo"`
	Hi       int                 `json:"hi"` // exclusive
	Blocking bool                `json:"blocking"`
}

// An Output is an edge to write to.
type Output struct {
	Edge          jobgraph.Edge `json:"edge"`
	Subpartitions int           `json:"subpartitions"`
	// MaxParallelism is the consumer's: the number of key groups that HASH divides rows into. It is the same
	// for every producer that the consumer reads from.
	MaxParallelism int `json:"maxParallelism"`
}

// CancelTask (JobMaster to TaskManager) stops an attempt; the TaskManager answers with a TaskUpdate in
// state CANCELED, or in the final state the attempt had already reached.
type CancelTask struct {
	Task TaskID `json:"task"`
}

// AssignSplits (JobMaster to TaskManager) answers a RequestSplit. NoMore says that the source is used
// up, so the task ends after these.
type AssignSplits struct {
	Task   TaskID             `json:"task"`
	Splits []connectors.Split `json:"splits"`
	NoMore bool               `json:"noMore"`
}

// ReleasePartitions (JobMaster to TaskManager) drops results nobody will read any more.
type ReleasePartitions struct {
	Results []exchange.ResultID `json:"results"`
}

// RequestSplit (TaskManager to JobMaster) asks for work for the source of a task. Done are the ids of
// the splits read since the last request.
type RequestSplit struct {
	Task TaskID   `json:"task"`
	Done []string `json:"done"`
}

// TaskState is the state of an attempt, as Flink calls them.
type TaskState string

// The states. A TaskManager reports Initializing, Running and the last three.
const (
	Created      TaskState = "CREATED"
	Scheduled    TaskState = "SCHEDULED"
	Deploying    TaskState = "DEPLOYING"
	Initializing TaskState = "INITIALIZING"
	Running      TaskState = "RUNNING"
	Canceling    TaskState = "CANCELING"
	Finished     TaskState = "FINISHED"
	Failed       TaskState = "FAILED"
	Canceled     TaskState = "CANCELED"
)

// A TaskUpdate (TaskManager to JobMaster) says that an attempt's state changed. The parts after State
// come with a final state.
type TaskUpdate struct {
	Task         TaskID                   `json:"task"`
	State        TaskState                `json:"state"`
	Metrics      TaskMetrics              `json:"metrics"`
	Results      []ResultInfo             `json:"results,omitempty"`      // FINISHED: one per output
	Committables []connectors.Committable `json:"committables,omitempty"` // FINISHED, of a sink
	Failure      *TaskFailure             `json:"failure,omitempty"`      // FAILED
}

// A TaskFailure says why an attempt failed. Order is the place in file order of the row at fault
// (file from 1, byte offset or row), where the failure has one; the least is reported.
type TaskFailure struct {
	Causes   []failure.Cause    `json:"causes"` // outermost first
	HasOrder bool               `json:"hasOrder"`
	Order    [3]int64           `json:"order"`           // file, offset, row
	Key      string             `json:"key,omitempty"`   // behind a shuffle: the canonical key text, the least is reported
	Lost     *exchange.ResultID `json:"lost,omitempty"`  // an input partition that is gone
	Fatal    bool               `json:"fatal,omitempty"` // another attempt cannot help (bad data, missing file)
}

// A ResultInfo is the size of a finished result partition, by subpartition.
type ResultInfo struct {
	ID    exchange.ResultID `json:"id"`
	Bytes []int64           `json:"bytes"`
	Rows  []int64           `json:"rows"`
}

// A TaskProgress (TaskManager to JobMaster) carries the metrics of running attempts from time to time.
type TaskProgress struct {
	Tasks []TaskMetricsOf `json:"tasks"`
}

// TaskMetricsOf is the metrics of one attempt.
type TaskMetricsOf struct {
	Task    TaskID      `json:"task"`
	Metrics TaskMetrics `json:"metrics"`
}

// TaskMetrics are an attempt's counters so far.
type TaskMetrics struct {
	RecordsIn       int64              `json:"recordsIn"`
	RecordsOut      int64              `json:"recordsOut"`
	BytesIn         int64              `json:"bytesIn"`
	BytesOut        int64              `json:"bytesOut"`
	SpilledBytes    int64              `json:"spilledBytes"`
	StateBytes      int64              `json:"stateBytes"`
	Splits          int                `json:"splits"`
	BusyMs          int64              `json:"busyMs"`
	IdleMs          int64              `json:"idleMs"`
	BackpressuredMs int64              `json:"backpressuredMs"`
	Operators       []OperatorBooks    `json:"operators,omitempty"` // one per chain member
	Edges           []EdgeBooks        `json:"edges,omitempty"`     // rows in by edge, rows out by edge
	Files           []connectors.Tally `json:"files,omitempty"`
	SinkRows        int64              `json:"sinkRows"`
	SinkBytes       int64              `json:"sinkBytes"`
	SinkShown       int64              `json:"sinkShown,omitempty"` // rows that its sink showed before any commit
	Digest          string             `json:"digest,omitempty"`    // 32 hex digits: sum of row hashes mod 2^128
	// WatermarkMs is the last watermark the task gave on, [connectors.EndWatermark] after the end; nil where it
	// gave none.
	WatermarkMs *int64 `json:"watermarkMs,omitempty"`
	// Rejects is where the task kept the rows that its source left out; it comes with a final state.
	Rejects *RejectsPart `json:"rejects,omitempty"`
	// TryCasts come with a final state, of an attempt that did not fail.
	TryCasts []TryCast `json:"tryCasts,omitempty"`
}

// A RejectsPart is a file with records that a source left out, in sorted runs, each up to a byte.
type RejectsPart struct {
	Path   string  `json:"path"`
	Ends   []int64 `json:"ends"`
	Rows   int64   `json:"rows"`
	Failed string  `json:"failed,omitempty"` // why they could not be kept; the file is of no use then
}

// A TryCast is for how many rows a TRY_CAST of one operator gave NULL. Operator is its place in the chain.
type TryCast struct {
	Operator int `json:"operator"`
	expr.TryCast
}

// OperatorBooks are the books of one operator in one attempt.
type OperatorBooks struct {
	In       int64 `json:"in"`
	Passed   int64 `json:"passed"`
	Filtered int64 `json:"filtered"`
	Rejected int64 `json:"rejected"`
	Late     int64 `json:"late"`
	Absorbed int64 `json:"absorbed"`
	Released int64 `json:"released"`
	Out      int64 `json:"out"`
}

// EdgeBooks are the rows that went over one edge in one attempt.
type EdgeBooks struct {
	Edge string `json:"edge"`
	In   int64  `json:"in"`  // read from it
	Out  int64  `json:"out"` // written to it, copies not counted
}

func (DeployTask) message()        {}
func (CancelTask) message()        {}
func (AssignSplits) message()      {}
func (ReleasePartitions) message() {}
func (RequestSplit) message()      {}
func (TaskUpdate) message()        {}
func (TaskProgress) message()      {}
