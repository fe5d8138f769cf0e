package scheduler

// A Reason is why a vertex got its parallelism. The list is closed.
type Reason string

// The reasons.
const (
	ReasonExplicit       Reason = "explicit"                   // `parallelism` on the node
	ReasonSplits         Reason = "splits"                     // as many as there are splits
	ReasonDataVolume     Reason = "data-volume"                // bytes over the average volume per task
	ReasonMaxParallelism Reason = "max-parallelism"            // the upper bound holds it down
	ReasonMinParallelism Reason = "min-parallelism"            // the lower bound holds it up
	ReasonDefaultSource  Reason = "default-source-parallelism" // the upper bound of sources holds it down
	ReasonUnsplittable   Reason = "unsplittable"               // files that cannot be cut, one subtask each
	ReasonSingleFile     Reason = "single-file-sink"           // only one writer
	ReasonGlobal         Reason = "global-exchange"            // only one subtask sees all rows
	ReasonForward        Reason = "forward"                    // that of the vertex it reads from
	ReasonPipelined      Reason = "pipelined"                  // starts with its producer, so no volume is known
	ReasonStreaming      Reason = "streaming"                  // a stream: parallelism.default
	ReasonDisabled       Reason = "disabled"                   // auto-parallelism is off: parallelism.default
)

// A Decision is the parallelism of one vertex and why. In what Explain says, Decided is 0 where it
// depends on volumes that only the run knows; then Min and Max are its bounds.
//
// Numbers holds what the decision was made from. Of a source: splits, files, bytes, avgBytesPerTask, bound, and
// wantedBySize, the subtasks its files are worth. Behind an exchange: producedBytes, broadcastBytes,
// avgBytesPerTask, subpartitions, bound, minParallelism. After a FORWARD edge: producerParallelism.
type Decision struct {
	Vertex    string           `json:"vertex"`
	Name      string           `json:"name"`
	Requested int              `json:"requested"` // of the node, else parallelism.default
	Origin    string           `json:"origin"`    // node, flag, plan, file, env, default, embedded
	Decided   int              `json:"decided"`
	Min       int              `json:"min"`
	Max       int              `json:"max"` // upper bound
	Reason    Reason           `json:"reason"`
	Numbers   map[string]int64 `json:"numbers"`
	Text      string           `json:"text"` // one sentence
}
