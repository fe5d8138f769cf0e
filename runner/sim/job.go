package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Job is a random job graph with its data.
type Job struct {
	ID            string
	Graph         jobgraph.Graph
	splits        map[string][]connectors.Split // by source vertex
	rowsOf        map[string][]string           // by split
	fileOf        map[string]string             // by split
	bad           map[string]map[string]bool    // rows that a vertex fails on
	discoverFails map[string]string
	cancelMs      int64 // 0 = not cancelled

	finished  map[resultKey]bool
	connected map[resultKey]map[int]bool // subpartitions that a consumer has asked for
	triggered int64                      // last barrier
	runsOn    map[rpc.TaskID]string
	stopped   bool
	committed bool
	aborted   bool
	result    *jobmaster.Snapshot
}

// Shape says what kind of jobs are made.
type Shape struct {
	Pipelined bool     // some edges are pipelined
	Streaming bool     // mode streaming: all of them are
	Bad       int      // rows in a thousand that some vertex fails on
	Discover  int      // sources in a thousand whose splits cannot be found
	Restart   string   // restart-strategy.type, "" = none
	Default   int      // parallelism.default, 0 = random
	Options   []string // name, value, …
}

// NewJob makes a job from a seed.
func NewJob(id string, seed uint64, s Shape) *Job {
	r := rand.New(rand.NewPCG(seed, 1))
	j := &Job{
		ID: id, splits: map[string][]connectors.Split{}, rowsOf: map[string][]string{}, fileOf: map[string]string{},
		bad: map[string]map[string]bool{}, discoverFails: map[string]string{}, finished: map[resultKey]bool{},
		connected: map[resultKey]map[int]bool{}, runsOn: map[rpc.TaskID]string{},
	}
	p := s.Default
	if random := 1 + r.IntN(5); p == 0 {
		p = random
	}
	j.Graph = jobgraph.Graph{Name: id, Mode: jobgraph.ModeBatch}
	if s.Streaming {
		j.Graph.Mode = jobgraph.ModeStreaming
		j.option("runner.streaming.barrier-interval", fmt.Sprintf("%d ms", 50+r.IntN(500)))
		j.option("runner.streaming.settle-timeout", "2 h") // as long as the slowest schedule takes
	}
	j.option("parallelism.default", fmt.Sprint(p))
	j.option("execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task", fmt.Sprint(rowBytes*(1+r.IntN(8))))
	if r.IntN(5) == 0 {
		j.option("execution.batch.adaptive.auto-parallelism.enabled", "false")
	}
	j.option("restart-strategy.type", s.Restart)
	for i := 0; i+1 < len(s.Options); i += 2 {
		j.option(s.Options[i], s.Options[i+1])
	}
	sources := 1 + r.IntN(3)
	for v := range sources + r.IntN(5) {
		j.addVertex(r, v, v < sources, s)
	}
	for i := range j.Graph.Vertices {
		if v := &j.Graph.Vertices[i]; len(j.Graph.Out(v.ID)) == 0 {
			v.Operators = append(v.Operators, jobgraph.Operator{Kind: jobgraph.SinkOp, Label: "Sink: " + v.ID, Node: v.ID, Sink: &jobgraph.Sink{}})
		}
		j.addBad(r, &j.Graph.Vertices[i], s)
	}
	return j
}

func (j *Job) option(name, value string) {
	if value != "" {
		j.Graph.Options = append(j.Graph.Options, jobgraph.Option{Name: name, Value: value, Source: "plan", Scope: "job"})
	}
}

func (j *Job) addVertex(r *rand.Rand, n int, source bool, s Shape) {
	v := jobgraph.Vertex{ID: fmt.Sprintf("v%d", n), SharingGroup: "default"}
	if r.IntN(6) == 0 {
		v.SharingGroup = "other"
	}
	op := jobgraph.Operator{Kind: jobgraph.TransformOp, Label: "Op: " + v.ID, Node: v.ID}
	forward := false
	if source {
		op.Kind, op.Label = jobgraph.SourceOp, "Source: "+v.ID
		op.Source = &jobgraph.Source{Inv: j.addFiles(r, v.ID), Partitioned: s.Streaming && r.IntN(3) == 0}
		if r.IntN(1000) < s.Discover {
			j.discoverFails[v.ID] = "file " + v.ID + " does not exist"
		}
	} else {
		forward = j.addEdges(r, v.ID, n, s)
	}
	switch k := r.IntN(12); {
	case forward:
	case k == 0:
		v.Parallelism = jobgraph.Request{Value: 1 + r.IntN(6), Origin: "node"}
	case k == 1:
		v.Parallelism = jobgraph.Request{Fixed: "single-file-sink"}
	}
	v.Operators = []jobgraph.Operator{op}
	if r.IntN(2) == 0 {
		v.Operators = append(v.Operators, jobgraph.Operator{Kind: jobgraph.TransformOp, Label: "Calc: " + v.ID, Node: v.ID})
	}
	v.Name = op.Label
	j.Graph.Vertices = append(j.Graph.Vertices, v)
}

