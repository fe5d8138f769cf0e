package rpc

import (
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// The fixed addresses.
const (
	Dispatcher      Address = "dispatcher"
	ResourceManager Address = "resourcemanager"
)

// JobMaster is the address of a job's JobMaster.
func JobMaster(job string) Address { return Address("jobmaster/" + job) }

// TaskManager is the address of a TaskManager.
func TaskManager(id string) Address { return Address("taskmanager/" + id) }

// JobState is the state of a job, as Flink calls them.
type JobState string

// The states of a job. The last three are final.
const (
	JobInitializing JobState = "INITIALIZING"
	JobCreated      JobState = "CREATED"
	JobRunning      JobState = "RUNNING"
	JobFailing      JobState = "FAILING"
	JobCancelling   JobState = "CANCELLING"
	JobRestarting   JobState = "RESTARTING"
	JobFinished     JobState = "FINISHED"
	JobFailed       JobState = "FAILED"
	JobCanceled     JobState = "CANCELED"
)

// Final reports whether a job in this state stays in it.
func (s JobState) Final() bool { return s == JobFinished || s == JobFailed || s == JobCanceled }

// Final reports whether an attempt in this state stays in it.
func (s TaskState) Final() bool { return s == Finished || s == Failed || s == Canceled }

// SubmitJob (client to Dispatcher) hands a job in; the Dispatcher answers with SubmitResult.
type SubmitJob struct {
	Job   string         `json:"job"` // 32 hex digits
	Run   string         `json:"run"` // run id, for sinks and reports
	Graph jobgraph.Graph `json:"graph"`
}

// SubmitResult (Dispatcher to client) says whether the job was taken; Refused is empty where it was.
type SubmitResult struct {
	Job     string `json:"job"`
	Refused string `json:"refused,omitempty"`
}

// CancelJob (client to Dispatcher, Dispatcher to JobMaster) stops a job. Once the commit of its sinks
// has begun, the job goes on to its end.
type CancelJob struct {
	Job string `json:"job"`
}

// ListJobs (client to Dispatcher) asks for JobList. Job restricts it to one job.
type ListJobs struct {
	Job string `json:"job,omitempty"`
}

// JobList (Dispatcher to client) holds the jobs in the order they were submitted in.
type JobList struct {
	Jobs []JobStatus `json:"jobs"`
}

// JobStatus (JobMaster to Dispatcher) says that a job's state changed.
type JobStatus struct {
	Job     string           `json:"job"`
	Run     string           `json:"run"`
	Name    string           `json:"name"`
	State   JobState         `json:"state"`
	StartMs int64            `json:"startMs"`
	AtMs    int64            `json:"atMs"`
	Failure *failure.Failure `json:"failure,omitempty"` // FAILED
}

// RegisterTaskManager (TaskManager to ResourceManager) offers a TaskManager's slots. The id belongs to
// one registration: a TaskManager whose connection broke, or that was told RegisterAgain, drops its tasks
// and results and comes back under another id, so that nothing meant for the old one reaches it.
type RegisterTaskManager struct {
	ID           string `json:"id"`
	Slots        int    `json:"slots"`
	ManagedBytes int64  `json:"managedBytes"`
}

// TaskManagerRegistered (ResourceManager to TaskManager) says how often to send a Heartbeat.
type TaskManagerRegistered struct {
	ID                  string `json:"id"`
	HeartbeatIntervalMs int64  `json:"heartbeatIntervalMs"`
	HeartbeatTimeoutMs  int64  `json:"heartbeatTimeoutMs"`
}

// RegisterAgain (ResourceManager to TaskManager) answers a Heartbeat of a TaskManager that is not, or no
// longer, registered.
type RegisterAgain struct {
	ID string `json:"id"`
}

// Heartbeat (TaskManager to ResourceManager) says that a TaskManager is alive.
type Heartbeat struct {
	TaskManager string `json:"taskManager"`
}

// DeclareSlots (JobMaster to ResourceManager) says how many slots a job needs now, those it has
// included. The last declaration counts; 0 ends the job's claim.
type DeclareSlots struct {
	Job    string `json:"job"`
	Needed int    `json:"needed"`
}

// SlotsGranted (ResourceManager to JobMaster) hands slots to a job. Total is the number of slots of all
// registered TaskManagers, for messages.
type SlotsGranted struct {
	Job   string   `json:"job"`
	Slots []SlotID `json:"slots"`
	Total int      `json:"total"`
}

// SlotsWanted (ResourceManager to JobMaster) says that other jobs wait and how many slots are this job's
// fair share: it gives back what it has beyond them as soon as they are idle.
type SlotsWanted struct {
	Job   string `json:"job"`
	Share int    `json:"share"`
}

// ReleaseSlots (JobMaster to ResourceManager) gives slots back. No task of the job is in them.
type ReleaseSlots struct {
	Job   string   `json:"job"`
	Slots []SlotID `json:"slots"`
}

// TaskManagerLost (ResourceManager to JobMaster) says that a TaskManager, its slots, its tasks and its
// results are gone.
type TaskManagerLost struct {
	TaskManager string `json:"taskManager"`
	Reason      string `json:"reason"`
}

func (SubmitJob) message()             {}
func (SubmitResult) message()          {}
func (CancelJob) message()             {}
func (ListJobs) message()              {}
func (JobList) message()               {}
func (JobStatus) message()             {}
func (RegisterTaskManager) message()   {}
func (TaskManagerRegistered) message() {}
func (RegisterAgain) message()         {}
func (Heartbeat) message()             {}
func (DeclareSlots) message()          {}
func (SlotsGranted) message()          {}
func (SlotsWanted) message()           {}
func (ReleaseSlots) message()          {}
func (TaskManagerLost) message()       {}
