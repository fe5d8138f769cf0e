package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Run is what a report is made of. Graph and Snapshot are nil where the run ended before it had them.
type Run struct {
	RunID, JobID string
	Started      time.Time
	Plan         Plan
	Engine       Engine
	Options      []jobgraph.Option
	Memory       Memory
	Graph        *jobgraph.Graph
	Snapshot     *jobmaster.Snapshot
	Failure      *failure.Failure // of a run that ended before there was a job
	Canceled     bool
	Timings      Timings
	Warnings     []string
	ReplayOf     *ReplayOf               // of a run that read the bad rows of another one
	Rejects      map[string]*RejectsFile // by source
}

// Build makes the report of a run.
func Build(run Run) Report {
	r := Report{
		SchemaVersion: SchemaVersion, RunID: run.RunID, JobID: run.JobID, StartedAt: run.Started.UTC().Format(time.RFC3339Nano),
		Plan: run.Plan, Engine: run.Engine, Options: run.Options, Memory: run.Memory, Timings: run.Timings,
		State: string(rpc.JobFailed), Failure: run.Failure, Warnings: run.Warnings, ReplayOf: run.ReplayOf,
		Slots:    Slots{Groups: map[string]int{}, Waves: []Wave{}},
		Vertices: []Vertex{}, Sources: []Source{}, Sinks: []Sink{}, Restarts: []Restart{},
	}
	if run.Canceled {
		r.State = string(rpc.JobCanceled)
	}
	if r.Plan.Params == nil {
		r.Plan.Params = map[string]string{}
	}
	if r.Options == nil {
		r.Options = []jobgraph.Option{}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	if s := run.Snapshot; s != nil {
		r.fromSnapshot(run, s)
	}
	r.Verdict = verdict(&r)
	return r
}

func (r *Report) fromSnapshot(run Run, s *jobmaster.Snapshot) {
	r.State = string(s.State)
	r.Failure = s.Failure
	r.Books = s.Books
	r.Slots = Slots{Needed: s.Slots.Needed, Available: s.Slots.Available, WaitedMs: s.Slots.WaitedMs, Groups: s.Slots.Groups, Waves: []Wave{}}
	if r.Slots.Groups == nil {
		r.Slots.Groups = map[string]int{}
	}
	for _, w := range s.Slots.Waves {
		wave := Wave(w)
		wave.ReadyMs = max(0, w.ReadyMs-run.Started.UnixMilli())
		r.Slots.Waves = append(r.Slots.Waves, wave)
	}
	for _, v := range s.Vertices {
		r.Vertices = append(r.Vertices, vertexOf(v))
		for _, t := range v.Subtasks {
			r.Slots.LongestWaitMs = max(r.Slots.LongestWaitMs, t.WaitedMs)
		}
	}
	for _, x := range s.Restarts {
		r.Restarts = append(r.Restarts, Restart{AtMs: x.AtMs - run.Started.UnixMilli(), Strategy: x.Strategy, Cause: x.Cause})
	}
	for _, c := range s.AbortCauses {
		r.Warnings = append(r.Warnings, "cleaning up after the run: "+c.Message)
	}
	for _, k := range s.Sinks {
		files := k.Files
		if files == nil {
			files = []string{}
		}
		r.Sinks = append(r.Sinks, Sink{
			Node: k.Node, Files: files, Rows: k.Rows, Bytes: k.Bytes, Digest: k.Digest, Shown: k.Shown,
			Deterministic: k.NotDeterministic == "", Because: k.NotDeterministic, Rejects: rejectsSink(run.Graph, k.Node),
		})
	}
	r.Barriers = s.Barriers
	if run.Graph != nil {
		r.Sources = sourcesOf(run.Graph, s)
		for i := range r.Sources {
			r.Sources[i].Rejects = run.Rejects[r.Sources[i].Node]
		}
	}
}

func vertexOf(v jobmaster.VertexSnapshot) Vertex {
	out := Vertex{
		ID: v.ID, Name: v.Name, Operators: v.Operators, SlotSharingGroup: v.SharingGroup,
		RecordsIn: v.Metrics.RecordsIn, RecordsOut: v.Metrics.RecordsOut, BytesIn: v.Metrics.BytesIn, BytesOut: v.Metrics.BytesOut,
		SpilledBytes: v.Metrics.SpilledBytes, StateBytes: v.Metrics.StateBytes, Subtasks: []Subtask{},
		Parallelism: Parallelism{Numbers: map[string]int64{}, Text: "the job ended before the inputs of this vertex were known"},
	}
	if d := v.Decision; d != nil {
		out.Parallelism = Parallelism{
			Requested: d.Requested, Origin: d.Origin, Decided: d.Decided, Max: d.Max, Reason: string(d.Reason), Numbers: d.Numbers, Text: d.Text,
		}
		if d.Numbers == nil {
			out.Parallelism.Numbers = map[string]int64{}
		}
	}
	out.Watermark = leastWatermark(v.Subtasks)
	out.TryCasts = tryCastsOf(v)
	for _, t := range v.Subtasks {
		out.Subtasks = append(out.Subtasks, Subtask{
			Watermark: watermarkText(t.Metrics.WatermarkMs),
			Index:     t.Index, Attempt: t.Attempt, State: string(t.State), TaskManager: t.TaskManager, Slot: t.Slot,
			Splits: t.Metrics.Splits, RecordsIn: t.Metrics.RecordsIn, RecordsOut: t.Metrics.RecordsOut,
			WaitedMs: t.WaitedMs, BusyMs: t.Metrics.BusyMs, IdleMs: t.Metrics.IdleMs, BackpressuredMs: t.Metrics.BackpressuredMs,
		})
	}
	return out
}

// sourcesOf puts what was bound and what was read together, file by file.
func sourcesOf(g *jobgraph.Graph, s *jobmaster.Snapshot) []Source {
	out := []Source{}
	for i, v := range g.Vertices {
		for _, op := range v.Operators {
			if op.Source == nil {
				continue
			}
			src := Source{Node: op.Node, Files: []SourceFile{}, Inferred: op.Source.Inv.Inferred}
			place := map[string]int{}
			for _, f := range op.Source.Inv.Files {
				place[f.Path] = len(src.Files)
				src.Files = append(src.Files, SourceFile{Path: f.Path, Bytes: f.Bytes, Modified: modified(f.ModifiedNs), ExtraColumns: f.Extra})
			}
			if i < len(s.Vertices) {
				addRead(src.Files, place, s.Vertices[i].Subtasks)
			}
			out = append(out, src)
		}
	}
	return out
}

// modified is a time since 1970 in nanoseconds as text, "" for one that is not known.
func modified(ns int64) string {
	if ns == 0 {
		return ""
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
}

// rejectsSink is how to read a sink that took the bad rows of a source, nil for other sinks.
func rejectsSink(g *jobgraph.Graph, node string) *RejectsSink {
	if g == nil {
		return nil
	}
	for _, v := range g.Vertices {
		for _, op := range v.Operators {
			if op.Sink != nil && op.Node == node && op.Sink.RejectsOf != "" {
				return &RejectsSink{Of: op.Sink.RejectsOf, Kind: op.Component, Options: op.Sink.Options}
			}
		}
	}
	return nil
}

// addRead adds what the subtasks' attempts that count read of each file.
func addRead(files []SourceFile, place map[string]int, subtasks []jobmaster.SubtaskSnapshot) {
	sums := map[int]*connectors.Tally{}
	for _, t := range subtasks {
		for _, f := range t.Metrics.Files {
			if at, ok := place[f.File]; ok {
				files[at].Rows += f.Read
				files[at].Rejected += f.Rejected
				files[at].Padded += f.Padded
				sum := sums[at]
				if sum == nil {
					sum = &connectors.Tally{}
					sums[at] = sum
				}
				for _, r := range f.Sample {
					sum.Keep(r)
				}
				if f.Pruning != nil && sum.Pruning == nil {
					sum.Pruning = &connectors.Pruning{}
				}
				sum.Pruning.Add(f.Pruning)
				sum.Pruned += f.Pruned
			}
		}
	}
	for at, sum := range sums {
		files[at].Pruning = PruningOf(sum)
		for _, r := range sum.Sample {
			files[at].Rejects = append(files[at].Rejects, Reject{
				Line: r.Line, ByteOffset: r.Offset, Column: r.Column, Field: r.Field, Value: r.Value, Code: r.Class, Message: r.Message,
			})
		}
		if r := sum.FirstReject; r != nil {
			files[at].FirstReject = Place(failure.Cause{Class: r.Class, Message: r.Message, File: r.File, Line: r.Line, Column: r.Column, Value: r.Value})
		}
	}
}

// verdict is one sentence that a person can paste into a ticket.
func verdict(r *Report) string {
	name := r.Plan.Name
	if name == "" {
		name = r.Plan.File
	}
	switch {
	case r.State == string(rpc.JobCanceled):
		return fmt.Sprintf("%s was cancelled after %s; %s.", name, span(r.Timings.TotalMs), unpublished(r.Sinks))
	case r.Failure != nil && r.Failure.RootCause != nil:
		return fmt.Sprintf("%s failed: %s.", name, strings.TrimRight(Place(*r.Failure.RootCause), "."))
	case r.State != string(rpc.JobFinished):
		return fmt.Sprintf("%s ended in state %s.", name, r.State)
	}
	var in, out int64
	var bad rejects
	for _, s := range r.Sources {
		for _, f := range s.Files {
			in += f.Rows
			bad.add(f)
		}
	}
	if r.ReplayOf != nil {
		name += ", replaying the bad rows of run " + r.ReplayOf.RunID + ","
	}
	sinks := make([]string, 0, len(r.Sinks))
	for _, k := range r.Sinks {
		out += k.Rows
		sinks = append(sinks, k.Node)
	}
	return fmt.Sprintf("%s read %s and wrote %s to %s in %s%s.", name, Rows(in), Rows(out), strings.Join(sinks, ", "), span(r.Timings.TotalMs), bad.text())
}

// unpublished says of a run that published nothing what could be seen of it all the same.
func unpublished(all []Sink) string {
	n := int64(0)
	var by []string
	for _, k := range all {
		if k.Shown > 0 {
			n += k.Shown
			by = append(by, k.Node)
		}
	}
	switch len(by) {
	case 0:
		return "nothing was published"
	case 1:
		return fmt.Sprintf("%s had been shown by sink %s, which cannot be taken back; nothing else was published", Rows(n), by[0])
	}
	return fmt.Sprintf("%s had been shown by the sinks %s, which cannot be taken back; nothing else was published", Rows(n), strings.Join(by, ", "))
}

// rejects are the rows that sources left out or made to fit.
type rejects struct {
	rows, padded int64
	first        string
}

func (b *rejects) add(f SourceFile) {
	b.rows += f.Rejected
	b.padded += f.Padded
	if b.first == "" {
		b.first = f.FirstReject
	}
}

// text ends the verdict of a run that did not take everything as it was.
func (b *rejects) text() string {
	s := ""
	if b.rows > 0 {
		s += fmt.Sprintf("; %s left out as bad, the first: %s", Rows(b.rows), strings.TrimRight(b.first, "."))
	}
	if b.padded > 0 {
		s += fmt.Sprintf("; %s padded or cut to fit", Rows(b.padded))
	}
	return s
}

// Place is a cause as one line: the message with file, line, column and value where they are known and
// not in it.
func Place(c failure.Cause) string {
	s := OneLine(c.Message)
	if s == "" {
		s = c.Class
	}
	where := c.File
	if where != "" && c.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, c.Line)
		if c.Column > 0 {
			where = fmt.Sprintf("%s:%d", where, c.Column)
		}
	}
	if where != "" && !strings.Contains(s, where) {
		s += " (" + where + ")"
	}
	if v := OneLine(c.Value); v != "" && !strings.Contains(s, v) {
		s += ", value '" + v + "'"
	}
	return s
}

// mostShown is how many characters of a message a line for people shows.
const mostShown = 400

// OneLine is a text as one line: line breaks and control characters are written as escapes, since data
// stands in messages and a terminal obeys it, and what is too long is cut in the middle.
func OneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	runes := []rune(b.String())
	if len(runes) <= mostShown {
		return b.String()
	}
	return string(runes[:mostShown/2]) + " … " + string(runes[len(runes)-mostShown/2:])
}

// Rows is a number of rows in words: "1 row", "1,234 rows".
func Rows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%s rows", Thousands(n))
}

// Thousands writes a number with commas: 1,234,567.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

func span(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
