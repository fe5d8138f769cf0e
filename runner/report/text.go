package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// WriteText writes a report for a terminal: a table of what ran, why each vertex got its parallelism,
// what was written, and of a failed run the chain of causes with the root cause in the last line. path
// is where the report was saved, "" where it was not. Like all printing for people it goes on when the
// terminal is gone.
func WriteText(w io.Writer, r Report, path string) {
	var b strings.Builder
	writeVertices(&b, r)
	writeTryCasts(&b, r.Vertices, "")
	writeInferred(&b, r.Sources)
	for _, s := range r.Sources {
		WritePruning(&b, s.Node, s.Files, "")
	}
	writeSinks(&b, r)
	for _, x := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", x)
	}
	if r.Slots.Needed > r.Slots.Available && r.Slots.Available > 0 && r.Slots.Waves != nil {
		fmt.Fprintf(&b, "slots: %d needed, %d available: subtasks ran in waves, and one waited %d ms for its slot\n", r.Slots.Needed, r.Slots.Available, r.Slots.LongestWaitMs)
	}
	if path != "" {
		fmt.Fprintf(&b, "report: %s\n", path)
	}
	if r.Failure == nil {
		fmt.Fprintf(&b, "%s\n", r.Verdict)
	} else {
		writeFailure(&b, r.Failure)
	}
	_, _ = io.WriteString(w, b.String())
}

func writeVertices(b *strings.Builder, r Report) {
	if len(r.Vertices) == 0 {
		return
	}
	if r.streaming() {
		writeStream(b, r)
	} else {
		writeBatch(b, r)
	}
	for i, v := range r.Vertices {
		fmt.Fprintf(b, "  %d: %s\n", i+1, v.Parallelism.Text)
	}
}

// writeInferred says which columns of sources were found in a sample, and what of it is worth knowing.
func writeInferred(b *strings.Builder, all []Source) {
	for _, s := range all {
		if s.Inferred == nil {
			continue
		}
		fmt.Fprintf(b, "%s: %s\n", s.Node, s.Inferred)
		for _, n := range s.Inferred.Notes() {
			fmt.Fprintf(b, "  %s\n", n)
		}
	}
}

func writeBatch(b *strings.Builder, r Report) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VERTEX\tPARALLELISM\tSTATE\tROWS IN\tROWS OUT\tBYTES OUT\tBUSY")
	for _, v := range r.Vertices {
		p := v.Parallelism
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d ms\n", v.Name, decided(p), stateOf(v), Thousands(v.RecordsIn), Thousands(v.RecordsOut), Bytes(v.BytesOut), busy(v))
	}
	t.Flush()
}

func decided(p Parallelism) string {
	if p.Decided == 0 {
		return "-"
	}
	if p.Decided == p.Requested {
		return fmt.Sprintf("%d", p.Decided)
	}
	return fmt.Sprintf("%d of %d", p.Decided, p.Requested)
}

func busy(v Vertex) int64 {
	var ms int64
	for _, s := range v.Subtasks {
		ms += s.BusyMs
	}
	return ms
}

// stateOf is the state of a vertex: that of all its subtasks, or the worst of them.
func stateOf(v Vertex) string {
	rank := map[string]int{
		string(rpc.Finished): 1, string(rpc.Created): 2, string(rpc.Scheduled): 3, string(rpc.Deploying): 4, string(rpc.Initializing): 5,
		string(rpc.Running): 6, string(rpc.Canceling): 7, string(rpc.Canceled): 8, string(rpc.Failed): 9,
	}
	worst := string(rpc.Created)
	if len(v.Subtasks) > 0 {
		worst = ""
	}
	for _, s := range v.Subtasks {
		if rank[s.State] > rank[worst] {
			worst = s.State
		}
	}
	return worst
}

func writeSinks(b *strings.Builder, r Report) {
	for _, k := range r.Sinks {
		if r.State != string(rpc.JobFinished) {
			continue
		}
		where := ""
		switch n := len(k.Files); {
		case n == 1:
			where = " in " + k.Files[0]
		case n > 1:
			where = fmt.Sprintf(" in %d files, %s …", n, k.Files[0])
		}
		note := ""
		if !k.Deterministic {
			note = " (" + k.Because + ")"
		}
		fmt.Fprintf(b, "%s: %s%s%s\n", k.Node, Rows(k.Rows), where, note)
	}
}

// writeFailure prints the chain, outermost first, and the root cause in the last line.
func writeFailure(b *strings.Builder, f *failure.Failure) {
	fmt.Fprintf(b, "FAILED: %s\n", OneLine(f.Headline))
	for i, c := range f.Chain {
		if i == 0 || i == f.RootIndex {
			continue
		}
		fmt.Fprintf(b, "  caused by %s: %s\n", c.Class, Place(c))
	}
	if f.Restart.Text != "" {
		fmt.Fprintf(b, "  restart: %s\n", f.Restart.Text)
	}
	if n := len(f.Concurrent); n > 0 {
		fmt.Fprintf(b, "  concurrent failures: %d\n", n)
	}
	if f.RootCause != nil {
		fmt.Fprintf(b, "root cause: %s: %s\n", f.RootCause.Class, Place(*f.RootCause))
	}
}

// Bytes writes a size: "1.5 MB" of 1,048,576 bytes each.
func Bytes(n int64) string {
	const k = 1024
	if n < k {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/k, "kB"
	for _, u := range []string{"MB", "GB", "TB"} {
		if v < k {
			break
		}
		v, unit = v/k, u
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}
