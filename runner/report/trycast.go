package report

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
)

// A TryCast is for how many rows a TRY_CAST of an operator gave NULL for one reason: empty, malformed,
// out-of-range, fraction, time-zone, skipped-time or not-utf8.
type TryCast struct {
	Operator   string `json:"operator"`   // "Calc[2]"
	Expression string `json:"expression"` // "TRY_CAST(qty AS INT)"
	Reason     string `json:"reason"`
	Rows       int64  `json:"rows"`
}

func tryCastsOf(v jobmaster.VertexSnapshot) []TryCast {
	var out []TryCast
	for _, x := range v.Metrics.TryCasts {
		label := v.Name
		if x.Operator < len(v.Operators) {
			label = v.Operators[x.Operator]
		}
		out = append(out, TryCast{Operator: label, Expression: x.Expression, Reason: x.Reason, Rows: x.Rows})
	}
	return out
}

// writeTryCasts writes a line for each expression that gave NULL where there was a value:
// "Calc[2]: TRY_CAST(qty AS INT) gave NULL for 3 rows: 2 malformed, 1 out of range".
func writeTryCasts(b *strings.Builder, all []Vertex, indent string) {
	for _, v := range all {
		for i := 0; i < len(v.TryCasts); {
			first := v.TryCasts[i]
			var total int64
			var parts []string
			for ; i < len(v.TryCasts) && v.TryCasts[i].Operator == first.Operator && v.TryCasts[i].Expression == first.Expression; i++ {
				x := v.TryCasts[i]
				total += x.Rows
				parts = append(parts, Thousands(x.Rows)+" "+strings.ReplaceAll(x.Reason, "-", " "))
			}
			fmt.Fprintf(b, "%s%s: %s gave NULL for %s: %s\n", indent, first.Operator, OneLine(first.Expression), Rows(total), strings.Join(parts, ", "))
		}
	}
}

func fullTryCasts(b *strings.Builder, all []Vertex) {
	var lines strings.Builder
	writeTryCasts(&lines, all, "  ")
	if lines.Len() > 0 {
		b.WriteString("\nValues that TRY_CAST gave NULL for\n" + lines.String())
	}
}
