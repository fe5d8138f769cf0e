// Package datagen makes rows up: a source for trying plans out, for tests and for measurements, with the
// options of Flink's datagen connector.
//
// Row n is a function of the seed, the column's name and n, so a plan gets the same rows at every
// parallelism, with any number of splits, and in every run. The rows are dealt out to the splits in small
// blocks in turn: all splits move through the rows, and so through event time, side by side.
package datagen

import (
	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `datagen:`.
type Options struct {
	Columns       connectors.Columns `json:"columns" yaml:"columns" validate:"required,min=1" doc:"The columns to make and their types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DECIMAL, FLOAT, DOUBLE, STRING, BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ."`
	Fields        map[string]Field   `json:"fields,omitempty" yaml:"fields" validate:"dive" doc:"How the values of a column are made, by its name: {order_id: {kind: sequence}}. A column that is not named here is random."`
	NumberOfRows  *int64             `json:"number_of_rows,omitempty" yaml:"number_of_rows" validate:"omitempty,min=1" doc:"How many rows there are. Without it, and without a sequence that has an end, they never end, which takes mode: streaming."`
	RowsPerSecond *int64             `json:"rows_per_second,omitempty" yaml:"rows_per_second" validate:"omitempty,min=0" doc:"How fast rows come, all splits together; 0: as fast as they are taken. Unset: 10000 where the rows never end, as in Flink, and 0 where they do."`
	Seed          int64              `json:"seed,omitempty" yaml:"seed" doc:"Another seed gives other random values." default:"0"`
	Splits        int64              `json:"splits,omitempty" yaml:"splits" validate:"min=0,max=32768" doc:"Into how many splits the rows are dealt: so many subtasks can make them. 0: rows that end are cut by runner.source.split-size, and those that do not into 8." default:"0"`
	IdleSplits    int64              `json:"idle_splits,omitempty" yaml:"idle_splits" validate:"min=0" doc:"How many of the splits fall silent, as a partition to which nobody writes any more: they stay open and give nothing, and the others give the rest of the rows. Such a split ends when the last row is due by rows_per_second." default:"0"`
	IdleAfter     int64              `json:"idle_after,omitempty" yaml:"idle_after" validate:"min=0" doc:"How many rows each of the idle_splits gives before it falls silent, rounded up to whole blocks." default:"0"`
}

// The kinds of fields.
const (
	random    = "random"
	sequence  = "sequence"
	eventTime = "event_time"
)

// A Field says how the values of a column are made.
type Field struct {
	Kind     string        `json:"kind,omitempty" yaml:"kind" validate:"omitempty,oneof=random sequence event_time" doc:"random: any value of the type within min and max. sequence: start, start + 1, and so on. event_time: a TIMESTAMP that moves on by interval with every row." default:"random"`
	Min      string        `json:"min,omitempty" yaml:"min" doc:"random: the least value. Unset: the type's own, 0 for FLOAT and DOUBLE, 2024-01-01 for DATE and TIMESTAMP. Times of a TIMESTAMP_LTZ are UTC."`
	Max      string        `json:"max,omitempty" yaml:"max" doc:"random: the largest value, which can occur. Unset: the type's own, 1 for FLOAT and DOUBLE (not reached), the end of 2024 for DATE and TIMESTAMP."`
	Length   *int64        `json:"length,omitempty" yaml:"length" validate:"omitempty,min=0,max=65536" doc:"random: how many characters a STRING has, or bytes BYTES. Unset: 100."`
	VarLen   bool          `json:"var_len,omitempty" yaml:"var_len" doc:"random: STRING and BYTES are 1 to length long." default:"false"`
	Values   []string      `json:"values,omitempty" yaml:"values" doc:"random: a STRING is one of these."`
	Skew     float64       `json:"skew,omitempty" yaml:"skew" validate:"min=0,max=20" doc:"random: makes the first values frequent: the k-th from min, or of values, comes with a share of 1 / k to the power of skew (Zipf). 0: all are as frequent. For whole numbers, and for values." default:"0"`
	NullRate float64       `json:"null_rate,omitempty" yaml:"null_rate" validate:"min=0,max=1" doc:"random: the share of NULLs, from 0 to 1." default:"0"`
	Start    string        `json:"start,omitempty" yaml:"start" doc:"sequence: the first value; unset: 1. event_time: the time of the first row; unset: 2024-01-01 00:00:00."`
	End      string        `json:"end,omitempty" yaml:"end" doc:"sequence: the last value. The rows end there, if number_of_rows does not end them before."`
	Interval spec.Duration `json:"interval,omitempty" yaml:"interval" doc:"event_time: the time between two rows. 0 ms: a second divided by rows_per_second, or 1 ms where that is 0." default:"0 ms"`
	Disorder spec.Duration `json:"disorder,omitempty" yaml:"disorder" doc:"event_time: rows are late by a random time of up to so much. A watermark with at least this delay makes none of them late." default:"0 ms"`
}

// Spec declares datagen.
var Spec = connectors.Spec[Options]{
	Name:     "datagen",
	Summary:  "Rows that are made up: sequences, random values and event time, from a seed; a given number of them, or without end.",
	Bind:     bind,
	Declared: func(o Options) (expr.Schema, bool) { return expr.Schema{Fields: o.Columns}, len(o.Columns) > 0 },
	Open:     func(state []byte) (connectors.Source, error) { return open(state, wall{}) },
}
