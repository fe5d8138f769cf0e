// Package resourcemanager keeps the TaskManagers and their slots, and hands slots to jobs. It is pure: see
// [rpc.Machine].
//
// # Events
//
//	rpc.Received       from TaskManagers: RegisterTaskManager, Heartbeat; from JobMasters: DeclareSlots,
//	                   ReleaseSlots
//	rpc.Disconnected   the connection to a TaskManager broke: it is lost at once, a heartbeat timeout is
//	                   only for one that is silent
//	rpc.TimerFired     answers rpc.StartTimer
//
// # Commands
//
//	rpc.Send           to TaskManagers: TaskManagerRegistered, RegisterAgain; to JobMasters: SlotsGranted,
//	                   SlotsWanted, TaskManagerLost
//	rpc.StartTimer     when the next TaskManager could time out
//
// A job declares how many slots it needs now; free slots go one by one to the job that has the fewest, the
// earlier one first. While some job has to wait, those that hold more than their fair share are asked to
// give back what falls idle. Slots go out in the order the TaskManagers registered in, so that few tasks
// stay on few machines, as Flink does.
package resourcemanager
