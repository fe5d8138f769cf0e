package taskmanager

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/badrows"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A journal keeps what a source leaves out on disk, for a replay. That it cannot is no fault of the run: the rows
// are counted and come out of the port all the same.
type journal struct {
	dir   string
	file  *os.File
	spool *badrows.Spool
	part  rpc.RejectsPart
	ended bool
}

// journals reports whether the task keeps what its source leaves out.
func (t *task) journals(s connectors.Source) bool {
	_, replays := s.(connectors.Replaying)
	return replays && t.tm.cfg.RejectsDir != "" && t.members[0].desc.Source.Rejects != nil
}

// add keeps records; after a failure it keeps none.
func (j *journal) add(bad []connectors.Reject) {
	if j.part.Failed != "" {
		return
	}
	if err := j.keep(bad); err != nil {
		j.part.Failed = err.Error()
	}
}

func (j *journal) keep(bad []connectors.Reject) (err error) {
	if j.file == nil {
		if j.file, err = os.CreateTemp(j.dir, "part-*"); err != nil {
			return fmt.Errorf("keeping bad rows on disk: %w", err)
		}
		j.spool = badrows.NewSpool(j.file, badrows.DefaultLimit)
	}
	for _, r := range bad {
		if err := j.spool.Add(connectors.Record{File: r.File, Line: r.Line, Offset: r.Offset, Raw: r.Raw}); err != nil {
			return err
		}
	}
	return nil
}

// end writes what is still in memory, and says where all of it is; nil where nothing was left out.
func (j *journal) end() *rpc.RejectsPart {
	if j == nil || j.file == nil && j.part.Failed == "" {
		return nil
	}
	if !j.ended && j.file != nil {
		j.ended = true
		p, err := j.spool.Finish()
		if err = errors.Join(err, j.file.Close()); err != nil && j.part.Failed == "" {
			j.part.Failed = err.Error()
		}
		j.part.Path, j.part.Ends, j.part.Rows = j.file.Name(), p.Ends, p.Rows
		j.spool = nil
	}
	return &j.part
}
