package scheduler

import (
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// sourceOf is the source operator of a vertex, nil where it has none.
func sourceOf(v *jobgraph.Vertex) *jobgraph.Operator {
	for i := range v.Operators {
		if v.Operators[i].Kind == jobgraph.SourceOp && v.Operators[i].Source != nil {
			return &v.Operators[i]
		}
	}
	return nil
}

// Source decides a source vertex: min(bound, number of splits, sum over files of (1 if the file cannot be
// split, else its bytes over the average volume, rounded up)), at least 1.
func (d *Decider) Source(v *jobgraph.Vertex, splits int) Decision {
	if x, ok := d.known(v, nil); ok {
		return x
	}
	size := d.sizeOf(v)
	x := d.decision(v)
	x.Numbers = map[string]int64{
		"splits": int64(splits), "files": int64(size.files), "bytes": size.bytes,
		"avgBytesPerTask": d.options.AvgBytes, "bound": int64(x.Max), "wantedBySize": size.wanted,
	}
	bound, boundReason, boundText := x.Max, ReasonMaxParallelism, d.boundText(x)
	if s := d.options.DefaultSource; s > 0 && s <= x.Max {
		bound, boundReason, boundText = s, ReasonDefaultSource, fmt.Sprintf("%s = %d", OptDefaultSource, s)
		x.Numbers["bound"] = int64(s)
	}
	input := fmt.Sprintf("%s in %s of %s", counted(int64(splits), "split", "splits"),
		counted(int64(size.files), "file", "files"), counted(size.bytes, "byte", "bytes"))
	if size.made {
		input = fmt.Sprintf("%s of rows that are made up, about %s", counted(int64(splits), "split", "splits"), counted(size.bytes, "byte", "bytes"))
	}
	n := max(1, min(bound, splits, int(min(size.wanted, int64(bound)))))
	switch {
	case size.files == 0 && sourceOf(v) != nil:
		return decided(x, n, ReasonSplits, fmt.Sprintf("%s: there is no file to read", subtasks(n)))
	case n == bound:
		return decided(x, n, boundReason, fmt.Sprintf("%s, bounded by %s: %s", subtasks(n), boundText, input))
	case size.wanted <= int64(n) && size.wanted == int64(size.unsplittable):
		return decided(x, n, ReasonUnsplittable, fmt.Sprintf("%s, because %s: %s", subtasks(n), size.why(), input))
	case size.wanted <= int64(n) && !size.coarse:
		return decided(x, n, ReasonDataVolume, fmt.Sprintf("%s: %s over %d bytes per task, counted file by file",
			subtasks(n), input, d.options.AvgBytes))
	}
	return decided(x, n, ReasonSplits, fmt.Sprintf("%s, because the input cannot be cut finer: %s", subtasks(n), input))
}

// A sourceSize is what the files of a source ask for.
type sourceSize struct {
	files, unsplittable int
	bytes, wanted       int64
	made                bool   // by the source itself, no file holds it
	coarse              bool   // some file has fewer units than its bytes ask for
	reason              string // why the first unsplittable file is so
}

func (s sourceSize) why() string {
	text := "a file that cannot be split is read by one subtask"
	if s.reason != "" {
		text += " (" + s.reason + ")"
	}
	return text
}

func (d *Decider) sizeOf(v *jobgraph.Vertex) sourceSize {
	var s sourceSize
	op := sourceOf(v)
	if op == nil {
		return s
	}
	for i, f := range op.Source.Inv.Files {
		if slices.Contains(op.Source.Skip, i+1) {
			continue // nothing of it is read
		}
		s.files++
		s.bytes += f.Bytes
		s.made = s.made || f.Generated
		n := tasksFor(f, d.options.AvgBytes)
		s.wanted += n
		s.coarse = s.coarse || f.Splittable && n*d.options.AvgBytes < f.Bytes
		if !f.Splittable {
			s.unsplittable++
			if s.reason == "" {
				s.reason = f.Why
			}
		}
	}
	return s
}

// tasksFor is how many subtasks a file is worth: pieces of at most size bytes, no more than the file's
// units.
func tasksFor(f connectors.File, size int64) int64 {
	if !f.Splittable {
		return 1
	}
	n := max(1, (f.Bytes+size-1)/size)
	if f.Units > 0 {
		n = min(n, int64(f.Units))
	}
	return n
}

// estimatedSplits is how many splits a source will give, from its files alone.
func (d *Decider) estimatedSplits(v *jobgraph.Vertex) int {
	n := int64(0)
	for i, f := range sourceOf(v).Source.Inv.Files {
		if slices.Contains(sourceOf(v).Source.Skip, i+1) {
			continue
		}
		n += tasksFor(f, d.options.SplitBytes)
	}
	return int(min(n, 1<<30))
}
