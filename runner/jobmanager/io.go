package jobmanager

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// guarded is the recover boundary around connectors' code and the machines.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a fault of the program: %v", v)
		}
	}()
	return f()
}

// discover runs a source's enumerator and posts what it finds as it finds it.
func (jm *JobManager) discover(at rpc.Address, c jobmaster.Discover) {
	ctx := jm.jobOf(at).discover
	jm.io.Go(func() {
		err := guarded(func() error { return jm.enumerate(ctx, at, c) })
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("finding the splits of source %s: %w", c.Operator.Node, err)
			causes := failure.FromError(err)
			for i := range causes {
				causes[i].Operator = c.Operator.Label
			}
			jm.queue.put(step{at, jobmaster.DiscoverFailed{Vertex: c.Vertex, Causes: causes}})
		}
	})
}

func (jm *JobManager) enumerate(ctx context.Context, at rpc.Address, c jobmaster.Discover) (err error) {
	comp := jm.cfg.Catalogs.Connectors[c.Operator.Component]
	if comp == nil {
		return fmt.Errorf("there is no source %s", c.Operator.Component)
	}
	s, err := comp.Open(c.Operator.Source.State)
	if err != nil {
		return err
	}
	s.Push(c.Operator.Source.Push)
	e, err := s.Enumerator(ctx, c.Options, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	for {
		found, done, err := e.Discover(ctx)
		if err != nil {
			return err
		}
		jm.queue.put(step{at, jobmaster.SplitsFound{Vertex: c.Vertex, Splits: found, Done: done}})
		if done {
			return nil
		}
	}
}

// commit writes down what is to be published and then publishes sink after sink.
func (jm *JobManager) commit(c jobmaster.Commit) rpc.Event {
	done := jobmaster.Committed{Files: map[string][]string{}}
	err := guarded(func() error {
		if err := jm.check(c); err != nil {
			return err
		}
		in := intentOf(c)
		if err := in.write(); err != nil {
			return err
		}
		for i, s := range c.Sinks {
			files, err := jm.commitSink(s, c.Run)
			if err != nil {
				return fmt.Errorf("publishing sink %s%s: %w", s.Operator.Node, published(c.Sinks, i), err)
			}
			done.Files[s.Vertex] = files
		}
		return in.remove()
	})
	if err != nil {
		done.Causes = failure.FromError(err)
	}
	return done
}

// check asks all sinks whether they could publish, before the first one does.
func (jm *JobManager) check(c jobmaster.Commit) error {
	for _, s := range c.Sinks {
		k, err := jm.committer(s)
		if err != nil {
			return err
		}
		if checker, ok := k.(connectors.Checker); ok {
			if err := checker.Check(jm.ctx, c.Run); err != nil {
				return fmt.Errorf("publishing sink %s: %w", s.Operator.Node, err)
			}
		}
	}
	return nil
}

// published says which sinks a commit that broke off at the i-th one had published.
func published(sinks []jobmaster.SinkCommit, i int) string {
	if i == 0 {
		return ""
	}
	names := make([]string, i)
	for k := range names {
		names[k] = sinks[k].Operator.Node
	}
	return " (published before it: " + strings.Join(names, ", ") + ")"
}

// commitSink publishes one sink. It goes on to its end also while the process is asked to stop: what is
// half published is worse than late.
func (jm *JobManager) commitSink(s jobmaster.SinkCommit, run string) ([]string, error) {
	comp := jm.cfg.Catalogs.Connectors[s.Operator.Component]
	if comp == nil {
		return nil, fmt.Errorf("there is no sink %s", s.Operator.Component)
	}
	return commitSink(context.WithoutCancel(jm.ctx), comp, s.Operator.Sink.Bound.State, s.Operator.In[0], run, s.Committables)
}

// abort removes what the sinks staged.
func (jm *JobManager) abort(c jobmaster.AbortSinks) rpc.Event {
	var errs []error
	for _, s := range c.Sinks {
		errs = append(errs, guarded(func() error { return jm.abortSink(s, c.Run) }))
	}
	return jobmaster.SinksAborted{Causes: failure.FromError(errors.Join(errs...))}
}

// committer makes the committer of a sink of the job.
func (jm *JobManager) committer(s jobmaster.SinkCommit) (connectors.Committer, error) {
	comp := jm.cfg.Catalogs.Connectors[s.Operator.Component]
	if comp == nil {
		return nil, fmt.Errorf("there is no sink %s", s.Operator.Component)
	}
	sink, err := comp.OpenSink(s.Operator.Sink.Bound.State, s.Operator.In[0])
	if err != nil {
		return nil, err
	}
	return sink.Committer()
}

func (jm *JobManager) abortSink(s jobmaster.SinkCommit, run string) error {
	k, err := jm.committer(s)
	if err != nil {
		return err
	}
	all := append([]connectors.Committable(nil), s.Committables...)
	return k.Abort(context.WithoutCancel(jm.ctx), run, append(all, s.Discarded...))
}
