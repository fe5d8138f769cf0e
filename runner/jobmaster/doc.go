// Package jobmaster runs one job from its graph to its final state. It is pure: see [rpc.Machine].
//
// # Events
//
//	Started            first and once: the job may begin
//	SplitsFound        answers Discover, any number of times, the last one with Done
//	DiscoverFailed     answers Discover: the enumerator failed
//	Committed          answers Commit, with files or with causes
//	SinksAborted       answers AbortSinks
//	rpc.TimerFired     answers rpc.StartTimer
//	rpc.Received       from a TaskManager: TaskUpdate, TaskProgress, RequestSplit, AcknowledgeBarrier; from the
//	                   ResourceManager: SlotsGranted, SlotsWanted, TaskManagerLost; from the Dispatcher: CancelJob
//
// # Commands
//
//	rpc.Send           to TaskManagers: DeployTask, CancelTask, AssignSplits, ReleasePartitions, TriggerBarrier; to
//	                   the ResourceManager: DeclareSlots, ReleaseSlots; to the Dispatcher: JobStatus
//	rpc.StartTimer     a restart delay, the slot request timeout, the next barrier, the end of a settlement
//	Discover           run the enumerator of a source until it is done; comes again if that failed and the
//	                   restart strategy allows it
//	StopDiscover       the splits of all sources are no longer wanted; events that still come are ignored
//	Commit             journal the intent of all sinks, then publish each; may come again after a failed
//	                   one, so it is idempotent
//	AbortSinks         leave nothing of the run visible; only before any Commit
//	Finished           once and last: the job is in a final state, here is everything about it
//
// Messages whose leader is not the JobMaster's are dropped. [JobMaster.Snapshot] may be called between steps.
//
// # Data failures
//
// A failure of the data (rpc.TaskFailure.HasOrder, or a Key) does not end the job at once: what could still
// fail earlier runs on, so that the reported root cause is the same at any parallelism. Earlier means: a
// vertex at a lower depth (number of blocking exchanges before it), then an earlier vertex of the graph,
// then an earlier place in file order or a lesser key. Splits behind the place at fault are no longer given
// out, and tasks that only read such splits are cancelled. Of tasks that pipelined edges join, those of later
// vertices are cancelled and the others go on to their ends, their rows for cancelled ones dropped, for as long
// as runner.streaming.settle-timeout says. Where a source never ends nobody waits for it: there the first
// failure counts.
package jobmaster
