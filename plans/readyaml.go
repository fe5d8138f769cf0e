package plans

import (
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// ReadYAML reads a YAML file that is no plan, as a plan is read: one document, with raw texts and places, and what
// is wrong with it in the words that plans get. The node is nil where the file is empty or no YAML.
func ReadYAML(file string, b []byte) (*spec.Node, Findings) {
	t, refused := clean(file, b)
	if refused != nil {
		return nil, ofFile(finish(t, Findings{*refused}))
	}
	root, fs := readTree(t)
	return root, ofFile(finish(t, fs))
}

// ofFile says "the file" where findings speak of a plan.
func ofFile(fs Findings) Findings {
	words := strings.NewReplacer("the plan", "the file", "this plan", "this file", "a plan", "a file", "holds one plan", "holds one document")
	for i := range fs {
		fs[i].Message, fs[i].Hint = words.Replace(fs[i].Message), words.Replace(fs[i].Hint)
	}
	return fs
}
