package jobmaster

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/executiongraph"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// Config is what a JobMaster is made of.
type Config struct {
	Leader   string
	Job, Run string
	Graph    *jobgraph.Graph // not changed, and not to be changed while the job runs
	// FixedSlots is the number of slots where it cannot grow, as in the embedded process: a pipelined
	// region that needs more is refused at once. 0 = it may grow, so the job waits.
	FixedSlots int
	Seed       uint64 // of the restart strategy's jitter
}

// A JobMaster is the machine of one job.
type JobMaster struct {
	config   Config
	graph    *jobgraph.Graph
	now      int64
	out      []rpc.Command
	state    rpc.JobState
	atMs     map[rpc.JobState]int64
	decider  *scheduler.Decider
	exec     *executiongraph.Graph
	vertices []*vertexRun
	edges    []*edgeRun
	stages   []*stageRun
	plan     []scheduler.Stage
	stageOf  []int
	pool     *scheduler.Pool

	strategy    failure.Strategy
	restarts    []RestartRecord
	restart     *pendingRestart
	settle      *settlement
	settleMs    int64  // of a stream: how long a settlement takes at most
	settleTimer string // "" = none
	failure     *failure.Failure
	abortCauses []failure.Cause
	books       *Books

	slots      slotsRun
	barriers   barrierRun
	timers     int // timers started, for ids
	committing bool
	aborting   bool
	recommit   string // timer of a commit to be tried again
	commits    map[string][]string
	anomalies  Anomalies
}

// A vertexRun is a vertex of the graph with what the run knows of it.
type vertexRun struct {
	v            *jobgraph.Vertex
	index        int
	in, out      []*edgeRun
	source, sink *jobgraph.Operator
	shown        int64             // rows that its sink showed before any commit, in all attempts that have ended
	splits       *scheduler.Splits // of a source
	unfound      bool              // looking for its splits failed
	decision     *scheduler.Decision
	readings     []scheduler.Reading // by edge of in
	outputs      []rpc.Output
	lost         map[int]bool // FINISHED subtasks whose results are gone
	committables [][]connectors.Committable
	discarded    []connectors.Committable
}

// An edgeRun is an edge with the results that were written to it.
type edgeRun struct {
	e        jobgraph.Edge
	from, to *vertexRun
	subs     int
	released bool                // nobody needs its results any more, and they are gone
	ids      []exchange.ResultID // of the producers' current attempts; nil = to be made again
	bytes    [][]int64           // by producer and subpartition, until the consumer is decided
}

// A stageRun is a stage with its failover regions, once they are decided.
type stageRun struct {
	index   int
	regions []regionRun
	cursor  int // no pending region is before it
	pending int
	readyMs int64
	wave    int // place in slots.waves, -1 = not started
}

type regionRun struct {
	members []scheduler.Member
	state   regionState
	live    int // members that hold a slot
}

type regionState uint8

const (
	regionPending  regionState = iota // to be deployed
	regionActive                      // deployed
	regionSettling                    // a member's data failed, and those that may still fail earlier go on
	regionStopping                    // a member failed, or it is not wanted any more
	regionFinished
)

// New makes the JobMaster of a job. A job that cannot run ends FAILED at Started.
func New(c Config) *JobMaster {
	j := &JobMaster{
		config: c, graph: c.Graph, state: rpc.JobInitializing, atMs: map[rpc.JobState]int64{},
		pool: scheduler.NewPool(c.Graph), commits: map[string][]string{},
	}
	ids, names := make([]string, len(c.Graph.Vertices)), make([]string, len(c.Graph.Vertices))
	place := map[string]*vertexRun{}
	for i := range c.Graph.Vertices {
		v := &c.Graph.Vertices[i]
		ids[i], names[i] = v.ID, v.Name
		r := &vertexRun{v: v, index: i, lost: map[int]bool{}}
		r.source, r.sink = endsOf(v)
		place[v.ID] = r
		j.vertices = append(j.vertices, r)
	}
	j.exec = executiongraph.New(ids, names)
	for _, e := range c.Graph.Edges {
		r := &edgeRun{e: e, from: place[e.From], to: place[e.To]}
		j.edges = append(j.edges, r)
		if r.from != nil && r.to != nil {
			r.from.out = append(r.from.out, r)
			r.to.in = append(r.to.in, r)
		}
	}
	return j
}

// endsOf are the source and the sink operator of a chain, nil where it has none.
func endsOf(v *jobgraph.Vertex) (source, sink *jobgraph.Operator) {
	for i := range v.Operators {
		switch v.Operators[i].Kind {
		case jobgraph.SourceOp:
			source = &v.Operators[i]
		case jobgraph.SinkOp:
			sink = &v.Operators[i]
		case jobgraph.TransformOp:
		}
	}
	return source, sink
}

// Step takes one event.
func (j *JobMaster) Step(now int64, ev rpc.Event) []rpc.Command {
	if j.state.Final() {
		return nil
	}
	j.now = now
	switch e := ev.(type) {
	case Started:
		j.start()
	case SplitsFound:
		j.splitsFound(e)
	case DiscoverFailed:
		j.discoverFailed(e)
	case Committed:
		j.committed(e)
	case SinksAborted:
		j.sinksAborted(e)
	case rpc.TimerFired:
		j.timerFired(e.ID)
	case rpc.Received:
		if e.Envelope.Leader == j.config.Leader {
			j.receive(e.Envelope)
		}
	}
	if len(j.stages) > 0 && !j.state.Final() {
		j.advance()
	}
	out := j.out
	j.out = nil
	return out
}

