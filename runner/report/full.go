package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// WriteFull writes all of a report for people: what ran with which options, the ledger of parallelism
// with its numbers, slots and what was waited for, subtasks, sources, sinks, books, restarts, and of a
// failed run the chain of causes. The last line is the verdict.
func WriteFull(w io.Writer, r Report) error {
	var b strings.Builder
	fullHead(&b, r)
	fullLedger(&b, r)
	fullSlots(&b, r.Slots)
	fullBarriers(&b, r.Barriers)
	fullTryCasts(&b, r.Vertices)
	fullSources(&b, r.Sources)
	fullSinks(&b, r)
	fullBooks(&b, r.Books)
	if len(r.Restarts) > 0 {
		fmt.Fprintf(&b, "\nRestarts\n")
		for _, x := range r.Restarts {
			fmt.Fprintf(&b, "  %d ms after the start, by %s: %s\n", x.AtMs, x.Strategy, x.Cause)
		}
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintf(&b, "\nWarnings\n")
		for _, x := range r.Warnings {
			fmt.Fprintf(&b, "  %s\n", x)
		}
	}
	if r.Failure != nil {
		fullFailure(&b, r.Failure)
	}
	fullDefaults(&b, r.Options)
	fmt.Fprintf(&b, "\n%s\n", r.Verdict)
	_, err := io.WriteString(w, b.String())
	return err
}

func fullHead(b *strings.Builder, r Report) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "plan\t%s (%s), %s, %s\n", r.Plan.Name, r.Plan.File, r.Plan.Mode, r.Plan.Digest)
	for _, name := range slices.Sorted(maps.Keys(r.Plan.Params)) {
		fmt.Fprintf(t, "param\t%s = %s\n", name, r.Plan.Params[name])
	}
	fmt.Fprintf(t, "run\t%s, %s, begun %s\n", r.RunID, r.State, r.StartedAt)
	fmt.Fprintf(t, "job\t%s\n", r.JobID)
	if x := r.ReplayOf; x != nil {
		fmt.Fprintf(t, "replay\tof the bad rows of run %s (%s)\n", x.RunID, x.Report)
	}
	fmt.Fprintf(t, "engine\t%s %s, %s; report of version %d\n", r.Engine.Name, r.Engine.Version, r.Engine.Target, r.SchemaVersion)
	for _, o := range r.Options {
		if o.Source != "default" {
			fmt.Fprintf(t, "option\t%s = %s (%s, %s)\n", o.Name, o.Value, o.Source, o.Scope)
		}
	}
	x := r.Timings
	fmt.Fprintf(t, "time\t%d ms: compile %d, schedule %d, run %d, commit %d; %d ms of processor time\n", x.TotalMs, x.CompileMs, x.ScheduleMs, x.RunMs, x.CommitMs, x.CPUMs)
	fmt.Fprintf(t, "memory\t%s at most, %s managed\n", Bytes(r.Memory.TotalProcessBytes), Bytes(r.Memory.ManagedBytes))
	t.Flush()
}

// fullLedger says of every vertex what was asked, who asked it, what was decided and why.
func fullLedger(b *strings.Builder, r Report) {
	if len(r.Vertices) == 0 {
		return
	}
	fmt.Fprintf(b, "\nVertices\n")
	for i, v := range r.Vertices {
		p := v.Parallelism
		fmt.Fprintf(b, "\n%d. %s\n", i+1, v.Name)
		if p.Decided == 0 {
			fmt.Fprintf(b, "   parallelism not decided: %s\n", p.Text)
		} else {
			fmt.Fprintf(b, "   parallelism %d: requested %d (%s), at most %d, reason %s\n   %s\n", p.Decided, p.Requested, p.Origin, p.Max, p.Reason, p.Text)
			numbers := make([]string, 0, len(p.Numbers))
			for _, name := range slices.Sorted(maps.Keys(p.Numbers)) {
				numbers = append(numbers, fmt.Sprintf("%s %d", name, p.Numbers[name]))
			}
			if len(numbers) > 0 {
				fmt.Fprintf(b, "   numbers: %s\n", strings.Join(numbers, ", "))
			}
		}
		fmt.Fprintf(b, "   %s: %s in, %s out; %s in, %s out; %s spilled, %s of state; slot sharing group %s\n", stateOf(v),
			Rows(v.RecordsIn), Rows(v.RecordsOut), Bytes(v.BytesIn), Bytes(v.BytesOut), Bytes(v.SpilledBytes), Bytes(v.StateBytes), v.SlotSharingGroup)
		if v.Watermark != "" {
			fmt.Fprintf(b, "   watermark: %s\n", v.Watermark)
		}
		fmt.Fprintf(b, "   id %s; operators %s\n", v.ID, strings.Join(v.Operators, ", "))
		fullSubtasks(b, v.Subtasks)
	}
}

