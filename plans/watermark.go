package plans

import (
	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// A Watermark says which column of a source is its event time, and how late rows may be: Flink's
// WATERMARK FOR. It counts in mode streaming; in a batch job all rows are there.
type Watermark struct {
	Column      string
	Delay       spec.Duration
	IdleTimeout spec.Duration // 0: a split never counts as idle
	Pos         Pos
	At          Pos // of the column's name
}

// watermarkOptions is the YAML under `watermark:`.
type watermarkOptions struct {
	Column      string        `yaml:"column" validate:"required" doc:"The column with the event time, a TIMESTAMP."`
	Delay       spec.Duration `yaml:"delay" default:"0 ms" doc:"How late rows may be. The watermark is the latest time so far, less the delay and less a millisecond."`
	IdleTimeout spec.Duration `yaml:"idle_timeout" default:"0 ms" doc:"A split that gives no row for so long is idle, and no longer holds the watermark back; 0 ms: never."`
}

// watermark reads what a source says about its event time.
func (r *reader) watermark(e spec.Entry, path string) *Watermark {
	var o watermarkOptions
	places, problems := r.decoder.Decode(r.substitute(e.Value, path), &o, r.scope(path, e.Key))
	r.problems(problems)
	w := &Watermark{Column: o.Column, Delay: o.Delay, IdleTimeout: o.IdleTimeout, Pos: at(e.Pos, path)}
	w.At = w.Pos
	if p, ok := places["column"]; ok {
		w.At = at(p, path+".column")
	}
	return w
}

func watermarkSchema() object {
	s := object(spec.JSONSchema(new(watermarkOptions)))
	s["description"] = "Event time, for mode: streaming: its column, how late rows may be, and when a split counts as idle."
	return s
}
