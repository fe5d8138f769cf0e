package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Read reads a saved report. name is the input's, for messages.
func Read(in io.Reader, name string) (Report, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return Report{}, fmt.Errorf("reading %s: %w", name, err)
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return Report{}, fmt.Errorf("%s is no run report: it is not JSON at byte %d: %w", name, syntax.Offset, err)
		}
		return Report{}, fmt.Errorf("%s is no run report: %w", name, err)
	}
	switch {
	case r.SchemaVersion == 0 || r.State == "":
		return Report{}, fmt.Errorf("%s is no run report: it has no schemaVersion or no state; expected what runner run writes", name)
	case r.SchemaVersion > SchemaVersion:
		return Report{}, fmt.Errorf("%s has schemaVersion %d, and this program reads up to %d", name, r.SchemaVersion, SchemaVersion)
	}
	return r, nil
}
