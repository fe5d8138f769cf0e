package plans

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// RulePort is about side outputs.
const RulePort = "port"

// portRejected is where the bad rows of a source come out.
const portRejected = "rejected"

// port checks a from that names a side output: `from: orders.rejected`.
func (r *reader) port(in Input, target *Node) {
	text := in.Node + "." + in.Port
	switch {
	case in.Port == "late":
		r.notYet(in.Pos, "the side output "+text, "")
	case in.Port != portRejected:
		f := r.add(in.Pos, RulePort, fmt.Sprintf("%s has no side output %q", in.Node, in.Port), "")
		if f.Near = spec.Near(in.Port, []string{portRejected}); f.Near == "" {
			f.Expected = portRejected + ", of a source"
		}
	case target.Section != Sources:
		r.add(in.Pos, RulePort, fmt.Sprintf("%s is no source: only a source leaves rows out that are bad, and has a side output %s", in.Node, portRejected),
			"an expression that fails, fails the run; TRY_CAST gives NULL instead")
	case target.Source != nil && (target.Source.OnError == nil || !target.Source.OnError.Skip) && !r.reported(target.Pos.Path+".on_error"):
		r.add(in.Pos, RulePort, fmt.Sprintf("source %s fails at its first bad row, so nothing comes out of %s", in.Node, text),
			fmt.Sprintf("add to the source: on_error: skip (line %d)", target.Pos.Line))
	}
}

// reported tells whether there is a finding about a part of the plan already.
func (r *reader) reported(path string) bool {
	for _, f := range r.findings {
		if f.Path == path || strings.HasPrefix(f.Path, path+".") {
			return true
		}
	}
	return false
}
