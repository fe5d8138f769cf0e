package jobmaster

import (
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// A Snapshot is everything about a job at one moment; the report and the progress display are made of it.
// It shares nothing with the machine that goes on changing.
type Snapshot struct {
	Job, Run, Name string
	Streaming      bool
	Committing     bool // its results are, or were, being published: what is journalled may come to be there
	State          rpc.JobState
	AtMs           map[rpc.JobState]int64 // when each state was entered, the last time
	Vertices       []VertexSnapshot       // in the order of the job graph
	Slots          SlotsSnapshot
	Sinks          []SinkSnapshot
	Restarts       []RestartRecord
	Strategy       string // the restart strategy as Flink shows it
	Failure        *failure.Failure
	AbortCauses    []failure.Cause // what could not be cleaned up after a failure
	Books          *Books          // once all vertices finished
	Anomalies      Anomalies
	Barriers       *Barriers // of a stream with barriers
}

// A VertexSnapshot is a vertex; Decision is nil and Subtasks empty until its parallelism is decided.
type VertexSnapshot struct {
	ID, Name     string
	Operators    []string // labels
	SharingGroup string
	Decision     *scheduler.Decision
	Subtasks     []SubtaskSnapshot
	Metrics      rpc.TaskMetrics // sums over the current attempts
	SplitsTotal  int             // of a source: found so far
	SplitsDone   int             // of a source: read by attempts that count
}

// A SubtaskSnapshot is a subtask with its current attempt.
type SubtaskSnapshot struct {
	Index, Attempt int
	State          rpc.TaskState
	TaskManager    string // "" until deployed
	Slot           int
	ScheduledMs    int64 // times, 0 = not yet
	DeployedMs     int64
	RunningMs      int64
	EndedMs        int64
	WaitedMs       int64 // from scheduled to deployed
	Metrics        rpc.TaskMetrics
}

// A SlotsSnapshot says how many slots the job needs (the sum over its sharing groups of the largest
// parallelism decided so far), how many it has had at most, and how long it waited without any.
type SlotsSnapshot struct {
	Needed, Available int
	WaitedMs          int64
	Groups            map[string]int // largest parallelism by sharing group
	Waves             []Wave
}

// A Wave is a stage: the vertices that start together because pipelined edges join them.
type Wave struct {
	Vertices  []string // names
	Needed    int      // slots to run all of it at once
	Available int      // slots held at most while some of it had not started
	Rounds    int      // ceil(Needed / Available)
	ReadyMs   int64    // when it could have started, had there been slots
	WaitedMs  int64    // from ready to the first start
}

// A SinkSnapshot is what a sink published.
type SinkSnapshot struct {
	Vertex, Node     string
	Files            []string
	Rows, Bytes      int64
	Shown            int64  // rows that were seen before any commit, in all attempts that have ended
	Digest           string // 32 hex digits
	NotDeterministic string
	Committables     []connectors.Committable
}

// A RestartRecord is one restart.
type RestartRecord struct {
	AtMs     int64
	Strategy string
	Cause    string
	Failure  failure.Failure
	Tasks    int // subtasks that run again
}

// Anomalies counts messages that were not taken: Late ones are about attempts that are over, as a
// TaskManager that was thought lost may send; Illegal ones ask for a transition that the table does not
// have, with the first few texts.
type Anomalies struct {
	Late, Illegal int
	Texts         []string
}

// Books are the books of a job, summed over winning attempts.
type Books struct {
	Balanced  bool           `json:"balanced"`
	Faults    []string       `json:"faults,omitempty"` // what does not balance, with the numbers
	Operators []OperatorBook `json:"operators"`
	Edges     []EdgeBook     `json:"edges"`
	Files     []FileBook     `json:"files"`
}

// An OperatorBook balances when In = Passed + Filtered + Rejected + Late + Absorbed, Out = Passed +
// Released, and the next operator of the chain took what this one gave.
type OperatorBook struct {
	Operator string `json:"operator"`
	rpc.OperatorBooks
}

// An EdgeBook balances when In = Out x Copies.
type EdgeBook struct {
	From   string `json:"from"`
	Port   string `json:"port,omitempty"` // "rejected"; "" for what the vertex gives itself
	To     string `json:"to"`
	Out    int64  `json:"out"`
	Copies int64  `json:"copies"`
	In     int64  `json:"in"`
}

// A FileBook balances when Rows = Read + Pruned + Unread and, where all splits were read, its bytes are
// those of the file, of which those that are neither passed over nor unread were read.
type FileBook struct {
	Path   string `json:"path"`
	Rows   int64  `json:"rows"`
	Read   int64  `json:"read"`
	Pruned int64  `json:"pruned"`
	Unread int64  `json:"unread"`
	Bytes  int64  `json:"bytes"`
	// PrunedBytes were passed over by statistics, UnreadBytes not read since nobody asks for them.
	PrunedBytes int64 `json:"prunedBytes,omitempty"`
	UnreadBytes int64 `json:"unreadBytes,omitempty"`
}