func fullSubtasks(b *strings.Builder, all []Subtask) {
	if len(all) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	head := "   SUBTASK\tATTEMPT\tSTATE\tSLOT\tSPLITS\tROWS IN\tROWS OUT\tWAITED\tBUSY\tIDLE\tBACK-PRESSURED"
	if slices.ContainsFunc(all, func(s Subtask) bool { return s.Watermark != "" }) {
		head += "\tWATERMARK"
	}
	fmt.Fprintln(t, head)
	for _, s := range all {
		slot := "-"
		if s.TaskManager != "" {
			slot = fmt.Sprintf("%s/%d", s.TaskManager, s.Slot)
		}
		fmt.Fprintf(t, "   %d\t%d\t%s\t%s\t%d\t%s\t%s\t%d ms\t%d ms\t%d ms\t%d ms", s.Index, s.Attempt, s.State, slot, s.Splits,
			Thousands(s.RecordsIn), Thousands(s.RecordsOut), s.WaitedMs, s.BusyMs, s.IdleMs, s.BackpressuredMs)
		if s.Watermark != "" {
			fmt.Fprint(t, "\t"+s.Watermark)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// fullSlots says what the job needed and what waited for slots, for how many and since when.
func fullSlots(b *strings.Builder, s Slots) {
	if s.Needed == 0 {
		return
	}
	groups := make([]string, 0, len(s.Groups))
	for _, g := range slices.Sorted(maps.Keys(s.Groups)) {
		groups = append(groups, fmt.Sprintf("%s %d", g, s.Groups[g]))
	}
	fmt.Fprintf(b, "\nSlots\n  %d needed (%s), %d held at most; %d ms without any, and the subtask that waited longest for one waited %d ms\n",
		s.Needed, strings.Join(groups, ", "), s.Available, s.WaitedMs, s.LongestWaitMs)
	for _, w := range s.Waves {
		fmt.Fprintf(b, "  %s\n", w.sentence())
	}
}

// sentence says how a wave got its slots.
func (w Wave) sentence() string {
	names := strings.Join(w.Vertices, " and ")
	wanted := fmt.Sprintf("%d slots", w.Needed)
	if w.Needed == 1 {
		wanted = "1 slot"
	}
	switch {
	case w.Available == 0:
		return fmt.Sprintf("%s: waiting for slots: for %s, since %d ms after the start, and got none", names, wanted, w.ReadyMs)
	case w.Rounds > 1:
		return fmt.Sprintf("%s: waiting for slots: for %s since %d ms after the start, held %d, so its subtasks ran in %d rounds (the first began after %d ms)",
			names, wanted, w.ReadyMs, w.Available, w.Rounds, w.WaitedMs)
	case w.WaitedMs > 0:
		return fmt.Sprintf("%s: waited for slots: for %s since %d ms after the start, for %d ms", names, wanted, w.ReadyMs, w.WaitedMs)
	}
	return fmt.Sprintf("%s: ready %d ms after the start, had its %s at once", names, w.ReadyMs, wanted)
}

func fullSources(b *strings.Builder, all []Source) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\nSources\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, s := range all {
		for _, f := range s.Files {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%d rejected%s\n", s.Node, f.Path, Bytes(f.Bytes), Rows(f.Rows), f.Rejected, f.more())
		}
		if len(s.Files) == 0 {
			fmt.Fprintf(t, "  %s\tno files\n", s.Node)
		}
	}
	t.Flush()
	var inferred strings.Builder
	writeInferred(&inferred, all)
	for line := range strings.Lines(inferred.String()) {
		b.WriteString("  " + line)
	}
	for _, s := range all {
		writePruning(b, s.Node, s.Files, "  ", true)
	}
	fullRejects(b, all)
}

// more says of a file what most files have not.
func (f SourceFile) more() string {
	s := ""
	if f.Padded > 0 {
		s += fmt.Sprintf(", %d made to fit", f.Padded)
	}
	if f.ExtraColumns > 0 {
		s += fmt.Sprintf(", %d more columns passed over", f.ExtraColumns)
	}
	if f.Modified != "" {
		s += ", changed " + f.Modified
	}
	if f.FirstReject != "" {
		s += ", the first bad row: " + OneLine(f.FirstReject)
	}
	return s
}

// fullRejects lists the bad rows that a report has in full.
func fullRejects(b *strings.Builder, all []Source) {
	for _, s := range all {
		if x := s.Rejects; x != nil {
			fmt.Fprintf(b, "  source %s: %s left out, all of them in %s (%s)\n", s.Node, Rows(x.Rows), x.File, Bytes(x.Bytes))
		}
		for _, f := range s.Files {
			if len(f.Rejects) == 0 {
				continue
			}
			fmt.Fprintf(b, "  %s left out of %s", Rows(f.Rejected), f.Path)
			if int64(len(f.Rejects)) < f.Rejected {
				fmt.Fprintf(b, ", the first %d of them", len(f.Rejects))
			}
			b.WriteString("\n")
			for _, r := range f.Rejects {
				fmt.Fprintf(b, "    line %d: %s: %s [byte %d, column %d %s, value '%s']\n", r.Line, r.Code, OneLine(r.Message), r.ByteOffset, r.Column, r.Field, OneLine(r.Value))
			}
		}
	}
}

func fullSinks(b *strings.Builder, r Report) {
	if len(r.Sinks) == 0 {
		return
	}
	fmt.Fprintf(b, "\nSinks\n")
	for _, k := range r.Sinks {
		if r.State != string(rpc.JobFinished) {
			seen := ""
			if k.Shown > 0 {
				seen = fmt.Sprintf(", but %s had been shown as they came", Rows(k.Shown))
			}
			fmt.Fprintf(b, "  %s: nothing was published%s\n", k.Node, seen)
			continue
		}
		fmt.Fprintf(b, "  %s: %s, %s, digest %s", k.Node, Rows(k.Rows), Bytes(k.Bytes), k.Digest)
		if !k.Deterministic {
			fmt.Fprintf(b, "; another run may give other rows: %s", k.Because)
		}
		if k.Shown > 0 {
			fmt.Fprintf(b, "; %s shown as they came", Rows(k.Shown))
		}
		if x := k.Rejects; x != nil {
			fmt.Fprintf(b, "; the bad rows of source %s as %s", x.Of, x.Kind)
		}
		b.WriteByte('\n')
		for _, f := range k.Files {
			fmt.Fprintf(b, "    %s\n", f)
		}
	}
}
