package parquet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// maxRows is the most rows of a batch.
const maxRows = 16 << 10

// maxBatchValues is about how many values of one leaf of a nested column a batch has at most.
const maxBatchValues = 1 << 20

// A reader reads row groups one after the other, some rows of all used columns at a time.
type reader struct {
	src    *source
	alloc  memory.Allocator
	queue  []splitState
	filter *filter
	pruner *pruner       // nil: no row group is passed over
	cols   []*fileColumn // used ones, those of the filter first
	first  int           // how many belong to the filter
	words  map[int]*words

	doc     *document
	docFile int // its place in the list, 0 = none

	split *splitState // being read
	group int         // its row group being read
	start int64       // row of the split at which the group begins
	at    int64       // rows of the group that were given out
	gaps  []rowRange  // of the group: rows to come of which none passes

	out    []connectors.Reject // left out and not yet asked for
	raws   *rawRows            // of those; nil: none was
	stands *rawRows            // of rows that are read alone
	list   text.Lister         // of these

	failed  error
	tallies connectors.Tallies
	adds    []error // splits that could not be understood
}

func newReader(s *source, t *operators.Task) (*reader, error) {
	r := &reader{src: s, alloc: t.Alloc, words: map[int]*words{}, tallies: connectors.Tallies{}}
	first, rest := s.uses()
	for _, c := range append(first, rest...) {
		r.cols = append(r.cols, &fileColumn{place: c, boundCol: s.Columns[c], paths: s.paths[c], skips: s.Skip, reader: r})
	}
	r.first = len(first)
	if s.where == nil {
		return r, nil
	}
	if r.pruner = newPruner(s.where, s.Schema(), first); r.pruner != nil {
		r.pruner.strict = s.Skip
	}
	var err error
	r.filter, err = newFilter(s, first)
	return r, err
}

// Add takes splits to read after those it has.
func (r *reader) Add(splits []connectors.Split) {
	for _, s := range splits {
		var st splitState
		if err := json.Unmarshal(s.State, &st); err != nil {
			r.adds = append(r.adds, fmt.Errorf("reading the state of split %s: %w", s.ID, err))
			continue
		}
		if st.Version != stateVersion || st.File < 1 || st.File > len(r.src.Files) {
			r.adds = append(r.adds, fmt.Errorf("split %s (version %d, file %d) is none of this source", s.ID, st.Version, st.File))
			continue
		}
		f := &r.src.Files[st.File-1]
		t := r.tally(st.File)
		t.Bytes += st.bytes(f)
		t.Rows += st.rows(f)
		r.queue = append(r.queue, st)
	}
}

func (r *reader) tally(file int) *connectors.Tally {
	return r.tallies.Of(int64(file), r.src.Files[file-1].Path)
}

// Next gives the next batch with rows that pass the filter. After an error it gives the same again.
func (r *reader) Next(ctx context.Context) (operators.Batch, connectors.Status, error) {
	var none operators.Batch
	for {
		if r.failed == nil {
			r.failed = errors.Join(r.adds...)
		}
		if r.failed != nil {
			return none, connectors.End, r.failed
		}
		if err := ctx.Err(); err != nil {
			return none, connectors.End, fmt.Errorf("reading parquet: %w", err)
		}
		more, err := r.advance()
		if err != nil {
			r.failed = r.inOrder(err)
			continue
		}
		if !more {
			return none, connectors.NeedSplit, nil
		}
		b, err := r.batch()
		if err != nil {
			r.failed = r.inOrder(err)
			continue
		}
		if b.Rec != nil || len(r.out) >= text.MostKept {
			return b, connectors.More, nil
		}
	}
}

// inOrder gives an error its place in file order.
func (r *reader) inOrder(err error) error {
	var e *connectors.DataError
	if r.split != nil && errors.As(err, &e) && e.Order == [2]int64{} {
		e.Order = [2]int64{int64(r.split.File), r.src.Files[r.split.File-1].Starts[r.split.From]}
	}
	return err
}

// advance sees to it that the group has rows to give out, false when all splits are read.
func (r *reader) advance() (bool, error) {
	for {
		if r.split == nil {
			if len(r.queue) == 0 {
				return false, nil
			}
			s := r.queue[0]
			r.queue = r.queue[1:]
			r.split, r.group, r.start, r.at = &s, s.From, 0, 0
			if err := r.openFile(s.File); err != nil {
				return false, err
			}
		}
		rows := r.src.Files[r.split.File-1].Rows
		switch behind := r.split.Skip - r.start; {
		case r.group >= r.split.To:
			if err := r.unchanged(r.split.File); err != nil {
				return false, err
			}
			r.split = nil
		case r.at >= rows[r.group], behind >= rows[r.group]:
			r.start += rows[r.group]
			r.group, r.at, r.gaps = r.group+1, 0, nil
			for _, c := range r.cols {
				c.leave()
			}
		case r.at < behind:
			r.pass(r.cols, behind-r.at)
			r.at = behind
		case r.at > max(behind, 0):
			if n := r.inGap(); n > 0 {
				r.prune(n)
				continue
			}
			return true, nil
		default: // at the group's first row
			if err := r.enter(rows[r.group]); err != nil {
				return false, err
			}
			for _, c := range r.cols {
				c.gaps = r.gaps
			}
			n := r.inGap()
			if n == 0 {
				return true, nil
			}
			r.prune(n)
		}
	}
}

// prune passes over n rows of which none passes the filter.
func (r *reader) prune(n int64) {
	r.pass(r.cols, n)
	if r.src.Files[r.split.File-1].Only == nil {
		r.tally(r.split.File).Pruned += n
	}
	r.at += n
}

