package plans

import (
	"fmt"
	"strings"
	"testing"
)

// TestLimits holds that texts which would keep the parser busy for minutes are refused before it sees
// them, and that what is far beyond any plan still ends.
func TestLimits(t *testing.T) {
	const n = 100_000
	var keys strings.Builder
	for i := range n / 10 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for _, c := range []struct{ name, text, rule string }{
		{"brackets", strings.Repeat("[", n), RuleTooDeep},
		{"keys on a line", strings.Repeat("a: ", n/3), RuleTooDeep},
		{"question marks", strings.Repeat("? ", n/2), RuleTooDeep},
		{"anchors", "a: " + strings.Repeat("&a ", n/3), RuleTooDeep},
		{"a long list", "a: [" + strings.Repeat("x,", n/2) + "]", RuleTooLarge},
		{"a long mapping", "a: {" + strings.Repeat("x,", n/2) + "}", RuleTooLarge},
		{"many brackets", "a: [" + strings.Repeat("[],", n/3) + "]", RuleTooLarge},
		{"aliases", "x-a: &a 1\nx-b: [" + strings.Repeat("*a,", n/3) + "]", RuleTooLarge},
		{"an unclosed mapping", "a: {" + strings.Repeat("b: c, ", n/6), RuleTooLarge},
		{"many words", strings.Repeat(keys.String(), 3), RuleTooLarge},
		{"many bytes", "# " + strings.Repeat("x", mostText), RuleTooLarge},
		{"tags", "a: " + strings.Repeat("!a ", n/3), RuleTag},
		{"many findings", keys.String(), "unknown-key"},
		{"a long text", "a: \"" + strings.Repeat("x", n) + "\"", "unknown-key"},
		{"a long block", "a: |\n" + strings.Repeat("  x\n", n/4), "unknown-key"},
		{"an unclosed quote", "a: \"" + strings.Repeat("x\n ", n/3), RuleSyntax},
	} {
		_, fs := Parse("p.yaml", []byte(c.text), nil, testKnown())
		if len(fs) == 0 || fs[0].Rule != c.rule && fs[len(fs)-1].Rule != c.rule {
			t.Errorf("%s: %.200v", c.name, fs)
		}
		if len(fs) > mostFindings+1 {
			t.Errorf("%s: %d findings", c.name, len(fs))
		}
	}
}
