// Package report is the run report: one JSON file a run that says what ran where, why each vertex got
// its parallelism, and what broke.
//
// Its shape is versioned. Fields may be added; none is renamed without a new SchemaVersion. Names are
// camelCase with units last, counters are integers, data values are strings.
package report

import (
	"encoding/json"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
)

// SchemaVersion of what this package writes.
const SchemaVersion = 1

// A Report is one run.
type Report struct {
	SchemaVersion int               `json:"schemaVersion"`
	RunID         string            `json:"runId"`
	JobID         string            `json:"jobId"`
	State         string            `json:"state"`   // FINISHED, FAILED or CANCELED
	Verdict       string            `json:"verdict"` // one sentence for a ticket
	StartedAt     string            `json:"startedAt"`
	Plan          Plan              `json:"plan"`
	Engine        Engine            `json:"engine"`
	Options       []jobgraph.Option `json:"options"`
	Memory        Memory            `json:"memory"`
	Slots         Slots             `json:"slots"`
	Vertices      []Vertex          `json:"vertices"`
	Sources       []Source          `json:"sources"`
	Sinks         []Sink            `json:"sinks"`
	Timings       Timings           `json:"timings"`
	Restarts      []Restart         `json:"restarts"`
	// Barriers are those of a stream that was asked to have some; absent otherwise.
	Barriers *jobmaster.Barriers `json:"barriers,omitempty"`
	Failure  *failure.Failure    `json:"failure"`
	Books    *jobmaster.Books    `json:"books"`
	Warnings []string            `json:"warnings"`
	ReplayOf *ReplayOf           `json:"replayOf,omitempty"`
}

// A Plan says which plan ran.
type Plan struct {
	Name   string            `json:"name"`
	File   string            `json:"file"`
	Digest string            `json:"digest"`
	Mode   string            `json:"mode"`
	Params map[string]string `json:"params"`
}

// An Engine says what ran it.
type Engine struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Target  string `json:"target"`
}

// Memory of the process, in bytes.
type Memory struct {
	TotalProcessBytes int64 `json:"totalProcessBytes"` // most it had at once, as the system counts it
	ManagedBytes      int64 `json:"managedBytes"`      // for blocking operators, over all slots
}

// Slots says how many slots the job needed and had. WaitedMs is how long it had none at all,
// LongestWaitMs how long the subtask waited that waited longest for one.
type Slots struct {
	Needed        int            `json:"needed"`
	Available     int            `json:"available"`
	WaitedMs      int64          `json:"waitedMs"`
	LongestWaitMs int64          `json:"longestWaitMs"`
	Groups        map[string]int `json:"groups"`
	Waves         []Wave         `json:"waves"`
}

// A Wave is a set of vertices that start together. With Needed over Available it runs in Rounds.
type Wave struct {
	Vertices  []string `json:"vertices"`
	Needed    int      `json:"needed"`
	Available int      `json:"available"`
	Rounds    int      `json:"rounds"`
	ReadyMs   int64    `json:"readyMs"` // since the run began: when it could have started
	WaitedMs  int64    `json:"waitedMs"`
}

// A Vertex is a chain of operators and how it ran.
type Vertex struct {
	ID               string      `json:"id"`
	Name             string      `json:"name"`
	Operators        []string    `json:"operators"`
	SlotSharingGroup string      `json:"slotSharingGroup"`
	Parallelism      Parallelism `json:"parallelism"`
	RecordsIn        int64       `json:"recordsIn"`
	RecordsOut       int64       `json:"recordsOut"`
	BytesIn          int64       `json:"bytesIn"`
	BytesOut         int64       `json:"bytesOut"`
	SpilledBytes     int64       `json:"spilledBytes"`
	StateBytes       int64       `json:"stateBytes"`
	// Watermark of a stream: the least that the subtasks gave on last, "2026-01-31T12:00:00.000Z" or "end" behind
	// the last row; absent where some subtask gave none.
	Watermark string    `json:"watermark,omitempty"`
	Subtasks  []Subtask `json:"subtasks"`
	// TryCasts are the values that TRY_CAST gave NULL for, by operator, expression and reason.
	TryCasts []TryCast `json:"tryCasts,omitempty"`
}

// Parallelism is what was asked, what was decided, and why. Decided is 0 where the job ended before.
type Parallelism struct {
	Requested int              `json:"requested"`
	Origin    string           `json:"origin"`
	Decided   int              `json:"decided"`
	Max       int              `json:"max"`
	Reason    string           `json:"reason"`
	Numbers   map[string]int64 `json:"numbers"`
	Text      string           `json:"text"`
}

