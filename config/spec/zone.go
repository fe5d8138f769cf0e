package spec

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
	_ "time/tzdata" // zones are known on machines without a zone database too
)

var offsetPattern = regexp.MustCompile(`^(?:GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)

// ParseZone reads a time zone as Flink's table.local-time-zone has it: a name of the zone database
// ("Europe/Berlin"), "UTC", or an offset of at most 18 hours, "+08:00" or "GMT+08:00". It never depends on
// the machine: "Local" is no zone.
func ParseZone(name string) (*time.Location, error) {
	if m := offsetPattern.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2]) // digits, as the pattern says
		minutes, _ := strconv.Atoi("0" + m[3])
		if seconds := hours*3600 + minutes*60; minutes < 60 && seconds <= 18*3600 {
			if m[1] == "-" {
				seconds = -seconds
			}
			return time.FixedZone(name, seconds), nil
		}
	}
	switch name {
	case "UTC", "Z", "GMT":
		return time.UTC, nil
	case "", "Local":
	default:
		if loc, err := time.LoadLocation(name); err == nil {
			return loc, nil
		}
	}
	return nil, fmt.Errorf("there is no time zone %q: expected a name such as Europe/Berlin or UTC, or an offset such as +01:00", name)
}
