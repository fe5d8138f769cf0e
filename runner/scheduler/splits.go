package scheduler

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// maxGroup is how many small splits one request gets at most.
const maxGroup = 16

// Splits hands the splits of one source out, in file order, on request: a small group at a time, so that
// fast subtasks take more.
type Splits struct {
	all      []connectors.Split // in file order once closed
	byID     map[string]int
	state    []splitState
	free     intHeap       // not given out
	given    map[int][]int // by subtask: what its current attempt was given
	noMore   map[int]bool  // subtasks told that there is no more
	closed   bool
	limit    *[2]int64 // nothing behind it is given out
	read     int       // splits in state splitRead
	maxBytes int64     // of a group of several
}

type splitState uint8

const (
	splitFree splitState = iota
	splitGiven
	splitRead
)

// NewSplits makes an assigner. Groups of several splits stay within maxBytes.
func NewSplits(maxBytes int64) *Splits {
	return &Splits{byID: map[string]int{}, given: map[int][]int{}, noMore: map[int]bool{}, maxBytes: maxBytes}
}

// Add takes splits that were found. A split whose id is known is dropped.
func (s *Splits) Add(found []connectors.Split) {
	for _, f := range found {
		if _, twice := s.byID[f.ID]; twice || s.closed {
			continue
		}
		s.byID[f.ID] = len(s.all)
		s.all = append(s.all, f)
	}
}

// Close says that all splits were found; only now they go out, in file order.
func (s *Splits) Close() {
	if s.closed {
		return
	}
	s.closed = true
	slices.SortStableFunc(s.all, func(a, b connectors.Split) int { return compareOrder(a.Order, b.Order) })
	s.state = make([]splitState, len(s.all))
	s.free = make(intHeap, len(s.all))
	for i, f := range s.all {
		s.byID[f.ID] = i
		s.free[i] = i
	}
}

// Closed reports whether all splits were found.
func (s *Splits) Closed() bool { return s.closed }

// Total is the number of splits, Read of those read by attempts that count.
func (s *Splits) Total() int { return len(s.all) }

// Read is the number of splits read by attempts that count.
func (s *Splits) Read() int { return s.read }

// Request marks what a subtask has read and gives it more. noMore says that it gets nothing after these.
func (s *Splits) Request(subtask, parallelism int, done []string) (give []connectors.Split, noMore bool) {
	for _, id := range done {
		if i, ok := s.byID[id]; ok && s.closed && s.state[i] == splitGiven && slices.Contains(s.given[subtask], i) {
			s.state[i] = splitRead
			s.read++
		}
	}
	var bytes int64
	for most := s.groupSize(parallelism); len(give) < most && s.HasFree(s.limit); {
		i := s.free[0]
		if len(give) > 0 && bytes+s.all[i].Bytes > s.maxBytes {
			break
		}
		heap.Pop(&s.free)
		bytes += s.all[i].Bytes
		s.state[i] = splitGiven
		s.given[subtask] = append(s.given[subtask], i)
		give = append(give, s.all[i])
	}
	if !s.HasFree(s.limit) {
		s.noMore[subtask] = true
	}
	return give, s.noMore[subtask]
}

// Share gives a subtask all it gets of splits that are read side by side: every parallelism-th one.
func (s *Splits) Share(subtask, parallelism int) (give []connectors.Split) {
	var rest intHeap
	for _, i := range s.free {
		if i%max(parallelism, 1) != subtask {
			rest = append(rest, i)
			continue
		}
		s.state[i] = splitGiven
		s.given[subtask] = append(s.given[subtask], i)
		give = append(give, s.all[i])
	}
	slices.Sort(rest) // a sorted list is a heap
	s.free = rest
	s.noMore[subtask] = true
	slices.SortFunc(give, func(a, b connectors.Split) int { return compareOrder(a.Order, b.Order) })
	return give
}

// groupSize shrinks towards the end, so that the last splits even out.
func (s *Splits) groupSize(parallelism int) int {
	return max(1, min(maxGroup, len(s.free)/(4*max(parallelism, 1))))
}

// HasFree reports whether a split up to limit (nil: any) is not given out.
func (s *Splits) HasFree(limit *[2]int64) bool {
	return len(s.free) > 0 && (limit == nil || compareOrder(s.all[s.free[0]].Order, *limit) <= 0)
}

// Limit stops giving out splits behind order; nil takes that back.
func (s *Splits) Limit(order *[2]int64) { s.limit = order }

// Unread reports whether a subtask has been given a split up to limit that it has not said to have read,
// or may still get one.
func (s *Splits) Unread(subtask int, limit *[2]int64) bool {
	for _, i := range s.given[subtask] {
		if s.state[i] == splitGiven && (limit == nil || compareOrder(s.all[i].Order, *limit) <= 0) {
			return true
		}
	}
	return !s.noMore[subtask] && s.HasFree(limit)
}

// Finish takes all that a subtask was given as read.
func (s *Splits) Finish(subtask int) {
	for _, i := range s.given[subtask] {
		if s.state[i] == splitGiven {
			s.state[i] = splitRead
			s.read++
		}
	}
}

// Given is how many splits the current attempt of a subtask was given.
func (s *Splits) Given(subtask int) int { return len(s.given[subtask]) }

// Return takes back all that a subtask's attempt was given, read or not: what it wrote is void.
func (s *Splits) Return(subtask int) {
	for _, i := range s.given[subtask] {
		if s.state[i] == splitRead {
			s.read--
		}
		s.state[i] = splitFree
		heap.Push(&s.free, i)
	}
	delete(s.given, subtask)
	delete(s.noMore, subtask)
}

// compareOrder compares places in file order.
func compareOrder(a, b [2]int64) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}
