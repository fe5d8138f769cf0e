package docs

import "github.com/seed-4b0e9f7c/runner/runner/failure"

// failuresPage lists the classes of failures.
func failuresPage() []byte {
	p := newPage("Failures")
	p.paragraph("A failed run names the class of its root cause in the last line it prints and under `failure.rootCause.class` of its report. " +
		"The list is closed and the names are stable. A failure of Apache Flink carries its Java class instead; `runner diagnose` reads both.")
	var rows [][]string
	for _, c := range failure.Classes() {
		rows = append(rows, []string{"[" + string(c.Class) + "](#" + anchor(string(c.Class)) + ")", c.Category, cell(c.Means)})
	}
	p.table([]string{"Class", "Category", "What happened"}, rows)
	for _, c := range failure.Classes() {
		p.heading(string(c.Class))
		p.paragraph("Category `" + c.Category + "`. " + cell(c.Means))
		p.paragraph("What to do: " + cell(c.Next))
	}
	return p.bytes()
}
