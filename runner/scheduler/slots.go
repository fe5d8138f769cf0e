package scheduler

import (
	"container/heap"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// SlotsNeeded is how many slots it takes to run all subtasks at once: the sum over the sharing groups of
// the largest parallelism in the group. parallelism gives each vertex's, by place in the graph.
func SlotsNeeded(g *jobgraph.Graph, parallelism func(vertex int) int) (needed int, groups map[string]int) {
	groups = map[string]int{}
	for i := range g.Vertices {
		if n := parallelism(i); n > groups[g.Vertices[i].SharingGroup] {
			needed += n - groups[g.Vertices[i].SharingGroup]
			groups[g.Vertices[i].SharingGroup] = n
		}
	}
	return needed, groups
}

// A Pool is the slots a job holds. A slot takes tasks of one sharing group at a time, and at most one
// subtask of each vertex.
type Pool struct {
	groups []string // sharing group by vertex
	slots  []slot   // in the order they came; a removed one stays as a gap
	byID   map[rpc.SlotID]int
	open   []intHeap // by vertex: slots that may take one of its subtasks, some of them outdated
	held   int
	idle   int
}

type slot struct {
	id    rpc.SlotID
	gone  bool
	tasks []Member
}

// A Member is a subtask by the place of its vertex in the graph.
type Member struct{ Vertex, Subtask int }

// NewPool makes an empty pool for the vertices of a graph.
func NewPool(g *jobgraph.Graph) *Pool {
	p := &Pool{byID: map[rpc.SlotID]int{}, open: make([]intHeap, len(g.Vertices))}
	for i := range g.Vertices {
		p.groups = append(p.groups, g.Vertices[i].SharingGroup)
	}
	return p
}

// Held is the number of slots in the pool, Idle of those without a task.
func (p *Pool) Held() int { return p.held }

// Idle is the number of slots without a task.
func (p *Pool) Idle() int { return p.idle }

// Add takes slots into the pool.
func (p *Pool) Add(ids []rpc.SlotID) {
	for _, id := range ids {
		if _, have := p.byID[id]; have {
			continue
		}
		n := len(p.slots)
		p.byID[id] = n
		p.slots = append(p.slots, slot{id: id})
		p.held++
		p.idle++
		for v := range p.open {
			heap.Push(&p.open[v], n)
		}
	}
}

// Place finds slots for tasks that have to run together, all or none; ids are in the order of members.
func (p *Pool) Place(members []Member) (ids []rpc.SlotID, ok bool) {
	ids = make([]rpc.SlotID, 0, len(members))
	for _, m := range members {
		n := p.take(m.Vertex)
		if n < 0 {
			for i, id := range ids {
				p.Free(id, members[i])
			}
			return nil, false
		}
		s := &p.slots[n]
		if len(s.tasks) == 0 {
			p.idle--
		}
		s.tasks = append(s.tasks, m)
		ids = append(ids, s.id)
	}
	return ids, true
}

// take finds the first slot that can take a subtask of the vertex, -1 where none can.
func (p *Pool) take(vertex int) int {
	h := &p.open[vertex]
	for h.Len() > 0 {
		n := heap.Pop(h).(int)
		if n < len(p.slots) && p.fits(&p.slots[n], vertex) {
			return n
		}
	}
	return -1
}

func (p *Pool) fits(s *slot, vertex int) bool {
	if s.gone {
		return false
	}
	for _, m := range s.tasks {
		if m.Vertex == vertex || p.groups[m.Vertex] != p.groups[vertex] {
			return false
		}
	}
	return true
}

// Free takes a task out of its slot.
func (p *Pool) Free(id rpc.SlotID, m Member) {
	n, have := p.byID[id]
	if !have {
		return
	}
	s := &p.slots[n]
	for i, t := range s.tasks {
		if t != m {
			continue
		}
		s.tasks = append(s.tasks[:i], s.tasks[i+1:]...)
		heap.Push(&p.open[m.Vertex], n)
		if len(s.tasks) == 0 {
			p.idle++
			p.reopen(n, m.Vertex)
		}
		return
	}
}

// reopen offers an idle slot to the other groups, which dropped it while this one had it.
func (p *Pool) reopen(n, vertex int) {
	for v := range p.open {
		if p.groups[v] != p.groups[vertex] {
			heap.Push(&p.open[v], n)
		}
	}
}

// Remove drops a slot and gives the tasks that were in it.
func (p *Pool) Remove(id rpc.SlotID) []Member {
	n, have := p.byID[id]
	if !have {
		return nil
	}
	delete(p.byID, id)
	s := &p.slots[n]
	s.gone = true
	p.held--
	if len(s.tasks) == 0 {
		p.idle--
	}
	return s.tasks
}

// RemoveManager drops all slots of a TaskManager.
func (p *Pool) RemoveManager(id string) {
	for n := range p.slots {
		if !p.slots[n].gone && p.slots[n].id.TaskManager == id {
			p.Remove(p.slots[n].id)
		}
	}
}

// TakeIdle removes up to n idle slots, those that came last first, and names them.
func (p *Pool) TakeIdle(n int) []rpc.SlotID {
	var ids []rpc.SlotID
	for i := len(p.slots) - 1; i >= 0 && len(ids) < n && p.idle > 0; i-- {
		if s := &p.slots[i]; !s.gone && len(s.tasks) == 0 {
			ids = append(ids, s.id)
			p.Remove(s.id)
		}
	}
	p.trim()
	return ids
}

// trim drops gaps at the end, so that a job whose slots come and go does not grow its list for ever.
func (p *Pool) trim() {
	for len(p.slots) > 0 && p.slots[len(p.slots)-1].gone {
		p.slots = p.slots[:len(p.slots)-1]
	}
	for v := range p.open {
		if len(p.open[v]) > 2*len(p.slots)+16 {
			p.rebuild(v)
		}
	}
}

// rebuild drops outdated entries.
func (p *Pool) rebuild(v int) {
	p.open[v] = p.open[v][:0]
	for n := range p.slots {
		if p.fits(&p.slots[n], v) {
			p.open[v] = append(p.open[v], n)
		}
	}
}

// An intHeap gives its least number first.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a number.
func (h *intHeap) Push(x any) { *h = append(*h, x.(int)) }

// Pop takes the last number.
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// StreamSlots is how many slots a stream needs, whose parallelism is known before it starts, and the
// largest parallelism by sharing group.
func (d *Decider) StreamSlots() (needed int, groups map[string]int) {
	return SlotsNeeded(d.graph, func(v int) int { return d.bounds[d.graph.Vertices[v].ID] })
}
