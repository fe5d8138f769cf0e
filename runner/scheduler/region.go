package scheduler

import (
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// A Stage is a set of vertices that pipelined edges join: they start together. Depth is the number of
// blocking exchanges before it, on the longest way.
type Stage struct {
	Vertices []int // places in the graph, ascending
	Depth    int
	// Pointwise says that only FORWARD edges join the vertices, so that subtask i of each is a failover
	// region of its own; otherwise all subtasks of the stage are one region.
	Pointwise bool
}

// Stages divides a graph into stages, in the order of their first vertices; of says which one a vertex is
// in.
func Stages(g *jobgraph.Graph) (stages []Stage, of []int) {
	place := make(map[string]int, len(g.Vertices))
	for i := range g.Vertices {
		place[g.Vertices[i].ID] = i
	}
	root := make([]int, len(g.Vertices))
	for i := range root {
		root[i] = i
	}
	for _, e := range g.Edges {
		if !e.Blocking {
			join(root, place[e.From], place[e.To])
		}
	}
	of = make([]int, len(g.Vertices))
	byRoot := map[int]int{}
	for i := range root {
		r := find(root, i)
		n, ok := byRoot[r]
		if !ok {
			n = len(stages)
			byRoot[r] = n
			stages = append(stages, Stage{Pointwise: true})
		}
		of[i] = n
		stages[n].Vertices = append(stages[n].Vertices, i)
	}
	for _, e := range g.Edges {
		if !e.Blocking && e.Exchange != jobgraph.Forward {
			stages[of[place[e.To]]].Pointwise = false
		}
	}
	deepen(g, place, stages, of)
	return stages, of
}

// CheckStages says which blocking edge makes stages wait for each other, or a stage for itself.
func CheckStages(g *jobgraph.Graph) error {
	stages, of := Stages(g)
	place := make(map[string]int, len(g.Vertices))
	for i := range g.Vertices {
		place[g.Vertices[i].ID] = i
	}
	for _, e := range g.Edges {
		if from, to := of[place[e.From]], of[place[e.To]]; e.Blocking && stages[from].Depth >= stages[to].Depth {
			return fmt.Errorf("edge %s from %s to %s is blocking, and pipelined edges make both ends wait for each other", e.ID, e.From, e.To)
		}
	}
	return nil
}

// deepen computes depths. Stages that do not wait for each other in a circle settle in as many passes as
// there are; otherwise some edge does not lead deeper, which CheckStages finds.
func deepen(g *jobgraph.Graph, place map[string]int, stages []Stage, of []int) {
	for range stages {
		changed := false
		for _, e := range g.Edges {
			from, to := of[place[e.From]], of[place[e.To]]
			if e.Blocking && from != to && stages[to].Depth <= stages[from].Depth {
				stages[to].Depth = stages[from].Depth + 1
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

func find(root []int, i int) int {
	for root[i] != i {
		root[i] = root[root[i]]
		i = root[i]
	}
	return i
}

func join(root []int, a, b int) {
	ra, rb := find(root, a), find(root, b)
	root[max(ra, rb)] = min(ra, rb)
}

// Regions are the failover regions of a stage: what fails and restarts together.
func (s Stage) Regions(parallelism func(vertex int) int) [][]Member {
	if !s.Pointwise {
		var all []Member
		for _, v := range s.Vertices {
			for i := range parallelism(v) {
				all = append(all, Member{v, i})
			}
		}
		return [][]Member{all}
	}
	regions := make([][]Member, parallelism(s.Vertices[0]))
	for i := range regions {
		regions[i] = make([]Member, len(s.Vertices))
		for k, v := range s.Vertices {
			regions[i][k] = Member{v, i}
		}
	}
	return regions
}

// RegionOf is the place of a subtask's region in what Regions gives.
func (s Stage) RegionOf(m Member) int {
	if s.Pointwise {
		return m.Subtask
	}
	return 0
}

// A Region names a failover region.
type Region struct{ Stage, Index int }

// A World is what Failover needs to know of a running job.
type World interface {
	Regions(stage int) int      // how many there are; 0 = not decided
	Started(r Region) bool      // it was deployed and holds or has made something
	Available(edge, i int) bool // the result of producer i of the edge can be read, or will be made anyway
	Members(r Region) []Member  // its subtasks
}

// Failover says which regions have to run again when some have failed: those, the producers of results
// they need that are gone, and all that started from what these had written, since another attempt may
// write its rows in another way. The result is in order.
func Failover(g *jobgraph.Graph, stages []Stage, of []int, w World, failed []Region) []Region {
	f := failover{g: g, stages: stages, of: of, w: w, in: map[Region]bool{}, seen: map[[2]int]bool{}}
	f.place = make(map[string]int, len(g.Vertices))
	for i := range g.Vertices {
		f.place[g.Vertices[i].ID] = i
	}
	for _, r := range failed {
		f.add(r)
	}
	for len(f.queue) > 0 {
		r := f.queue[0]
		f.queue = f.queue[1:]
		for _, m := range w.Members(r) {
			f.spread(m)
		}
	}
	all := make([]Region, 0, len(f.in))
	for r := range f.in {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Region) int {
		if a.Stage != b.Stage {
			return a.Stage - b.Stage
		}
		return a.Index - b.Index
	})
	return all
}

type failover struct {
	g      *jobgraph.Graph
	stages []Stage
	of     []int
	place  map[string]int
	w      World
	in     map[Region]bool
	queue  []Region
	seen   map[[2]int]bool // edges looked at: {edge, 0 up or 1 down}, for those that join all with all
}

func (f *failover) add(r Region) {
	if !f.in[r] {
		f.in[r] = true
		f.queue = append(f.queue, r)
	}
}

func (f *failover) spread(m Member) {
	id := f.g.Vertices[m.Vertex].ID
	for n, e := range f.g.Edges {
		if !e.Blocking {
			continue
		}
		if e.To == id {
			f.producers(n, e, m.Subtask)
		}
		if e.From == id {
			f.consumers(n, e, m.Subtask)
		}
	}
}

func (f *failover) producers(n int, e jobgraph.Edge, subtask int) {
	from := f.place[e.From]
	stage := f.of[from]
	check := func(i int) {
		if !f.w.Available(n, i) {
			f.add(Region{stage, f.stages[stage].RegionOf(Member{from, i})})
		}
	}
	if e.Exchange == jobgraph.Forward {
		check(subtask)
		return
	}
	if f.seen[[2]int{n, 0}] {
		return
	}
	f.seen[[2]int{n, 0}] = true
	for r := range f.w.Regions(stage) {
		for _, m := range f.w.Members(Region{stage, r}) {
			if m.Vertex == from {
				check(m.Subtask)
			}
		}
	}
}

func (f *failover) consumers(n int, e jobgraph.Edge, subtask int) {
	to := f.place[e.To]
	stage := f.of[to]
	if f.w.Regions(stage) == 0 {
		return
	}
	if e.Exchange == jobgraph.Forward {
		if r := (Region{stage, f.stages[stage].RegionOf(Member{to, subtask})}); f.w.Started(r) {
			f.add(r)
		}
		return
	}
	if f.seen[[2]int{n, 1}] {
		return
	}
	f.seen[[2]int{n, 1}] = true
	for r := range f.w.Regions(stage) {
		if f.w.Started(Region{stage, r}) {
			f.add(Region{stage, r})
		}
	}
}
