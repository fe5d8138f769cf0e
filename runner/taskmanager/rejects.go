package taskmanager

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// leftOut keeps the rows that the reader left out, and sends them to the port of the source.
func (t *task) leftOut(m *member) error {
	rd, ok := t.reader.(connectors.Rejecting)
	if !ok || !m.desc.Source.Push.Rejects && t.journal == nil {
		return nil
	}
	bad := rd.Rejects()
	if len(bad) == 0 {
		return nil
	}
	if t.journal != nil {
		t.journal.add(bad)
	}
	if !m.desc.Source.Push.Rejects {
		return nil
	}
	return m.Side(connectors.PortRejected, operators.Batch{Rec: t.rejectRecord(bad)})
}

// rejectRecord makes rows of [connectors.RejectSchema].
func (t *task) rejectRecord(bad []connectors.Reject) arrow.Record {
	fields := connectors.RejectSchema().Fields
	cols := make([]arrow.Array, len(fields))
	text := func(of func(r *connectors.Reject) (v string, null bool)) arrow.Array {
		b := array.NewStringBuilder(t.alloc)
		defer b.Release()
		for i := range bad {
			if v, null := of(&bad[i]); null {
				b.AppendNull()
			} else {
				b.Append(v)
			}
		}
		return b.NewArray()
	}
	// A place of 0 is one that nobody knows.
	count := func(of func(r *connectors.Reject) int64) arrow.Array {
		b := array.NewInt64Builder(t.alloc)
		defer b.Release()
		for i := range bad {
			if v := of(&bad[i]); v == 0 {
				b.AppendNull()
			} else {
				b.Append(v)
			}
		}
		return b.NewArray()
	}
	offsets := array.NewInt64Builder(t.alloc)
	defer offsets.Release()
	for i := range bad {
		offsets.Append(bad[i].Offset)
	}
	cols[0] = text(func(r *connectors.Reject) (string, bool) { return r.File, false })
	cols[1] = count(func(r *connectors.Reject) int64 { return r.Line })
	cols[2] = offsets.NewArray()
	cols[3] = count(func(r *connectors.Reject) int64 { return r.Column })
	cols[4] = text(func(r *connectors.Reject) (string, bool) { return r.Field, r.Column == 0 && r.Field == "" })
	cols[5] = text(func(r *connectors.Reject) (string, bool) { return r.Value, r.Column == 0 && r.Field == "" })
	cols[6] = text(func(r *connectors.Reject) (string, bool) { return r.Raw, false })
	cols[7] = text(func(r *connectors.Reject) (string, bool) { return r.Class, false })
	cols[8] = text(func(r *connectors.Reject) (string, bool) { return r.Message, false })
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	return column.NewRecord(fields, cols, int64(len(bad)))
}
