package jobmaster

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// tooManyRejects finds a source that left more rows out than its on_error allows. It names the first one
// in file order, so that it says the same at every parallelism.
func (j *JobMaster) tooManyRejects() (failure.Cause, bool) {
	for n, v := range j.vertices {
		if v.source == nil || v.source.Source.Rejects == nil {
			continue
		}
		var read, rejected int64
		var first *connectors.Reject
		for _, m := range subtasksMetrics(j, n) {
			for _, t := range m.Files {
				read += t.Read
				rejected += t.Rejected
				first = earlier(first, t.FirstReject)
			}
		}
		if why := exceeds(*v.source.Source.Rejects, read, rejected); why != "" {
			return rejection(v.source, first, why), true
		}
	}
	return failure.Cause{}, false
}

// earlier is the one of two rejects that comes first in file order.
func earlier(a, b *connectors.Reject) *connectors.Reject {
	switch {
	case a == nil:
		return b
	case b == nil || a.Order[0] < b.Order[0] || a.Order[0] == b.Order[0] && a.Order[1] <= b.Order[1]:
		return a
	}
	return b
}

// exceeds says which limit is exceeded, "" where none is.
func exceeds(l jobgraph.RejectLimits, read, rejected int64) string {
	switch {
	case l.MaxRows >= 0 && rejected > l.MaxRows:
		return fmt.Sprintf("%d of %d rows are bad, and max_rows allows %d", rejected, read, l.MaxRows)
	case l.MaxShare >= 0 && float64(rejected) > l.MaxShare*float64(read):
		return fmt.Sprintf("%d of %d rows are bad, and max_share allows %g %%", rejected, read, l.MaxShare*100)
	}
	return ""
}

// rejection is the cause, with the place of the first bad row.
func rejection(source *jobgraph.Operator, first *connectors.Reject, why string) failure.Cause {
	c := failure.Cause{Class: string(failure.TooManyRejects), Operator: source.Label, Message: fmt.Sprintf("source %s: %s, so nothing is published", source.Node, why)}
	if first != nil {
		c.Message += "; the first one: " + first.Message
		c.File, c.Line, c.Column, c.Field, c.Value = first.File, first.Line, first.Column, first.Field, first.Value
	}
	return c
}