// A Subtask is one subtask's last attempt.
type Subtask struct {
	Index           int    `json:"index"`
	Attempt         int    `json:"attempt"`
	State           string `json:"state"`
	TaskManager     string `json:"taskManager"`
	Slot            int    `json:"slot"`
	Splits          int    `json:"splits"`
	RecordsIn       int64  `json:"recordsIn"`
	RecordsOut      int64  `json:"recordsOut"`
	WaitedMs        int64  `json:"waitedMs"`
	BusyMs          int64  `json:"busyMs"`
	IdleMs          int64  `json:"idleMs"`
	BackpressuredMs int64  `json:"backpressuredMs"` // of a stream: it waited for those who read from it
	Watermark       string `json:"watermark,omitempty"`
}

// A Source is what was read.
type Source struct {
	Node  string       `json:"node"`
	Files []SourceFile `json:"files"`
	// Inferred is how its columns were found; not there where the plan declares them or they stand in the files.
	Inferred *connectors.Inference `json:"inferred,omitempty"`
	// Rejects is the file with all rows that were left out as bad; not there where none were, nothing was
	// published, or they were not kept.
	Rejects *RejectsFile `json:"rejects,omitempty"`
}

// A RejectsFile has the rows that a source left out: `runner replay` reads it.
type RejectsFile struct {
	File  string `json:"file"` // its name, in the folder of the report
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// A SourceFile is one input file. Rows is what was read of it.
type SourceFile struct {
	Path     string `json:"path"`
	Bytes    int64  `json:"bytes"`
	Rows     int64  `json:"rows"`
	Rejected int64  `json:"rejected"`
	Padded   int64  `json:"padded,omitempty"`
	// ExtraColumns are columns of the file that the plan does not declare, and that were passed over.
	ExtraColumns int `json:"extraColumns,omitempty"`
	// FirstReject is the first row that was bad and left out, with its place; "" where none was.
	FirstReject string `json:"firstReject,omitempty"`
	// Rejects are the first of those rows in file order, at most [connectors.MostSampled]: they are here
	// also where nothing was published.
	Rejects []Reject `json:"rejects,omitempty"`
	// Pruning is what the filter passed over by statistics in the file, and which of those are not used; absent where
	// nobody asked them.
	Pruning *Pruning `json:"pruning,omitempty"`
	// Modified is when the file was changed last, as the system says.
	Modified string `json:"modified,omitempty"`
}

// A Pruning is what was passed over of a file since its statistics say that no row there passes the filter.
type Pruning struct {
	RowGroups int64                          `json:"rowGroups"`         // passed over as a whole
	Of        int64                          `json:"ofRowGroups"`       // that were looked at
	Pages     int64                          `json:"pages"`             // in other row groups, of the columns that are read
	Rows      int64                          `json:"rows"`              // of both
	Bytes     int64                          `json:"bytes"`             // as they are in the file, of the columns that are read
	Ignored   []connectors.IgnoredStatistics `json:"ignored,omitempty"` // statistics that are not used, and why
}

// A Reject is a row that was bad and left out. Column is its place from 1, 0 where the record as a whole
// is bad; code is a class of failures.
type Reject struct {
	Line       int64  `json:"line"`
	ByteOffset int64  `json:"byteOffset"`
	Column     int64  `json:"column"`
	Field      string `json:"field"`
	Value      string `json:"value"`
	Code       string `json:"code"`
	Message    string `json:"message"`
}

// A Sink is what was written. Digest does not depend on the order of rows.
type Sink struct {
	Node          string   `json:"node"`
	Files         []string `json:"files"`
	Rows          int64    `json:"rows"`
	Bytes         int64    `json:"bytes"`
	Digest        string   `json:"digest"`
	Deterministic bool     `json:"deterministic"`
	Because       string   `json:"because"`
	// Shown is how many rows could be seen before the run ended, of a sink that shows them as they come, such as
	// print. They stay seen where the run is not FINISHED; rows of attempts that ran again are among them.
	Shown int64 `json:"shown,omitempty"`
	// Rejects says how to read what the sink wrote, where it took the bad rows of a source as they came out
	// of the port.
	Rejects *RejectsSink `json:"rejects,omitempty"`
}

// A RejectsSink is a sink of a source's bad rows: `runner replay` reads it.
type RejectsSink struct {
	Of      string          `json:"of"`   // source
	Kind    string          `json:"kind"` // of the sink: csv, json, parquet
	Options json.RawMessage `json:"options"`
}

// A ReplayOf says which run's bad rows a run read instead of its files.
type ReplayOf struct {
	RunID  string `json:"runId"`
	Report string `json:"report"` // its file
}

// Timings are the parts of the run, in milliseconds.
type Timings struct {
	CompileMs  int64 `json:"compileMs"`
	ScheduleMs int64 `json:"scheduleMs"`
	RunMs      int64 `json:"runMs"`
	CommitMs   int64 `json:"commitMs"`
	TotalMs    int64 `json:"totalMs"`
	CPUMs      int64 `json:"cpuMs"` // processor time of the process meanwhile; 0 where it is not known
}

// A Restart is one restart of the job's tasks.
type Restart struct {
	AtMs     int64  `json:"atMs"` // since the run began
	Strategy string `json:"strategy"`
	Cause    string `json:"cause"`
}
