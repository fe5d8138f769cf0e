// Package dispatcher takes jobs, keeps what is known of each, and has one JobMaster started per job. It is
// pure: see [rpc.Machine].
//
// # Events
//
//	rpc.Received       from clients: SubmitJob, CancelJob, ListJobs; from JobMasters: JobStatus
//
// # Commands
//
//	rpc.Send           to clients: SubmitResult, JobList; to JobMasters: CancelJob
//	StartJobMaster     make the JobMaster of a job and give it jobmaster.Started
//
// The driver drops a JobMaster after its jobmaster.Finished; JobStatus with the final state, which it sends
// before, is what the Dispatcher keeps.
package dispatcher
