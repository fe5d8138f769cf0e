package sim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/dispatcher"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/resourcemanager"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

const leader = "leader-1"

// A jobManager drives the real machines.
type jobManager struct {
	w          *World
	dispatcher *dispatcher.Dispatcher
	resources  *resourcemanager.ResourceManager
	masters    map[string]*jobmaster.JobMaster
	jobs       map[string]*Job
	timers     map[string]int // id to generation
}

func newJobManager(w *World) *jobManager {
	return &jobManager{
		w: w, dispatcher: dispatcher.New(dispatcher.Config{Leader: leader}),
		resources: resourcemanager.New(resourcemanager.Config{Leader: leader}),
		masters:   map[string]*jobmaster.JobMaster{}, jobs: map[string]*Job{}, timers: map[string]int{},
	}
}

func (d *jobManager) receive(e rpc.Envelope) {
	switch {
	case e.To == rpc.Dispatcher:
		d.perform("", rpc.Dispatcher, d.dispatcher.Step(d.w.now, rpc.Received{Envelope: e}))
	case e.To == rpc.ResourceManager:
		d.step(rpc.ResourceManager, rpc.Received{Envelope: e})
	case strings.HasPrefix(string(e.To), "jobmaster/"):
		d.step(e.To, rpc.Received{Envelope: e})
	}
}

// step gives a machine an event and does what it commands.
func (d *jobManager) step(to rpc.Address, ev rpc.Event) {
	if to == rpc.ResourceManager {
		d.perform("", to, d.resources.Step(d.w.now, ev))
		return
	}
	job := strings.TrimPrefix(string(to), "jobmaster/")
	if m := d.masters[job]; m != nil {
		d.perform(job, to, m.Step(d.w.now, ev))
	}
}

func (d *jobManager) perform(job string, who rpc.Address, commands []rpc.Command) {
	for _, c := range commands {
		switch c := c.(type) {
		case rpc.Send:
			d.w.post(c.Envelope)
		case rpc.StartTimer:
			d.startTimer(who, c)
		case dispatcher.StartJobMaster:
			d.startMaster(c)
		case jobmaster.Discover:
			d.discover(d.jobs[job], c)
		case jobmaster.StopDiscover:
			d.jobs[job].stopped = true
		case jobmaster.Commit:
			d.commit(d.jobs[job], c)
		case jobmaster.AbortSinks:
			d.abort(d.jobs[job], c)
		case jobmaster.Finished:
			d.finished(d.jobs[job], c)
		}
	}
}

func (d *jobManager) startTimer(who rpc.Address, c rpc.StartTimer) {
	d.timers[c.ID]++
	generation := d.timers[c.ID]
	d.w.after(c.AtMs-d.w.now, func() {
		if d.timers[c.ID] == generation {
			d.step(who, rpc.TimerFired{ID: c.ID})
		}
	})
}

func (d *jobManager) startMaster(c dispatcher.StartJobMaster) {
	g := c.Graph
	d.masters[c.Job] = jobmaster.New(jobmaster.Config{Leader: leader, Job: c.Job, Run: c.Run, Graph: &g, Seed: 7})
	d.step(rpc.JobMaster(c.Job), jobmaster.Started{})
}

// discover gives a source's splits in pieces, or fails to.
func (d *jobManager) discover(j *Job, c jobmaster.Discover) {
	to := rpc.JobMaster(j.ID)
	at := d.w.between(1, 200)
	if text := j.discoverFails[c.Vertex]; text != "" {
		d.w.after(at, func() {
			d.step(to, jobmaster.DiscoverFailed{Vertex: c.Vertex, Causes: []failure.Cause{{Class: string(failure.MissingFile), Message: text}}})
		})
		return
	}
	splits := j.splits[c.Vertex]
	for len(splits) > 0 {
		n := min(len(splits), int(d.w.between(1, 5)))
		piece := splits[:n]
		splits = splits[n:]
		d.w.after(at, func() { d.step(to, jobmaster.SplitsFound{Vertex: c.Vertex, Splits: piece}) })
		at += d.w.between(0, 50)
	}
	d.w.after(at, func() { d.step(to, jobmaster.SplitsFound{Vertex: c.Vertex, Done: true}) })
}

