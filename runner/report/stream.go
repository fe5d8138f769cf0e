package report

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
)

// watermarkText is a watermark for people, "" where there is none.
func watermarkText(ms *int64) string {
	switch {
	case ms == nil:
		return ""
	case *ms == connectors.EndWatermark:
		return "end"
	}
	return time.UnixMilli(*ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// leastWatermark is the watermark of a vertex: the least of its subtasks, "" where one has none.
func leastWatermark(all []jobmaster.SubtaskSnapshot) string {
	var least *int64
	for _, t := range all {
		ms := t.Metrics.WatermarkMs
		if ms == nil {
			return ""
		}
		if least == nil || *ms < *least {
			least = ms
		}
	}
	return watermarkText(least)
}

// Flowing says in a few words how a vertex of a stream is doing: rows so far, the share of the time in which its
// subtasks waited for those behind them, and its watermark.
func Flowing(v jobmaster.VertexSnapshot) string {
	m := v.Metrics
	text := Rows(m.RecordsIn) + " in"
	if all := m.BusyMs + m.IdleMs + m.BackpressuredMs; all > 0 && m.BackpressuredMs*100 >= all {
		text += fmt.Sprintf(", back-pressured %d %% of the time", m.BackpressuredMs*100/all)
	}
	if mark := leastWatermark(v.Subtasks); mark != "" {
		text += ", watermark " + mark
	}
	return text
}

func (r *Report) streaming() bool { return r.Plan.Mode == jobgraph.ModeStreaming }

// writeStream is the table of vertices of a stream: what they waited for says where it is slow.
func writeStream(b *strings.Builder, r Report) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VERTEX\tPARALLELISM\tSTATE\tROWS IN\tROWS OUT\tBUSY\tIDLE\tBACK-PRESSURED\tWATERMARK")
	for _, v := range r.Vertices {
		var idle, full int64
		for _, s := range v.Subtasks {
			idle += s.IdleMs
			full += s.BackpressuredMs
		}
		mark := v.Watermark
		if mark == "" {
			mark = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d ms\t%d ms\t%d ms\t%s\n", v.Name, decided(v.Parallelism), stateOf(v),
			Thousands(v.RecordsIn), Thousands(v.RecordsOut), busy(v), idle, full, mark)
	}
	t.Flush()
}

// fullBarriers says what became of a stream's barriers.
func fullBarriers(b *strings.Builder, x *jobmaster.Barriers) {
	if x == nil {
		return
	}
	fmt.Fprintf(b, "\nBarriers\n  %d triggered, %d passed all tasks, %d given up; the slowest took %d ms, the longest alignment of a task %d ms; nothing is stored at a barrier\n",
		x.Triggered, x.Passed, x.GivenUp, x.LongestMs, x.LongestAlignmentMs)
}
