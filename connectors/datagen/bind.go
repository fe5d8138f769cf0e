package datagen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const (
	stateVersion = 1
	mostSplits   = 32768
	defaultRate  = 10000 // of rows that never end, as in Flink
)

// A bound is a source after binding: the options, checked, with what follows from them.
type bound struct {
	Version int     `json:"version"`
	Path    string  `json:"path"` // stands for a file's, where the report and a failure name one
	Options Options `json:"options"`
	Rows    int64   `json:"rows"` // math.MaxInt64: without end
	Rate    int64   `json:"rate"` // rows a second, 0: no limit
	Width   int64   `json:"width"`
	// Watermark is what the plan says about event time; nil: nothing.
	Watermark *connectors.Watermark `json:"watermark,omitempty"`
}

func bind(_ context.Context, o Options, e connectors.Env) ([]byte, error) {
	b, err := o.bound(e.Node)
	if err != nil {
		return nil, files.Refused("%v", err)
	}
	b.Watermark = e.Watermark
	s, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("writing the state of source %s: %w", e.Node, err)
	}
	return s, nil
}

// bound checks the options. An error begins with the option it is about.
func (o Options) bound(node string) (*bound, error) {
	b := &bound{Version: stateVersion, Path: "datagen:" + node, Options: o, Rows: math.MaxInt64}
	if len(o.Columns) == 0 {
		return nil, errors.New("columns: there is none; declare each with its type, as in {id: BIGINT, name: STRING}")
	}
	names := make([]string, 0, len(o.Fields))
	for name := range o.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if expr.SchemaOf(o.Columns...).Index(name) < 0 {
			return nil, fmt.Errorf("fields.%s: there is no column of that name; the columns are %s", name, expr.SchemaOf(o.Columns...))
		}
	}
	if o.NumberOfRows != nil {
		if b.Rows = *o.NumberOfRows; b.Rows < 1 {
			return nil, fmt.Errorf("number_of_rows: %d: expected at least 1", b.Rows)
		}
	}
	switch {
	case o.Splits < 0 || o.Splits > mostSplits:
		return nil, fmt.Errorf("splits: %d: expected 1 to %d, or 0 to leave it open", o.Splits, mostSplits)
	case o.IdleSplits < 0 || o.IdleAfter < 0:
		return nil, errors.New("idle_splits and idle_after: expected no negative number")
	case b.rate() < 0:
		return nil, fmt.Errorf("rows_per_second: %d: expected 0 or more", b.rate())
	}
	if err := b.makers(func(c maker) { b.Rows = min(b.Rows, c.end) }); err != nil {
		return nil, err
	}
	b.Rate = b.rate()
	if o.IdleSplits > 0 && o.IdleSplits >= o.Splits {
		return nil, fmt.Errorf("idle_splits: %d of %d splits would be idle: expected splits to be more, so that somebody gives the other rows", o.IdleSplits, o.Splits)
	}
	if o.IdleAfter > 0 && o.IdleSplits == 0 {
		return nil, errors.New("idle_after: no split falls silent: expected idle_splits beside it")
	}
	if err := b.makers(func(c maker) { b.Width += c.width }); err != nil {
		return nil, err
	}
	return b, b.reach()
}

// makers gives each column's to see.
func (b *bound) makers(see func(maker)) error {
	for _, c := range b.Options.Columns {
		m, err := b.maker(c)
		if err != nil {
			return err
		}
		see(m)
	}
	return nil
}

// reach holds that a type holds the values of all rows.
func (b *bound) reach() error {
	for _, c := range b.Options.Columns {
		m, err := b.maker(c)
		if err != nil {
			return err
		}
		if m.reach < b.Rows && b.Rows < math.MaxInt64 {
			return fmt.Errorf("fields.%s: %s holds the values of %d rows: expected fewer rows than %d, or another type or start", c.Name, c.Type, m.reach, b.Rows)
		}
	}
	return nil
}

// bytes is about how much the rows are, which sizes batch jobs; 0 where they never end.
func (b *bound) bytes(rows int64) int64 {
	if rows > math.MaxInt64/b.Width {
		return math.MaxInt64 / b.Width * b.Width
	}
	return rows * b.Width
}

// most is the largest number of splits.
func (b *bound) most() int64 {
	switch {
	case b.Options.Splits > 0:
		return b.Options.Splits
	case b.Rows == math.MaxInt64:
		return unboundedSplits
	}
	return min(ceil(b.Rows, b.block()), mostSplits)
}
