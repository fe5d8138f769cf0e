package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// quietFor is how long a run shows no progress, so that short ones print their result alone.
const quietFor = 400 * time.Millisecond

// lineEvery is how often a run that is not on a terminal says where it is.
const lineEvery = 10 * time.Second

// A progress shows how far each vertex is: bars on a terminal, a plain line from time to time elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	began    time.Time
	last     time.Time
	bars     *mpb.Progress
	byVertex map[string]*mpb.Bar

	mu   sync.Mutex
	flow map[string]string // of a stream: how each vertex is doing
}

func newProgress(f *os.File) *progress {
	return &progress{w: f, terminal: term.IsTerminal(int(f.Fd())), began: time.Now(), byVertex: map[string]*mpb.Bar{}, flow: map[string]string{}}
}

// update takes a job's state. One goroutine calls it.
func (p *progress) update(s jobmaster.Snapshot) {
	now := time.Now()
	if now.Sub(p.began) < quietFor {
		return
	}
	if p.terminal {
		p.draw(s)
		return
	}
	if p.last.IsZero() {
		p.last = p.began
	}
	if now.Sub(p.last) < lineEvery {
		return
	}
	p.last = now
	for _, v := range s.Vertices {
		if v.Decision == nil {
			continue
		}
		if s.Streaming {
			fmt.Fprintf(p.w, "%s: %s\n", v.Name, report.Flowing(v))
			continue
		}
		fmt.Fprintf(p.w, "%s: %d of %d subtasks finished, %d of %d splits, %s rows in\n",
			v.Name, finished(v), len(v.Subtasks), v.SplitsDone, v.SplitsTotal, report.Thousands(v.Metrics.RecordsIn))
	}
}

// draw moves the bars: a source's counts splits, another vertex's its subtasks. A stream has no way to go that
// a bar could show, so there a line says how each vertex is doing.
func (p *progress) draw(s jobmaster.Snapshot) {
	if p.bars == nil {
		p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
	}
	for _, v := range s.Vertices {
		if v.Decision == nil {
			continue
		}
		total, now := int64(len(v.Subtasks)), int64(finished(v))
		if v.SplitsTotal > 0 {
			total, now = int64(v.SplitsTotal), int64(v.SplitsDone)
		}
		bar := p.byVertex[v.ID]
		if bar == nil {
			// A bar that begins without a total is not complete when it reaches one: the run's end is.
			if s.Streaming {
				bar = p.bars.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(v.Name+" "), decor.Any(func(decor.Statistics) string { return p.doing(v.ID) })))
			} else {
				bar = p.bars.AddBar(0, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(v.Name+" ")), mpb.AppendDecorators(decor.CountersNoUnit("%d / %d")))
			}
			p.byVertex[v.ID] = bar
		}
		p.mu.Lock()
		p.flow[v.ID] = report.Flowing(v)
		p.mu.Unlock()
		bar.SetTotal(total, false)
		bar.SetCurrent(now)
	}
}

// doing is how a vertex of a stream is doing. The bars ask for it in a goroutine of their own.
func (p *progress) doing(vertex string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flow[vertex]
}

func finished(v jobmaster.VertexSnapshot) int {
	n := 0
	for _, t := range v.Subtasks {
		if t.State.Final() {
			n++
		}
	}
	return n
}

// done takes the bars away.
func (p *progress) done() {
	for _, b := range p.byVertex {
		b.Abort(true)
	}
	if p.bars != nil {
		p.bars.Wait()
	}
}