func (j *JobMaster) receive(e rpc.Envelope) {
	switch m := e.Body.(type) {
	case rpc.TaskUpdate:
		j.taskUpdate(e.From, m)
	case rpc.TaskProgress:
		j.taskProgress(e.From, m)
	case rpc.RequestSplit:
		j.requestSplit(e.From, m)
	case rpc.AcknowledgeBarrier:
		j.barrierPassed(e.From, m)
	case rpc.SlotsGranted:
		j.slotsGranted(m)
	case rpc.SlotsWanted:
		j.slots.share = m.Share
	case rpc.TaskManagerLost:
		j.managerLost(m)
	case rpc.CancelJob:
		j.cancel()
	}
}

// start checks the job, and asks for the splits of all sources.
func (j *JobMaster) start() {
	if len(j.stages) > 0 {
		return
	}
	j.enter(rpc.JobInitializing)
	if causes := j.prepare(); causes != nil {
		f := failure.New(causes, failure.Where{})
		j.failure = &f
		j.end(rpc.JobFailed)
		return
	}
	j.enter(rpc.JobCreated)
	j.enter(rpc.JobRunning)
	for _, v := range j.vertices {
		if v.source != nil {
			j.discover(v)
		}
	}
}

// prepare makes what can fail for a reason in graph or options.
func (j *JobMaster) prepare() []failure.Cause {
	refuse := func(class failure.Class, text string) []failure.Cause {
		return []failure.Cause{{Class: string(class), Message: text}}
	}
	if m := j.graph.Mode; m != "" && m != jobgraph.ModeBatch && m != jobgraph.ModeStreaming {
		return refuse(failure.NotSupported, fmt.Sprintf("mode %s: this JobMaster runs batch and streaming jobs", m))
	}
	if err := Check(j.graph); err != nil {
		return refuse(failure.Internal, err.Error())
	}
	var err error
	if j.decider, err = scheduler.NewDecider(j.graph); err != nil {
		return refuse(failure.InvalidOption, err.Error())
	}
	if err = j.readOptions(); err != nil {
		return refuse(failure.InvalidOption, err.Error())
	}
	for _, e := range j.edges {
		e.subs = j.decider.Subpartitions(e.e)
		e.from.outputs = append(e.from.outputs, rpc.Output{
			Edge: e.e, Subpartitions: e.subs, MaxParallelism: j.decider.KeyGroups(e.e.To),
		})
	}
	if text := j.tooLarge(); text != "" {
		j.noteDecisions()
		return refuse(failure.NoSlots, text)
	}
	j.plan, j.stageOf = scheduler.Stages(j.graph)
	for i := range j.plan {
		j.stages = append(j.stages, &stageRun{index: i, wave: -1})
	}
	return nil
}

// Check says what makes a job graph one that cannot be run: vertices out of topological order, or blocking
// edges between vertices that have to start together.
func Check(g *jobgraph.Graph) error {
	place := make(map[string]int, len(g.Vertices))
	for i := range g.Vertices {
		place[g.Vertices[i].ID] = i + 1
	}
	for _, e := range g.Edges {
		if from, to := place[e.From], place[e.To]; from == 0 || from >= to && to > 0 {
			return fmt.Errorf("edge %s from %s to %s: the job graph's vertices are not in topological order", e.ID, e.From, e.To)
		}
	}
	return scheduler.CheckStages(g)
}

func (j *JobMaster) command(c rpc.Command) { j.out = append(j.out, c) }

func (j *JobMaster) send(to rpc.Address, m rpc.Message) {
	j.command(rpc.Send{Envelope: rpc.Envelope{From: rpc.JobMaster(j.config.Job), To: to, Leader: j.config.Leader, Body: m}})
}

// enter changes the job's state and says so.
func (j *JobMaster) enter(s rpc.JobState) {
	j.state = s
	j.atMs[s] = j.now
	j.send(rpc.Dispatcher, rpc.JobStatus{
		Job: j.config.Job, Run: j.config.Run, Name: j.graph.Name, State: s, AtMs: j.now, Failure: j.failure,
	})
}

// timer starts a timer and gives its id, which no other timer of the job has.
func (j *JobMaster) timer(kind string, atMs int64) string {
	j.timers++
	id := fmt.Sprintf("%s/%s/%d", j.config.Job, kind, j.timers)
	j.command(rpc.StartTimer{ID: id, AtMs: atMs})
	return id
}

func (j *JobMaster) timerFired(id string) {
	switch {
	case j.restart != nil && id == j.restart.timer:
		j.restart.due = true
	case j.recommit != "" && id == j.recommit:
		j.recommit = ""
		j.command(Commit{Job: j.config.Job, Run: j.config.Run, Sinks: j.sinkCommits()})
	case j.settleTimer != "" && id == j.settleTimer:
		j.settleTimer = ""
		if j.settle != nil {
			j.conclude()
		}
	case j.barriers.timer != "" && id == j.barriers.timer:
		j.barriers.timer = ""
		j.trigger()
	case id == j.slots.timer:
		j.slots.timer = ""
		j.slotsTimedOut()
	}
}
