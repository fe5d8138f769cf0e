package jobmaster

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// balance sums the books of the winning attempts and checks them.
func (j *JobMaster) balance() *Books {
	b := &Books{Balanced: true, Operators: []OperatorBook{}, Edges: []EdgeBook{}, Files: []FileBook{}}
	in, out := map[string]int64{}, map[string]int64{}
	all := make([][]rpc.OperatorBooks, len(j.vertices))
	for n, v := range j.vertices {
		sums := make([]rpc.OperatorBooks, len(v.v.Operators))
		all[n] = sums
		subtasks := j.exec.Vertices[n].Subtasks
		for i := range subtasks {
			m := &subtasks[i].Current.Metrics
			for k := range min(len(sums), len(m.Operators)) {
				addBooks(&sums[k], m.Operators[k])
			}
			for _, e := range m.Edges {
				in[e.Edge] += e.In
				out[e.Edge] += e.Out
			}
		}
		b.chain(v.v, sums)
		if v.source != nil {
			b.files(v, subtasksMetrics(j, n))
		}
	}
	for _, e := range j.edges {
		b.edge(e, out[e.e.ID], in[e.e.ID], int64(j.parallelism(e.to.index)))
		if e.e.Port == connectors.PortRejected {
			b.port(e, out[e.e.ID], all[e.from.index][e.e.Operator])
		}
	}
	b.Balanced = len(b.Faults) == 0
	return b
}

func subtasksMetrics(j *JobMaster, vertex int) []*rpc.TaskMetrics {
	subtasks := j.exec.Vertices[vertex].Subtasks
	all := make([]*rpc.TaskMetrics, len(subtasks))
	for i := range subtasks {
		all[i] = &subtasks[i].Current.Metrics
	}
	return all
}

func addBooks(to *rpc.OperatorBooks, b rpc.OperatorBooks) {
	to.In += b.In
	to.Passed += b.Passed
	to.Filtered += b.Filtered
	to.Rejected += b.Rejected
	to.Late += b.Late
	to.Absorbed += b.Absorbed
	to.Released += b.Released
	to.Out += b.Out
}

func (b *Books) fault(format string, args ...any) {
	b.Faults = append(b.Faults, fmt.Sprintf(format, args...))
}

// chain checks each operator, and that each took what the one before it gave.
func (b *Books) chain(v *jobgraph.Vertex, sums []rpc.OperatorBooks) {
	for k, s := range sums {
		label := v.Operators[k].Label
		b.Operators = append(b.Operators, OperatorBook{Operator: label, OperatorBooks: s})
		if where := s.Passed + s.Filtered + s.Rejected + s.Late + s.Absorbed; s.In != where {
			b.fault("%s took %d rows and accounts for %d (passed %d, filtered %d, rejected %d, late %d, absorbed %d)",
				label, s.In, where, s.Passed, s.Filtered, s.Rejected, s.Late, s.Absorbed)
		}
		if s.Out != s.Passed+s.Released {
			b.fault("%s gave %d rows and accounts for %d (passed %d, released %d)", label, s.Out, s.Passed+s.Released, s.Passed, s.Released)
		}
		if from := v.Input(k); from >= 0 && sums[from].Out != s.In {
			b.fault("%s gave %d rows and %s, which follows it, took %d", v.Operators[from].Label, sums[from].Out, label, s.In)
		}
	}
}

func (b *Books) edge(e *edgeRun, out, in, consumers int64) {
	copies := int64(1)
	if e.e.Exchange == jobgraph.Broadcast {
		copies = consumers
	}
	b.Edges = append(b.Edges, EdgeBook{From: e.from.v.Name, Port: e.e.Port, To: e.to.v.Name, Out: out, Copies: copies, In: in})
	if in != out*copies {
		b.fault("%s wrote %d rows x %d copies to %s, which read %d", e.from.v.Name, out, copies, e.to.v.Name, in)
	}
}

// port checks that every row that an operator left out came out of its port.
func (b *Books) port(e *edgeRun, out int64, s rpc.OperatorBooks) {
	if out != s.Rejected {
		b.fault("%s left out %d rows and gave %d to its port %s", e.from.v.Operators[e.e.Operator].Label, s.Rejected, out, e.e.Port)
	}
}

// files checks the files of a source. Where splits were left over, as under a LIMIT, a file need not be
// covered to its end.
func (b *Books) files(v *vertexRun, metrics []*rpc.TaskMetrics) {
	sums, pruned := map[string]*connectors.Tally{}, map[string]int64{}
	var order []string
	for _, m := range metrics {
		for _, t := range m.Files {
			s := sums[t.File]
			if s == nil {
				s = &connectors.Tally{File: t.File}
				sums[t.File] = s
				order = append(order, t.File)
			}
			s.Rows += t.Rows
			s.Read += t.Read
			s.Pruned += t.Pruned
			s.Unread += t.Unread
			s.Bytes += t.Bytes
			s.UnreadBytes += t.UnreadBytes
			pruned[t.File] += t.PrunedBytes()
		}
	}
	all := v.splits.Read() == v.splits.Total()
	sizes := map[string]connectors.File{}
	for _, f := range v.source.Source.Inv.Files {
		sizes[f.Path] = f
		if all && sums[f.Path] == nil && f.Bytes > 0 {
			b.fault("%s: nothing was read of its %d bytes", f.Path, f.Bytes)
		}
	}
	for _, path := range order {
		s, f := sums[path], sizes[path]
		b.Files = append(b.Files, FileBook{Path: path, Rows: s.Rows, Read: s.Read, Pruned: s.Pruned, Unread: s.Unread, Bytes: s.Bytes, UnreadBytes: s.UnreadBytes, PrunedBytes: pruned[path]})
		if s.Rows != s.Read+s.Pruned+s.Unread {
			b.fault("%s: %d rows are not %d read + %d pruned + %d unread", path, s.Rows, s.Read, s.Pruned, s.Unread)
		}
		if p := pruned[path]; p < 0 || s.UnreadBytes < 0 || p+s.UnreadBytes > s.Bytes {
			b.fault("%s: of %d bytes %d were passed over and %d not read", path, s.Bytes, p, s.UnreadBytes)
		}
		if s.Bytes > f.Bytes || all && s.Bytes != f.Bytes {
			b.fault("%s: splits of %d bytes were read, the file has %d", path, s.Bytes, f.Bytes)
		}
		if all && f.Rows > 0 && s.Rows != f.Rows {
			b.fault("%s: %d rows were found, its footer says %d", path, s.Rows, f.Rows)
		}
	}
}
