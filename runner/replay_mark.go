package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/store"
)

// A file beside a report, of its name and this, says who has replayed the bad rows of its run.
const markSuffix = ".replayed"

// A replayMark is that file. It is there before a replay begins, so that also one whose process dies has
// left its mark, and goes again where the replay published nothing.
type replayMark struct {
	Of      string       `json:"of"` // the run; a report that was written anew is another one's
	Replays []replayNote `json:"replays"`
}

// A replayNote is one replay. State is that of its job, RUNNING until it has ended.
type replayNote struct {
	RunID     string `json:"runId"`
	StartedAt string `json:"startedAt"`
	Plan      string `json:"plan"` // its file
	State     string `json:"state"`
}

// standardInput is what stands for the report's file where it came from there.
const standardInput = "-"

// unreplayed refuses to write the same rows a second time.
func (of *ReplayOf) unreplayed() error {
	if of.Again || of.File == standardInput {
		return nil
	}
	m, err := of.readMark()
	switch {
	case err != nil:
		return refuse("whether the bad rows of %s are replayed already cannot be told: %v; give --again to replay them in any case", of.File, err)
	case len(m.Replays) == 0:
		return nil
	}
	last := m.Replays[len(m.Replays)-1]
	if last.State == string(rpc.JobRunning) {
		return refuse("run %s began to replay the bad rows of %s at %s, and its end is not noted in %s: it runs still, or its process died and may have published. "+
			"Look at what the sinks of %s wrote, and give --again to replay them once more", last.RunID, of.File, last.StartedAt, of.File+markSuffix, last.Plan)
	}
	return refuse("the bad rows of %s are replayed already: run %s published them through %s. A second time they would be there twice: give --again where that is meant, into other targets for example",
		of.File, last.RunID, last.Plan)
}

// readMark gives the mark, an empty one where there is none.
func (of *ReplayOf) readMark() (m replayMark, err error) {
	b, err := os.ReadFile(of.File + markSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return replayMark{Of: of.Earlier.RunID}, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("reading %s: %w", of.File+markSuffix, err)
	}
	if m.Of != of.Earlier.RunID {
		return replayMark{Of: of.Earlier.RunID}, nil
	}
	return m, nil
}

// begin notes that a run replays now.
func (of *ReplayOf) begin(n replayNote) error {
	if of.File == standardInput {
		return nil
	}
	if err := of.unreplayed(); err != nil { // another one may have been quicker
		return err
	}
	n.State = string(rpc.JobRunning)
	m, err := of.readMark()
	if err != nil && !of.Again {
		return err
	}
	m.Of, m.Replays = of.Earlier.RunID, append(m.Replays, n)
	if err := of.writeMark(m); err != nil {
		return refuse("that the bad rows of %s are replayed cannot be noted beside it: %v; copy the report to a folder that can be written to", of.File, err)
	}
	return nil
}

func (of *ReplayOf) writeMark(m replayMark) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return store.WriteFile(of.File+markSuffix, append(b, '\n'))
}

// end notes how a replay ended, and takes its note away where nothing was published.
func (of *ReplayOf) end(run, state string, published bool) error {
	if of.File == standardInput {
		return nil
	}
	m, err := of.readMark()
	if err != nil {
		return err
	}
	var left []replayNote
	for _, n := range m.Replays {
		if n.RunID == run {
			n.State = state
		}
		if n.RunID != run || published {
			left = append(left, n)
		}
	}
	if len(left) == 0 {
		return store.Remove(of.File + markSuffix)
	}
	return of.writeMark(replayMark{Of: m.Of, Replays: left})
}

// published reports whether a job wrote rows that another replay would write again. Rows that are still bad
// are none: a sink of bad rows holds them for the next replay.
func published(s *jobmaster.Snapshot, sinks []report.Sink) bool {
	if s == nil || !s.Committing {
		return false
	}
	for _, k := range sinks {
		if k.Rejects == nil && k.Rows > 0 {
			return true
		}
	}
	return false
}

// noted runs a replay with its mark set.
func (r *run) noted(execute func() error) error {
	of := r.s.replay
	if of.File == standardInput {
		r.warn("the report came from standard input, so that nothing notes that its bad rows are replayed")
	}
	note := replayNote{RunID: r.id, StartedAt: r.s.Started.UTC().Format(time.RFC3339Nano), Plan: r.plan.File}
	if err := of.begin(note); err != nil {
		return err
	}
	err := execute()
	state := string(rpc.JobFailed)
	if r.out.Snapshot != nil {
		state = string(r.out.Snapshot.State)
	}
	if merr := of.end(r.id, state, published(r.out.Snapshot, report.Build(r.out).Sinks)); merr != nil {
		r.warn("how the replay ended could not be noted in %s%s: %v", of.File, markSuffix, merr)
	}
	return err
}
