package docs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// optionsPage lists the options of jobs and processes.
func optionsPage() []byte {
	p := newPage("Options")
	p.paragraph("Names, defaults and units are Flink's; an option that Flink lacks begins with `runner.`.")
	p.paragraph("A value comes from the last of these places that sets it, and the run report says from which:\n\n" +
		"1. the default; in one process the embedded default (origin `embedded`), or what follows from options that are set (`derived`)\n" +
		"2. the file given by `--config` (`file`)\n" +
		"3. the environment variable (`env`)\n" +
		"4. the plan: `settings`, and the keys `name` and `mode` (`plan`); options of jobs only\n" +
		"5. the command line: `-D option=value`, `--parallelism`, `--slots` (`flag`)")
	p.heading("Options of jobs")
	p.paragraph("They may stand under `settings` of a plan.")
	optionTables(p, config.Job)
	p.heading("Options of the cluster")
	p.paragraph("A process reads them before any plan, so they do not stand in a plan.")
	optionTables(p, config.Cluster)
	p.heading("Values")
	p.table([]string{"Type", "Written as"}, [][]string{
		{"integer", "decimal digits: `4`"},
		{"boolean", "`true` or `false`"},
		{"size", "a number of bytes, or one with a unit `b`, `kb`, `mb`, `gb`, `tb` of 1024 each: `16 mb`"},
		{"fraction", "a number from 0 to below 1: `0.4`"},
		{"duration", "a number of milliseconds, or one with a unit `ms`, `s`, `min`, `h`, `d`: `5 min`; or ISO 8601: `PT1M30S`"},
		{"enum", "one of the values listed"},
		{"text", "any text"},
	})
	return p.bytes()
}

func optionTables(p *page, scope config.Scope) {
	var all [][]string
	for _, o := range config.Options() {
		if o.Scope == scope {
			all = append(all, []string{"[" + code(o.Name) + "](#" + anchor(o.Name) + ")", defaultOf(o), cell(o.Doc)})
		}
	}
	p.table([]string{"Option", "Default", ""}, all)
	for _, o := range config.Options() {
		if o.Scope != scope {
			continue
		}
		p.printf("\n### `%s`\n\n%s\n", o.Name, cell(o.Doc))
		rows := [][]string{{"type", typeOf(o)}, {"default", defaultOf(o)}, {"environment", code(config.EnvName(o.Name))}}
		if o.Key != "" {
			rows = append(rows, []string{"key of the plan", code(o.Key)})
		}
		if o.Reader != "" {
			rows = append(rows, []string{"read by", o.Reader})
		}
		if len(o.Later) > 0 {
			rows = append(rows, []string{"not supported yet", codes(o.Later)})
		}
		p.table([]string{"", ""}, rows)
	}
}

func typeOf(o config.Option) string {
	var more []string
	if len(o.Allowed) > 0 {
		more = append(more, "one of "+codes(o.Allowed))
	}
	switch numeric := o.Type == config.Integer; {
	case numeric && o.Max > 0:
		more = append(more, fmt.Sprintf("%d to %d", o.Min, o.Max))
	case o.Min > 0:
		more = append(more, "at least "+amount(o.Type, o.Min))
	}
	return strings.Join(append([]string{string(o.Type)}, more...), ", ")
}

// amount writes a bound with the unit of its type.
func amount(t config.Type, n int64) string {
	switch t {
	case config.Size:
		return spec.FormatBytes(n)
	case config.Duration:
		return spec.FormatDuration(n)
	}
	return strconv.FormatInt(n, 10)
}

func defaultOf(o config.Option) string {
	if o.Default == "" {
		return "unset"
	}
	return code(o.Default)
}
