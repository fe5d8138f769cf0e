package failure

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCategories lists root causes of many kinds, one a line, under the category each must get; the
// answer names those that got another.
func TestCategories(t *testing.T) {
	c := newClassifier()
	datadriven.Walk(t, "testdata/categories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var wrong strings.Builder
			for line := range strings.SplitSeq(d.Input, "\n") {
				class, message, _ := strings.Cut(line, ": ")
				if got := c.of(&node{class: class, message: message}); got != d.CmdArgs[0].Key {
					wrong.WriteString(got + ": " + line + "\n")
				}
			}
			if wrong.Len() == 0 {
				return "ok\n"
			}
			return wrong.String()
		})
	})
}
