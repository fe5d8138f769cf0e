package spec

import (
	"testing"
	"time"
)

func TestParseZone(t *testing.T) {
	at := time.Date(2024, 7, 1, 0, 0, 0, 0, time.UTC)
	for name, offset := range map[string]int{
		"UTC": 0, "GMT": 0, "Z": 0, "Europe/Berlin": 7200, "America/New_York": -14400, "+01:00": 3600, "-0530": -19800, "GMT+8": 28800, "GMT+08:00": 28800, "+18": 64800,
	} {
		loc, err := ParseZone(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, got := at.In(loc).Zone(); got != offset {
			t.Errorf("%s: %d seconds, want %d", name, got, offset)
		}
	}
	for _, name := range []string{"", "Local", "+19", "+18:01", "+01:60", "UTC+1x", "Berlin", "../etc/passwd", "europe/berlin "} {
		if loc, err := ParseZone(name); err == nil {
			t.Errorf("%q is %s", name, loc)
		}
	}
}
