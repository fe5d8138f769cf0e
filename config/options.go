package config

import (
	"strconv"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// Get is the setting of an option, the zero Setting where there is none of that name.
func (o Loaded) Get(name string) Setting {
	for _, s := range o.Settings {
		if s.Name == name {
			return s
		}
	}
	return Setting{}
}

// String is an option's value, "" where unset.
func (o Loaded) String(name string) string { return o.Get(name).Value }

// Int is an integer option's value, 0 where unset.
func (o Loaded) Int(name string) int {
	n, err := strconv.Atoi(o.Get(name).Value)
	if err != nil {
		return 0
	}
	return n
}

// Bool is a boolean option's value.
func (o Loaded) Bool(name string) bool { return o.Get(name).Value == "true" }

// Bytes is a size in bytes, 0 where unset.
func (o Loaded) Bytes(name string) int64 {
	n, err := spec.ParseBytes(o.Get(name).Value)
	if err != nil {
		return 0
	}
	return n
}

// Millis is a duration in milliseconds, 0 where unset.
func (o Loaded) Millis(name string) int64 {
	n, err := spec.ParseDuration(o.Get(name).Value)
	if err != nil {
		return 0
	}
	return n
}
