package jobgraph

import "testing"

// TestOptionValues: values are read as a user may write them, and faults name the option.
func TestOptionValues(t *testing.T) {
	for text, want := range map[string]int64{"16 mb": 16 << 20, "1g": 1 << 30, "64kb": 64 << 10, "123": 123, "1 tb": 1 << 40} {
		if n, err := (Option{Name: "size", Value: text}).Bytes(); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "-1", "9999999999 tb", "10 parsecs"} {
		want := "size: \"" + text + "\" is not a size such as 16 mb"
		if _, err := (Option{Name: "size", Value: text}).Bytes(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for text, want := range map[string]int64{"10 s": 10_000, "500ms": 500, "1 min": 60_000, "2h": 7_200_000, "7": 7} {
		if n, err := (Option{Name: "wait", Value: text}).Millis(); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	if _, err := (Option{Name: "wait", Value: "soon"}).Millis(); err == nil || err.Error() != `wait: "soon" is not a duration such as 10 s` {
		t.Error(err)
	}
}
