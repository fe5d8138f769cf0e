package scheduler

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// The options that the scheduler reads, with Flink's names.
const (
	OptDefault       = "parallelism.default"
	OptEnabled       = autoParallelism + "enabled"
	OptMin           = autoParallelism + "min-parallelism"
	OptMax           = autoParallelism + "max-parallelism"
	OptAvgVolume     = autoParallelism + "avg-data-volume-per-task"
	OptDefaultSource = autoParallelism + "default-source-parallelism"
	OptSplitSize     = "runner.source.split-size"

	autoParallelism = "execution.batch.adaptive.auto-parallelism."
)

// DisabledMax is the bound that vertices have when auto-parallelism is off, as in Flink.
const DisabledMax = 128

// Options are the values the scheduler works with.
type Options struct {
	Default       int    // parallelism.default
	DefaultOrigin string // where that value comes from
	Enabled       bool
	Min           int   // lower bound of vertices behind an exchange
	Max           int   // upper bound; 0 = not set, parallelism.default is it
	AvgBytes      int64 // average volume per task
	DefaultSource int   // upper bound of sources; 0 = not set, Max is it
	SplitBytes    int64
}

// DefaultOptions are Flink's defaults, and our split size.
func DefaultOptions() Options {
	return Options{
		Default: 1, DefaultOrigin: "default", Enabled: true, Min: 1, AvgBytes: 16 << 20, SplitBytes: 4 << 20,
	}
}

// ParseOptions reads the options in force. One that the list does not have, or that has no value, keeps its
// default; max-parallelism and default-source-parallelism count only where somebody set them. The error
// names the option, its value and what would be right.
func ParseOptions(list []jobgraph.Option) (Options, error) {
	o := DefaultOptions()
	for _, e := range list {
		if e.Value == "" {
			continue
		}
		if err := o.set(e); err != nil {
			return o, err
		}
	}
	if o.Max > 0 && o.Min > o.Max {
		o.Min = o.Max
	}
	return o, nil
}

func (o *Options) set(e jobgraph.Option) (err error) {
	byDefault := e.Source == "default"
	switch e.Name {
	case OptDefault:
		o.DefaultOrigin = e.Source
		o.Default, err = parseCount(e)
	case OptEnabled:
		if o.Enabled, err = strconv.ParseBool(strings.ToLower(e.Value)); err != nil {
			err = fmt.Errorf("%s: %q is neither true nor false", e.Name, e.Value)
		}
	case OptMin:
		o.Min, err = parseCount(e)
	case OptMax:
		if !byDefault {
			o.Max, err = parseCount(e)
		}
	case OptDefaultSource:
		if !byDefault {
			o.DefaultSource, err = parseCount(e)
		}
	case OptAvgVolume:
		o.AvgBytes, err = parsePositiveBytes(e)
	case OptSplitSize:
		o.SplitBytes, err = parsePositiveBytes(e)
	}
	return err
}

func parseCount(e jobgraph.Option) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(e.Value))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: %q is not a number from 1", e.Name, e.Value)
	}
	return n, nil
}

func parsePositiveBytes(e jobgraph.Option) (int64, error) {
	n, err := e.Bytes()
	if err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("%s: %q is not a size from 1 byte", e.Name, e.Value)
	}
	return n, nil
}