// commit checks that this is the one commit of the job and that all rows arrived.
func (d *jobManager) commit(j *Job, c jobmaster.Commit) {
	if j.committed || j.aborted || j.result != nil {
		d.w.violate("job %s commits after a commit, an abort or its end", j.ID)
	}
	for i := range j.Graph.Vertices {
		d.checkFinished(j, i)
	}
	for _, s := range c.Sinks {
		rows := map[string]int{}
		for _, x := range s.Committables {
			var part []string
			if err := json.Unmarshal(x.State, &part); err != nil {
				d.w.violate("job %s: %v", j.ID, err)
			}
			for _, r := range part {
				rows[r]++
			}
		}
		if want := j.expected(s.Vertex, d.masters[j.ID].Snapshot()); !maps.Equal(rows, want) {
			d.w.violate("job %s, sink %s: rows %v, want %v", j.ID, s.Vertex, rows, want)
		}
	}
	if d.w.chance(d.w.faults.CommitFails) {
		d.w.after(d.w.between(1, 100), func() {
			d.step(rpc.JobMaster(j.ID), jobmaster.Committed{Causes: []failure.Cause{{Class: string(failure.DiskFull), Message: "the disk is full"}}})
		})
		return
	}
	j.committed = true
	files := map[string][]string{}
	for _, s := range c.Sinks {
		files[s.Vertex] = []string{"part-0"}
	}
	d.w.after(d.w.between(1, 100), func() { d.step(rpc.JobMaster(j.ID), jobmaster.Committed{Files: files}) })
}

func (d *jobManager) checkFinished(j *Job, vertex int) {
	v := d.masters[j.ID].Snapshot().Vertices[vertex]
	for _, s := range v.Subtasks {
		if s.State != rpc.Finished {
			d.w.violate("job %s commits while %s, subtask %d is %s", j.ID, v.Name, s.Index, s.State)
		}
	}
	if len(v.Subtasks) == 0 {
		d.w.violate("job %s commits before %s was decided", j.ID, v.Name)
	}
}

func (d *jobManager) abort(j *Job, _ jobmaster.AbortSinks) {
	if j.committed || j.aborted {
		d.w.violate("job %s aborts after a commit or an abort", j.ID)
	}
	j.aborted = true
	d.w.after(d.w.between(1, 100), func() { d.step(rpc.JobMaster(j.ID), jobmaster.SinksAborted{}) })
}

func (d *jobManager) finished(j *Job, c jobmaster.Finished) {
	if j.result != nil {
		d.w.violate("job %s ends twice", j.ID)
	}
	if (c.Result.State == rpc.JobFinished) != j.committed && len(c.Result.Sinks) > 0 {
		d.w.violate("job %s ends %s, committed: %v", j.ID, c.Result.State, j.committed)
	}
	if (c.Result.State == rpc.JobFailed) != (c.Result.Failure != nil) {
		d.w.violate("job %s ends %s with failure %v", j.ID, c.Result.State, c.Result.Failure)
	}
	if b := c.Result.Barriers; b != nil && (b.Passed+b.GivenUp > b.Triggered || b.Passed+b.GivenUp < b.Triggered-1) {
		d.w.violate("job %s: of %d barriers %d passed and %d were given up", j.ID, b.Triggered, b.Passed, b.GivenUp)
	}
	j.result = &c.Result
	delete(d.masters, j.ID)
}

// lost says that a TaskManager's connection broke.
func (d *jobManager) lost(id string) {
	d.step(rpc.ResourceManager, rpc.Disconnected{Peer: rpc.TaskManager(id)})
}

// ended reports whether all jobs have.
func (d *jobManager) ended() bool {
	for _, j := range d.jobs {
		if j.result == nil {
			return false
		}
	}
	return true
}

// ids are the jobs in order.
func (d *jobManager) ids() []string { return slices.Sorted(maps.Keys(d.jobs)) }
