package executiongraph

import "github.com/seed-4b0e9f7c/runner/runner/rpc"

// stateCount is the number of states of an attempt.
const stateCount = 9

// States lists the states in the order of [StateIndex].
func States() [stateCount]rpc.TaskState {
	return [stateCount]rpc.TaskState{
		rpc.Created, rpc.Scheduled, rpc.Deploying, rpc.Initializing, rpc.Running, rpc.Canceling,
		rpc.Finished, rpc.Failed, rpc.Canceled,
	}
}

// StateIndex is the place of a state in [States]; a state that is none of them counts as FAILED.
func StateIndex(s rpc.TaskState) int {
	switch s {
	case rpc.Created:
		return 0
	case rpc.Scheduled:
		return 1
	case rpc.Deploying:
		return 2
	case rpc.Initializing:
		return 3
	case rpc.Running:
		return 4
	case rpc.Canceling:
		return 5
	case rpc.Finished:
		return 6
	case rpc.Failed:
	case rpc.Canceled:
		return 8
	}
	return 7
}

// Legal is the one table of transitions. Final states have no way out: another attempt begins instead. An
// attempt may skip what a TaskManager has no time to report, and one that is being cancelled may turn out
// to have failed before the order to stop arrived.
func Legal(from, to rpc.TaskState) bool {
	switch from {
	case rpc.Created:
		return to == rpc.Scheduled || to == rpc.Canceled
	case rpc.Scheduled:
		return to == rpc.Deploying || to == rpc.Canceled
	case rpc.Deploying:
		return to == rpc.Initializing || to == rpc.Running || ends(to)
	case rpc.Initializing:
		return to == rpc.Running || ends(to)
	case rpc.Running:
		return ends(to)
	case rpc.Canceling:
		return to == rpc.Canceled || to == rpc.Failed
	case rpc.Finished, rpc.Failed, rpc.Canceled:
	}
	return false
}

// ends reports whether an attempt in a slot may be told or may report the state as its last.
func ends(to rpc.TaskState) bool {
	return to == rpc.Finished || to == rpc.Failed || to == rpc.Canceling || to == rpc.Canceled
}
