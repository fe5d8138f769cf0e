package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

const endlessPlan = `
name: endless
mode: streaming
sources:
  ticks:
    datagen:
      columns: {id: BIGINT, ts: TIMESTAMP(3), key: INT}
      fields: {id: {kind: sequence}, ts: {kind: event_time, disorder: 1 s}, key: {min: 1, max: 5}}
      rows_per_second: 2000
    watermark: {column: ts, delay: 1 s}
transforms:
  even: {from: ticks, where: "MOD(id, 2) = 0"}
sinks:
  out: {from: even, print: {format: csv}}
`

const longPlan = `
name: long
mode: streaming
sources:
  ticks:
    datagen: {columns: {id: BIGINT}, fields: {id: {kind: sequence}}, rows_per_second: 2000, number_of_rows: 1000000000}
sinks:
  out: {from: ticks, print: {format: csv}}
  file: {from: ticks, csv: {path: out/ticks.csv, mode: overwrite}}
  parts: {from: ticks, parquet: {path: out/parts}}
`

// TestInterruptStream stops streams by Ctrl-C once they print: what was printed stays, what was staged goes,
// and what was there before is as it was.
func TestInterruptStream(t *testing.T) {
	for name, plan := range map[string]string{"endless": endlessPlan, "long": longPlan} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "plan.yaml", plan)
			if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir, "out/ticks.csv", "as it was\n")
			c := command(t, dir, "run", "plan.yaml", "--report", "report.json")
			var stderr bytes.Buffer
			c.Stderr = &stderr
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			lines := 0
			for s := bufio.NewScanner(out); s.Scan(); lines++ {
				if lines != 100 {
					continue
				}
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
			var failed *exec.ExitError
			if err := c.Wait(); !errors.As(err, &failed) || failed.ExitCode() != exitCancelled {
				t.Fatalf("it ends with %v after %d lines\n%s", err, lines, stderr.String())
			}
			b, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil || !strings.Contains(string(b), `"state": "CANCELED"`) {
				t.Errorf("%v\n%s", err, b)
			}
			// The header is no row.
			said := fmt.Sprintf("%s had been shown by sink out, which cannot be taken back; nothing else was published.", report.Rows(int64(lines-1)))
			if !strings.Contains(string(b), said) || !strings.Contains(stderr.String(), said) {
				t.Errorf("nothing says %q:\n%s", said, stderr.String())
			}
			entries, err := os.ReadDir(filepath.Join(dir, "out"))
			if err != nil || len(entries) != 1 {
				t.Errorf("%v: left in the folder of results: %v", err, entries)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "out/ticks.csv")); err != nil || string(b) != "as it was\n" {
				t.Errorf("%v: %s", err, b)
			}
		})
	}
}
