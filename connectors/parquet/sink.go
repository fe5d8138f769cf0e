package parquet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet/compress"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A sinkState is a bound parquet sink.
type sinkState struct {
	Target       files.Target `json:"target"`
	Compression  string       `json:"compression"`
	RowGroupRows int64        `json:"rowGroupRows"`
}

// defaultGroupRows is the default of row_group_rows, and its limit.
const defaultGroupRows = 1_000_000

func bindSink(_ context.Context, o Options, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	var none connectors.BoundSink
	path, err := files.OneTarget(o.Path, len(o.Columns))
	if err != nil {
		return none, err
	}
	s := sinkState{Compression: o.Compression, RowGroupRows: o.RowGroupRows}
	if _, err := s.codec(); err != nil {
		return none, err
	}
	if s.RowGroupRows == 0 {
		s.RowGroupRows = defaultGroupRows
	}
	if s.RowGroupRows < 1 || s.RowGroupRows > defaultGroupRows {
		return none, files.Refused("row_group_rows: %d is not between 1 and %d", s.RowGroupRows, defaultGroupRows)
	}
	if _, err := nodes(in); err != nil {
		return none, files.Refused("%v", err)
	}
	t, err := files.BindTarget(files.Local(), path, files.Mode(o.Mode), ".parquet", e.Dir)
	if err != nil {
		return none, err
	}
	s.Target = t
	state, err := json.Marshal(s)
	if err != nil {
		return none, fmt.Errorf("binding a parquet sink: %w", err)
	}
	return t.JoinedBound(state), nil
}

func openSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	var s sinkState
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("reading the state of a parquet sink: %w", err)
	}
	codec, err := s.codec()
	if err != nil {
		return nil, err
	}
	return files.NewJoinedSink(files.Local(), s.Target, func(t *operators.Task, w io.Writer) (files.Encoder, error) {
		return newEncoder(in, w, codec, usualLimits(), s.RowGroupRows, t.Memory)
	}, join), nil
}

func (s sinkState) codec() (compress.Compression, error) {
	switch s.Compression {
	case "", "snappy":
		return compress.Codecs.Snappy, nil
	case "zstd":
		return compress.Codecs.Zstd, nil
	case "gzip":
		return compress.Codecs.Gzip, nil
	case "lz4_raw":
		return lz4Raw, nil
	case "none":
		return compress.Codecs.Uncompressed, nil
	}
	return 0, files.Refused("compression: %q is unknown: expected snappy, zstd, gzip, lz4_raw or none", s.Compression)
}