// addEdges gives a vertex one to three inputs. A vertex with a FORWARD input has no other restriction.
func (j *Job) addEdges(r *rand.Rand, to string, n int, s Shape) (forward bool) {
	for i := range 1 + r.IntN(3) {
		e := jobgraph.Edge{
			ID: fmt.Sprintf("%s.%d", to, i), From: fmt.Sprintf("v%d", r.IntN(n)), To: to, Input: r.IntN(2), Blocking: true,
		}
		switch k := r.IntN(10); {
		case k < 4 || forward && k == 7:
			e.Exchange = jobgraph.HashBy
		case k < 7:
			e.Exchange = jobgraph.Rebalance
		case k == 7:
			e.Exchange = jobgraph.Global
		case k == 8:
			e.Exchange = jobgraph.Broadcast
		case i == 0:
			e.Exchange = jobgraph.Forward
			forward = true
		default:
			e.Exchange = jobgraph.HashBy
		}
		if s.Streaming || s.Pipelined && r.IntN(4) == 0 {
			e.Blocking = false
		}
		j.Graph.Edges = append(j.Graph.Edges, e)
		if !s.Streaming && !e.Blocking && jobmaster.Check(&j.Graph) != nil {
			j.Graph.Edges[len(j.Graph.Edges)-1].Blocking = true
		}
	}
	return forward
}

// addFiles makes the files of a source, with splits of a few rows each.
func (j *Job) addFiles(r *rand.Rand, vertex string) connectors.Inventory {
	var inv connectors.Inventory
	for f := range 1 + r.IntN(4) {
		file := connectors.File{Path: fmt.Sprintf("%s/file%d", vertex, f), Splittable: r.IntN(3) > 0, Rows: -1}
		n := 1
		if file.Splittable {
			n = 1 + r.IntN(6)
		}
		for k := range n {
			id := fmt.Sprintf("%s/%d", file.Path, k)
			for row := range r.IntN(5) {
				j.rowsOf[id] = append(j.rowsOf[id], fmt.Sprintf("%s#%d", id, row))
			}
			bytes := int64(1 + r.IntN(20))
			j.splits[vertex] = append(j.splits[vertex], connectors.Split{
				ID: id, Order: [2]int64{int64(f + 1), file.Bytes}, Bytes: bytes, State: []byte{byte(k)},
			})
			j.fileOf[id] = file.Path
			file.Bytes += bytes
		}
		inv.Files = append(inv.Files, file)
	}
	return inv
}

// addBad picks the rows a vertex fails on, among all rows there are.
func (j *Job) addBad(r *rand.Rand, v *jobgraph.Vertex, s Shape) {
	j.bad[v.ID] = map[string]bool{}
	for i := range j.Graph.Vertices {
		for _, split := range j.splits[j.Graph.Vertices[i].ID] {
			for _, row := range j.rowsOf[split.ID] {
				if r.IntN(1000) < s.Bad {
					j.bad[v.ID][row] = true
				}
			}
		}
	}
}

func (j *Job) edge(id string) jobgraph.Edge {
	for _, e := range j.Graph.Edges {
		if e.ID == id {
			return e
		}
	}
	return jobgraph.Edge{}
}

// expected is how often each row must reach a vertex, from the graph and the parallelism alone.
func (j *Job) expected(vertex string, s jobmaster.Snapshot) map[string]int {
	rows := map[string]int{}
	for _, split := range j.splits[vertex] {
		for _, row := range j.rowsOf[split.ID] {
			rows[row]++
		}
	}
	for _, e := range j.Graph.In(vertex) {
		copies := 1
		if e.Exchange == jobgraph.Broadcast {
			for _, v := range s.Vertices {
				if v.ID == vertex {
					copies = len(v.Subtasks)
				}
			}
		}
		for row, n := range j.expected(e.From, s) {
			rows[row] += n * copies
		}
	}
	return rows
}

// String is the graph, for a person to read.
func (j *Job) String() string {
	b, err := json.MarshalIndent(j.Graph, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}
