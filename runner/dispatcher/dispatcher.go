package dispatcher

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// Config is what a Dispatcher is made of.
type Config struct {
	Leader string
	Keep   int // ended jobs remembered, jobstore.max-capacity; 0 = 100
}

// StartJobMaster (command) begins a job.
type StartJobMaster struct {
	Job, Run string
	Graph    jobgraph.Graph
}

// Command marks the type.
func (StartJobMaster) Command() {}

// A Dispatcher is the machine.
type Dispatcher struct {
	config Config
	jobs   []*rpc.JobStatus // in the order they were submitted
	byID   map[string]*rpc.JobStatus
	out    []rpc.Command
}

// New makes a Dispatcher without jobs.
func New(c Config) *Dispatcher {
	if c.Keep <= 0 {
		c.Keep = 100
	}
	return &Dispatcher{config: c, byID: map[string]*rpc.JobStatus{}}
}

// Step takes one event.
func (d *Dispatcher) Step(now int64, ev rpc.Event) []rpc.Command {
	d.out = nil
	e, ok := ev.(rpc.Received)
	if !ok || e.Envelope.Leader != d.config.Leader {
		return nil
	}
	switch m := e.Envelope.Body.(type) {
	case rpc.SubmitJob:
		d.submit(now, e.Envelope.From, m)
	case rpc.CancelJob:
		if j := d.byID[m.Job]; j != nil && !j.State.Final() {
			d.send(rpc.JobMaster(m.Job), m)
		}
	case rpc.ListJobs:
		d.send(e.Envelope.From, d.list(m.Job))
	case rpc.JobStatus:
		d.update(m)
	}
	return d.out
}

func (d *Dispatcher) submit(now int64, from rpc.Address, m rpc.SubmitJob) {
	if refused := d.refuse(m); refused != "" {
		d.send(from, rpc.SubmitResult{Job: m.Job, Refused: refused})
		return
	}
	j := &rpc.JobStatus{Job: m.Job, Run: m.Run, Name: m.Graph.Name, State: rpc.JobInitializing, StartMs: now, AtMs: now}
	d.jobs = append(d.jobs, j)
	d.byID[m.Job] = j
	d.out = append(d.out, StartJobMaster{Job: m.Job, Run: m.Run, Graph: m.Graph})
	d.send(from, rpc.SubmitResult{Job: m.Job})
}

// refuse says why a job cannot be taken, "" where it can.
func (d *Dispatcher) refuse(m rpc.SubmitJob) string {
	switch {
	case m.Job == "":
		return "the job has no id"
	case d.byID[m.Job] != nil:
		return fmt.Sprintf("a job with id %s was submitted before", m.Job)
	case len(m.Graph.Vertices) == 0:
		return fmt.Sprintf("the job graph of %s has no vertices", m.Graph.Name)
	}
	return ""
}

// update takes what a JobMaster says of its job. A final state stays.
func (d *Dispatcher) update(m rpc.JobStatus) {
	j := d.byID[m.Job]
	if j == nil || j.State.Final() {
		return
	}
	m.StartMs = j.StartMs
	*j = m
	if m.State.Final() {
		d.forget()
	}
}

// forget drops the oldest ended jobs beyond those to keep.
func (d *Dispatcher) forget() {
	ended := 0
	for _, j := range d.jobs {
		if j.State.Final() {
			ended++
		}
	}
	kept := d.jobs[:0]
	for _, j := range d.jobs {
		if j.State.Final() && ended > d.config.Keep {
			ended--
			delete(d.byID, j.Job)
			continue
		}
		kept = append(kept, j)
	}
	d.jobs = kept
}

func (d *Dispatcher) list(job string) rpc.JobList {
	l := rpc.JobList{Jobs: []rpc.JobStatus{}}
	for _, j := range d.jobs {
		if job == "" || job == j.Job {
			l.Jobs = append(l.Jobs, *j)
		}
	}
	return l
}

// Jobs are the jobs known, in the order they were submitted in.
func (d *Dispatcher) Jobs() []rpc.JobStatus { return d.list("").Jobs }

func (d *Dispatcher) send(to rpc.Address, m rpc.Message) {
	d.out = append(d.out, rpc.Send{Envelope: rpc.Envelope{From: rpc.Dispatcher, To: to, Leader: d.config.Leader, Body: m}})
}
