package jobgraph

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// Bytes is the option's value as a size, which is written as Flink writes sizes: "16 mb".
func (o Option) Bytes() (int64, error) {
	n, err := spec.ParseBytes(o.Value)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a size such as 16 mb", o.Name, o.Value)
	}
	return n, nil
}

// Millis is the option's value as a duration in milliseconds, which is written as Flink writes them: "10 s".
func (o Option) Millis() (int64, error) {
	n, err := spec.ParseDuration(o.Value)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a duration such as 10 s", o.Name, o.Value)
	}
	return n, nil
}
