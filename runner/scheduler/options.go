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
	n, err := ParseBytes(e.Value)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.Name, err)
	}
	if n < 1 {
		return 0, fmt.Errorf("%s: %q is not a size from 1 byte", e.Name, e.Value)
	}
	return n, nil
}

// ParseBytes reads a size as Flink writes it: "16 mb", "64kb", "1g"; a bare number is bytes.
func ParseBytes(text string) (int64, error) {
	number, unit := numberAndUnit(text)
	shift, known := 0, true
	switch unit {
	case "", "b", "byte", "bytes":
	case "k", "kb", "kibibytes":
		shift = 10
	case "m", "mb", "mebibytes":
		shift = 20
	case "g", "gb", "gibibytes":
		shift = 30
	case "t", "tb", "tebibytes":
		shift = 40
	default:
		known = false
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !known || n < 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("%q is not a size such as 16 mb", text)
	}
	return n << shift, nil
}

// ParseMillis reads a duration as Flink writes it: "10 s", "500ms", "1 min", "2 h"; a bare number is
// milliseconds. Less than a millisecond is 0.
func ParseMillis(text string) (int64, error) {
	number, unit := numberAndUnit(text)
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, fmt.Errorf("%q is not a duration such as 10 s", text)
	}
	switch unit {
	case "ns", "nano", "nanosecond", "nanoseconds":
		return n / 1_000_000, nil
	case "us", "µs", "micro", "microsecond", "microseconds":
		return n / 1000, nil
	case "", "ms", "milli", "millisecond", "milliseconds":
		return n, nil
	case "s", "sec", "second", "seconds":
		return n * 1000, nil
	case "m", "min", "minute", "minutes":
		return n * 60_000, nil
	case "h", "hour", "hours":
		return n * 3_600_000, nil
	case "d", "day", "days":
		return n * 86_400_000, nil
	}
	return 0, fmt.Errorf("%q is not a duration such as 10 s", text)
}

func numberAndUnit(text string) (number, unit string) {
	text = strings.ToLower(strings.TrimSpace(text))
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:end], strings.TrimSpace(text[end:])
}
