package taskmanager

import (
	"fmt"
	"time"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A stuckError says that a task did not end when it was told to.
type stuckError struct {
	task     string
	operator string
	waitedMs int64
}

func (e *stuckError) Error() string {
	return fmt.Sprintf("%s did not react to its cancellation within %s (task.cancellation.timeout), so nobody waits for it any more; the process has to end", e.task, spec.FormatDuration(e.waitedMs))
}

// Class is the stable class of the failure.
func (e *stuckError) Class() string { return string(failure.CancellationTimeout) }

// stop tells a task to end, and watches that it does: one that hangs in a call that cannot be broken off
// must not hold its job for ever.
func (tm *TaskManager) stop(t *task) {
	t.cancel(errCancelled)
	if tm.cfg.CancelTimeoutMs <= 0 {
		return
	}
	t.watched.Do(func() {
		timer := time.AfterFunc(time.Duration(tm.cfg.CancelTimeoutMs)*time.Millisecond, func() { tm.abandon(t) })
		go func() {
			<-t.left
			timer.Stop()
		}()
	})
}

// abandon reports a task that does not end as failed and forgets it. What the task says later nobody
// hears. Its slot and memory are still in its hands, so no further task is taken.
func (tm *TaskManager) abandon(t *task) {
	tm.mu.Lock()
	if tm.tasks[t.d.Task] != t {
		tm.mu.Unlock()
		return // it has ended meanwhile
	}
	delete(tm.tasks, t.d.Task)
	err := &stuckError{task: t.title(), waitedMs: tm.cfg.CancelTimeoutMs}
	tm.stuck = append(tm.stuck, err.Error())
	tm.mu.Unlock()
	tm.send(t.d.Task.Job, rpc.TaskUpdate{Task: t.d.Task, State: rpc.Failed, Failure: t.taskFailure(err)})
	close(t.left)
}

// Stuck says of each task that did not react to its cancellation that it did not.
func (tm *TaskManager) Stuck() []string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return append([]string(nil), tm.stuck...)
}