// pass notes that columns are not wanted at the next n rows of the group.
func (r *reader) pass(cols []*fileColumn, n int64) {
	for _, c := range cols {
		c.owed += n
	}
}

// unchanged is an error where a file is not the one that was bound.
func (r *reader) unchanged(file int) error {
	f := r.src.Files[file-1]
	return files.Unchanged(r.src.fs, f.Abs, f.Path, f.Bytes, f.Time)
}

// openFile opens the file of a split, unless it is open, and finds the columns in it.
func (r *reader) openFile(file int) error {
	if r.docFile == file {
		return nil
	}
	if err := r.closeFile(); err != nil {
		return err
	}
	f := r.src.Files[file-1]
	d, err := openDocument(r.src.fs, f.Abs, f.Path)
	if err != nil {
		return err
	}
	r.doc, r.docFile = d, file
	if err := r.unchanged(file); err != nil {
		return err
	}
	now, err := d.extent()
	if err != nil {
		return err
	}
	if now.Bytes != f.Bytes || fmt.Sprint(now.Rows) != fmt.Sprint(f.Rows) {
		return mismatch(f.Path, "", fmt.Sprintf("%s was written anew while the plan ran: it had %d bytes and has %d", f.Path, f.Bytes, now.Bytes))
	}
	err = d.guard("the footer's schema cannot be decoded", func() error {
		has := d.leaves()
		for _, c := range r.cols {
			if err := c.attach(d, has, r.alloc, r.dictionary(c.place)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.usePruner()
}

// dictionary is the one of a column, for all files.
func (r *reader) dictionary(place int) *words {
	if r.words[place] == nil {
		r.words[place] = newWords()
	}
	return r.words[place]
}

func (r *reader) closeFile() error {
	r.settle()
	d := r.doc
	r.doc, r.docFile = nil, 0
	for _, c := range r.cols {
		c.leave()
	}
	if d == nil {
		return nil
	}
	return d.Close()
}

// mostRows is how many rows the next batch may have; fewer where rows have many values in nested columns.
func (r *reader) mostRows() int64 {
	most := int64(maxRows)
	for _, c := range r.cols {
		if c.nested == nil {
			continue
		}
		for _, l := range c.nested.leaves {
			if g := r.doc.meta.RowGroup(r.group); g.NumRows() > 0 {
				if m, err := g.ColumnChunk(l.index); err == nil {
					most = min(most, max(maxBatchValues/max(m.NumValues()/g.NumRows(), 1), 1))
				}
			}
		}
	}
	return min(most, r.batchRows())
}

// batchRows is the most rows of a batch that the split asks for.
func (r *reader) batchRows() int64 {
	if b := r.split.Batch; b > 0 && b < maxRows {
		return b
	}
	return maxRows
}

// Wake is nil: files do not wait.
func (r *reader) Wake() <-chan struct{} { return nil }

// Snapshot is the splits still to be read, the first from where it stands.
func (r *reader) Snapshot() ([]connectors.Split, error) {
	var rest []splitState
	if r.split != nil {
		s := *r.split
		s.Skip = max(s.Skip, r.row())
		if f := &r.src.Files[s.File-1]; f.Only != nil {
			from := s.rowsBefore(f)
			s.Given = 0
			if err := r.among(f, from, from+s.Skip, func(int, text.Listed) { s.Given++ }); err != nil {
				return nil, err
			}
		}
		rest = append(rest, s)
	}
	var list []connectors.Split
	for _, s := range append(rest, r.queue...) {
		sp, err := s.split(&r.src.Files[s.File-1])
		if err != nil {
			return nil, err
		}
		list = append(list, sp)
	}
	return list, nil
}

// row is the split's row that comes next.
func (r *reader) row() int64 { return r.start + r.at }

// Tally is what was read of each file; rows not reached are unread.
func (r *reader) Tally() []connectors.Tally {
	r.settle()
	list := r.tallies.All()
	for i := range list {
		list[i].Unread = list[i].Rows - list[i].Read - list[i].Pruned
		list[i].Pruning = list[i].Pruning.Clone()
		if !r.replays() {
			list[i].UnreadBytes = list[i].Bytes - list[i].ReadBytes - list[i].PrunedBytes()
		}
	}
	return list
}

// TryCasts is for how many rows a TRY_CAST of the filter gave NULL.
func (r *reader) TryCasts() []expr.TryCast {
	if r.filter == nil {
		return nil
	}
	return r.filter.tries.Counts()
}

// Close frees what is held.
func (r *reader) Close() error {
	for _, w := range r.words {
		w.release()
	}
	for _, w := range []*rawRows{r.raws, r.stands} {
		if w != nil {
			w.leave()
		}
	}
	return errors.Join(r.closeFile(), r.list.Close())
}

// record makes a record of columns in the order that is wanted; it takes the arrays over.
func (r *reader) record(arrs map[int]arrow.Array, dicts map[int]uint64, n int) (arrow.Record, []uint64) {
	fields := make([]expr.Field, len(r.src.columns))
	cols := make([]arrow.Array, len(r.src.columns))
	var ids []uint64
	for i, c := range r.src.columns {
		fields[i] = expr.Field{Name: r.src.Columns[c].Name, Type: r.src.Columns[c].Type}
		cols[i] = arrs[c]
		if dicts[c] != 0 {
			if ids == nil {
				ids = make([]uint64, len(cols))
			}
			ids[i] = dicts[c]
		}
	}
	return column.NewRecord(fields, cols, int64(n)), ids
}
