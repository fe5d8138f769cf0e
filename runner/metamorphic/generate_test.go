package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A world is data and a plan made from a seed.
type world struct {
	rng     *rand.Rand
	rows    [][]string // cells as CSV writes them
	columns []column   // what the current node gives
	nodes   strings.Builder
	aggs    strings.Builder
	last    string // name of the current node
	n       int
}

type column struct {
	name, kind string // kind: int, small, text, decimal, double, float, time, date, bool
}

// tableColumns is the input: every kind, with NULLs.
const tableColumns = "{id: BIGINT NOT NULL, k: INT, s: STRING, d: \"DECIMAL(12, 3)\", w: \"DECIMAL(30, 5)\", f: DOUBLE, t: TIMESTAMP(3), y: DATE, b: BOOLEAN}"

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 99)), last: "input"}
	w.columns = []column{{"id", "int"}, {"k", "int"}, {"s", "text"}, {"d", "decimal"}, {"w", "decimal"}, {"f", "double"}, {"t", "time"}, {"y", "date"}, {"b", "bool"}}
	for i := range 1 + w.rng.IntN(400) {
		w.rows = append(w.rows, w.row(i))
	}
	for range 1 + w.rng.IntN(4) {
		w.step()
	}
	return w
}

func (w *world) row(i int) []string {
	words := []string{"de", "fr", "Zürich", "with, comma", `with "quotes"`, "two\nlines", " spaces ", "NULL", "x", strings.Repeat("long ", 1+w.rng.IntN(12))}
	cells := []string{
		fmt.Sprint(i), fmt.Sprint(w.rng.IntN(12) - 4), quoted(words[w.rng.IntN(len(words))]),
		fmt.Sprintf("%d.%03d", w.rng.IntN(2000)-1000, w.rng.IntN(1000)), fmt.Sprintf("%d%015d.%05d", w.rng.IntN(999), w.rng.Int64N(1e15), w.rng.IntN(1e5)),
		fmt.Sprint((w.rng.Float64() - 0.5) * float64(int64(1)<<w.rng.IntN(50))),
		fmt.Sprintf("20%02d-%02d-%02d %02d:%02d:%02d.%03d", w.rng.IntN(30), 1+w.rng.IntN(12), 1+w.rng.IntN(28), w.rng.IntN(24), w.rng.IntN(60), w.rng.IntN(60), w.rng.IntN(1000)),
		fmt.Sprintf("19%02d-%02d-%02d", w.rng.IntN(99), 1+w.rng.IntN(12), 1+w.rng.IntN(28)),
		[]string{"true", "false"}[w.rng.IntN(2)],
	}
	for c := 1; c < len(cells); c++ {
		if w.rng.IntN(9) == 0 {
			cells[c] = ""
		}
	}
	if w.rng.IntN(40) == 0 {
		cells[5] = []string{"NaN", "-0.0", "0.0", "1e300", "-1e300"}[w.rng.IntN(5)]
	}
	return cells
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func (w *world) csv() string {
	var b strings.Builder
	b.WriteString("id,k,s,d,w,f,t,y,b\n")
	for _, r := range w.rows {
		b.WriteString(strings.Join(r, ",") + "\n")
	}
	return b.String()
}

// pick is a column of one of the kinds; "" where there is none.
func (w *world) pick(kinds ...string) string {
	var fit []string
	for _, c := range w.columns {
		for _, k := range kinds {
			if c.kind == k {
				fit = append(fit, c.name)
			}
		}
	}
	if len(fit) == 0 {
		return ""
	}
	return fit[w.rng.IntN(len(fit))]
}

func (w *world) name() string {
	w.n++
	return fmt.Sprintf("n%d", w.n)
}

// step adds a node behind the current one.
func (w *world) step() {
	switch w.rng.IntN(7) {
	case 0, 1:
		w.selectStep()
	case 2, 3:
		w.aggregateStep()
	case 4:
		w.transform(fmt.Sprintf("distinct: true, select: {%s: %s}", w.columns[0].name, w.columns[0].name), w.columns[:1])
	case 5:
		w.transform(fmt.Sprintf("order_by: [%s DESC], limit: %d, offset: %d", w.columns[w.rng.IntN(len(w.columns))].name, w.rng.IntN(50), w.rng.IntN(5)), w.columns)
	case 6:
		n := w.name()
		fmt.Fprintf(&w.nodes, "  %s: {from: [%s, %s], union: {distinct: %v}}\n", n, w.last, w.last, w.rng.IntN(2) == 0)
		w.last = n
	}
}

func (w *world) transform(body string, columns []column) {
	n := w.name()
	own := ""
	if w.rng.IntN(5) == 0 {
		own = fmt.Sprintf(", parallelism: %d", 1+w.rng.IntN(4))
	}
	fmt.Fprintf(&w.nodes, "  %s: {from: %s, %s%s}\n", n, w.last, body, own)
	w.last, w.columns = n, columns
}

// condition is a BOOLEAN expression that cannot fail.
func (w *world) condition() string {
	var all []string
	if c := w.pick("int"); c != "" {
		all = append(all, fmt.Sprintf("%s > %d", c, w.rng.IntN(10)-3), c+" IN (1, 2, 5, NULL)")
	}
	if c := w.pick("text"); c != "" {
		all = append(all, c+" LIKE '%o%'", c+" <> 'de'", c+" IS NULL", "UPPER("+c+") = 'FR'", "REGEXP("+c+", '^.[a-n]')")
	}
	if c := w.pick("small", "float"); c != "" {
		all = append(all, c+" < 3", c+" IN (0, 1, 2.5)")
	}
	if c := w.pick("decimal"); c != "" {
		all = append(all, c+" BETWEEN -300 AND 500.5")
	}
	if c := w.pick("bool"); c != "" {
		all = append(all, c, "NOT "+c)
	}
	if c := w.pick("date"); c != "" {
		all = append(all, c+" >= DATE '1950-06-01'")
	}
	if c := w.pick("double"); c != "" {
		all = append(all, c+" < 1000", c+" = "+c)
	}
	if len(all) == 0 {
		return "TRUE"
	}
	a := all[w.rng.IntN(len(all))]
	switch w.rng.IntN(3) {
	case 0:
		return a + " OR " + all[w.rng.IntN(len(all))]
	case 1:
		return a + " AND " + all[w.rng.IntN(len(all))]
	}
	return a
}

func (w *world) selectStep() {
	var items []string
	var columns []column
	add := func(kind, e string) {
		n := fmt.Sprintf("c%d_%d", w.n, len(columns))
		items = append(items, fmt.Sprintf("%s: %q", n, e))
		columns = append(columns, column{n, kind})
	}
	if c := w.pick("int"); c != "" {
		add("int", c)
		add("int", "COALESCE("+c+", 0) * 2 + 1")
		add("small", "TRY_CAST("+c+" AS TINYINT)")
	}
	if c := w.pick("text"); c != "" {
		add("text", c)
		add("text", "COALESCE(TRIM("+c+"), 'none') || '-' || SUBSTRING("+c+", 2, 3)")
		add("int", "CHAR_LENGTH("+c+")")
		add("text", "LPAD(REGEXP_REPLACE("+c+", '[aeiou]+', '.'), 6, '*')")
		add("small", "CAST(POSITION('o' IN LEFT("+c+", 50)) AS SMALLINT)")
	}
	if c := w.pick("decimal"); c != "" {
		add("decimal", c)
		add("decimal", "CASE WHEN "+c+" > 0 THEN ROUND("+c+", 1) ELSE "+c+" END")
	}
	if c := w.pick("double"); c != "" {
		add("double", c+" * 0.5E0 + 1E0")
		add("float", "TRY_CAST(GREATEST("+c+", 0.1) AS FLOAT)")
	}
	if c := w.pick("time"); c != "" {
		add("time", "FLOOR("+c+" TO MONTH)")
		add("int", "EXTRACT(YEAR FROM "+c+")")
		add("date", "CAST("+c+" - INTERVAL '36' HOUR AS DATE)")
		add("text", "DATE_FORMAT("+c+", 'MM.yyyy')")
	}
	if c := w.pick("bool"); c != "" {
		add("bool", c+" IS NOT TRUE")
	}
	if len(columns) == 0 {
		return
	}
	w.transform(fmt.Sprintf("where: %q, select: {%s}", w.condition(), strings.Join(items, ", ")), columns)
}

func (w *world) aggregateStep() {
	var keys []string
	var columns []column
	for range w.rng.IntN(3) {
		c := w.columns[w.rng.IntN(len(w.columns))]
		if c.kind == "double" && w.rng.IntN(3) > 0 || strings.Contains(strings.Join(keys, " ")+" ", c.name+" ") {
			continue
		}
		keys = append(keys, c.name)
		columns = append(columns, c)
	}
	var measures []string
	add := func(kind, e string) {
		n := fmt.Sprintf("m%d_%d", w.n, len(measures))
		measures = append(measures, fmt.Sprintf("%s: %q", n, e))
		columns = append(columns, column{n, kind})
	}
	add("int", "COUNT(*)")
	add("int", "COUNT(*) FILTER (WHERE "+w.condition()+")")
	if c := w.pick("int"); c != "" {
		add("int", "SUM("+c+")")
		add("int", "COUNT(DISTINCT "+c+")")
		add("int", "SUM(DISTINCT "+c+")")
	}
	if c := w.pick("text"); c != "" {
		add("text", "MIN("+c+")")
		add("int", "COUNT(DISTINCT "+c+")")
	}
	if c := w.pick("small"); c != "" {
		add("small", "MAX("+c+")")
		add("int", "SUM(CAST("+c+" AS BIGINT))")
	}
	if c := w.pick("float"); c != "" {
		add("float", "SUM("+c+")")
		add("float", "AVG(DISTINCT "+c+")")
	}
	if c := w.pick("decimal"); c != "" {
		add("decimal", "SUM("+c+")")
		add("decimal", "AVG("+c+")")
	}
	if c := w.pick("double"); c != "" {
		add("double", "SUM("+c+")")
		add("double", "MAX("+c+")")
		add("double", "AVG("+c+")")
	}
	if c := w.pick("time", "date"); c != "" {
		add("any", "MAX("+c+")")
	}
	n := w.name()
	by := ""
	if len(keys) > 0 {
		by = fmt.Sprintf(", group_by: [%s]", strings.Join(keys, ", "))
	}
	fmt.Fprintf(&w.aggs, "  %s: {from: %s%s, measures: {%s}}\n", n, w.last, by, strings.Join(measures, ", "))
	w.last, w.columns = n, columns
}

// plan is the world's plan over a source.
func (w *world) plan(source string) string {
	p := "name: world\nsources:\n  input: " + source + "\n"
	if w.nodes.Len() > 0 {
		p += "transforms:\n" + w.nodes.String()
	}
	if w.aggs.Len() > 0 {
		p += "aggregations:\n" + w.aggs.String()
	}
	return p + "sinks:\n  out: {from: " + w.last + ", json: {path: out, mode: overwrite}}\n"
}
