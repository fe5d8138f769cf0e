package operatortest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Script is one command of a script file.
type Script struct {
	Cmd   string
	Lines []string      // what stands before the rows and is not a schema: "keys country"
	In    []expr.Schema // of each input
}

// Words are the rest of the lines that begin with a word, and whether there is one.
func (s *Script) Words(word string) (rest []string) {
	for _, l := range s.Lines {
		if w, r, _ := strings.Cut(l, " "); w == word {
			rest = append(rest, strings.TrimSpace(r))
		}
	}
	return rest
}

// Scripts runs the files of testdata. A command holds
//
//	in country STRING, amount BIGINT
//	… lines that stages turns into the operators to run …
//	rows
//	de, 1
//	----
//	the rows that come out
//
// with one "in" and one "rows" per input. The command's arguments "ordered" and "count" are those of Case. Stages may
// give several ways to the same result (in one phase and in two): all must agree, in every variant.
// A command that fails shows its error.
func Scripts(t *testing.T, stages func(s *Script) ([][]Stage, error)) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return script(t, d, stages)
		})
	})
}

func script(t *testing.T, d *datadriven.TestData, stages func(s *Script) ([][]Stage, error)) string {
	t.Helper()
	s := &Script{Cmd: d.Cmd}
	var rows []string
	inRows := false
	for _, line := range strings.Split(d.Input, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "in" && rest != "":
			schema, err := ParseSchema(rest)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			s.In = append(s.In, schema)
			inRows = false
		case line == "rows":
			rows = append(rows, "")
			inRows = true
		case inRows:
			rows[len(rows)-1] += line + "\n"
		default:
			s.Lines = append(s.Lines, line)
		}
	}
	ways, err := stages(s)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	first, err := Result(ways[0], s.In, rows, Setting{Memory: -1})
	c := Case{In: rows, Want: strings.Join(first, "\n"), Ordered: d.HasArg("ordered"), Count: d.HasArg("count")}
	if err != nil {
		c.Error = err.Error()
	}
	for i, way := range ways {
		for _, v := range variants() {
			got, err := runVariant(v, way, s.In, c.In)
			if problem := c.judge(got, err); problem != "" {
				d.Fatalf(t, "way %d, %s:\n%s", i, v, problem)
			}
		}
	}
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	if c.Count {
		return fmt.Sprintf("%d rows\n", len(first))
	}
	if len(first) == 0 {
		return "no rows\n"
	}
	return strings.Join(first, "\n") + "\n"
}
