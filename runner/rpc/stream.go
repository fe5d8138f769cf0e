package rpc

// TriggerBarrier (JobMaster to TaskManager) has a source put a barrier into its stream, between two batches.
// Barriers are numbered from 1 up.
type TriggerBarrier struct {
	Task    TaskID `json:"task"`
	Barrier int64  `json:"barrier"`
}

// AcknowledgeBarrier (TaskManager to JobMaster) says that a barrier has passed a task: all that came before it
// was given on. AlignedMs is how long the task waited from the first channel that brought it to the last.
type AcknowledgeBarrier struct {
	Task      TaskID `json:"task"`
	Barrier   int64  `json:"barrier"`
	AlignedMs int64  `json:"alignedMs"`
}

func (TriggerBarrier) message()     {}
func (AcknowledgeBarrier) message() {}
