package taskmanager

import "github.com/seed-4b0e9f7c/runner/connectors"

// marks is what a task knows of the event time of its inputs: the least over those that count. A channel that
// is idle does not count until something comes from it again; one that has ended does not count any more.
type marks struct {
	times []int64
	idle  []bool
}

func newMarks(n int) *marks {
	m := &marks{times: make([]int64, n), idle: make([]bool, n)}
	for i := range m.times {
		m.times[i] = connectors.NoWatermark
	}
	return m
}

// advance takes a watermark of a channel; it never falls.
func (m *marks) advance(channel int, ms int64) {
	m.times[channel] = max(m.times[channel], ms)
	m.idle[channel] = false
}

// least is the watermark over all channels. Where all that have not ended are idle, there is none.
func (m *marks) least() (ms int64, idle bool) {
	ms = connectors.EndWatermark
	active, open := false, false
	for i, t := range m.times {
		if t == connectors.EndWatermark {
			continue
		}
		open = true
		if !m.idle[i] {
			active = true
			ms = min(ms, t)
		}
	}
	return ms, open && !active
}

// splitMarks is the same over the splits of a source. known is false where nothing is known of any split.
func splitMarks(splits []connectors.SplitTime) (ms int64, idle, known bool) {
	ms, idle = connectors.EndWatermark, true
	for _, s := range splits {
		if !s.Idle {
			idle = false
			ms = min(ms, s.WatermarkMs)
		}
	}
	return ms, idle, len(splits) > 0
}
