package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/config"
)

func memoryCommand() *cobra.Command {
	var options []string
	var file, process, format string
	c := &cobra.Command{
		Use:   "memory",
		Short: "Show what becomes of the memory a process is given, by Flink's memory model",
		Long: "Divides the memory of a TaskManager or a JobManager as Flink does, to the byte, and says of each part where its\n" +
			"number comes from and what it stands for here. Set at least a total: -D taskmanager.memory.process.size=4g.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringArrayVarP(&options, "option", "D", nil, "set an option, `option=value`; may be repeated")
	c.Flags().StringVar(&file, "config", "", "process options, a YAML `file`")
	c.Flags().StringVar(&process, "process", "taskmanager", "`taskmanager` or jobmanager")
	c.Flags().StringVar(&format, "format", "text", "`text` or json")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if format != "text" && format != "json" {
			return fmt.Errorf("--format %s: expected text or json", format)
		}
		o, err := processOptions(options, file, true)
		if err != nil {
			return err
		}
		var b config.MemoryBudget
		switch process {
		case "taskmanager":
			b, err = config.TaskManagerMemory(o.MemorySettings())
		case "jobmanager":
			b, err = config.JobManagerMemory(o.MemorySettings())
		default:
			return fmt.Errorf("--process %s: expected taskmanager or jobmanager", process)
		}
		var fault *config.MemoryError
		if errors.As(err, &fault) && strings.Contains(fault.Text, "need to be configured explicitly") {
			fmt.Fprintf(os.Stderr, "no total is set: try -D %s.memory.process.size=1728m; an embedded run needs none, its budget is %s\n", process, config.ManagedMemory)
		}
		if err != nil {
			return err
		}
		if format == "json" {
			return printJSON(c.OutOrStdout(), memoryReport(b, o))
		}
		return printMemory(c.OutOrStdout(), memoryReport(b, o))
	}
	return c
}

// processOptions loads the options of a process, without a plan.
func processOptions(options []string, file string, budget bool) (config.Loaded, error) {
	in := config.LoadInput{Embedded: true, CPUs: runtime.GOMAXPROCS(0), Env: os.Environ(), Budget: budget}
	var err error
	if in.Flags, err = pairs("-D", options); err != nil {
		return config.Loaded{}, err
	}
	if file != "" {
		if in.File, in.Root, err = readOptions(file); err != nil {
			return config.Loaded{}, err
		}
	}
	return config.Load(in)
}

// A memoryView is a budget with what a slot gets of it.
type memoryView struct {
	config.MemoryBudget
	Slots               int    `json:"slots,omitempty"`
	ManagedBytesPerSlot *int64 `json:"managedBytesPerSlot,omitempty"`
}

// memoryReport adds to each part that is set the place it is set at, and what a slot gets.
func memoryReport(b config.MemoryBudget, o config.Loaded) memoryView {
	for i, p := range b.Parts {
		if s := o.Get(p.Option); p.Origin == config.MemorySet && s.Where != "" {
			b.Parts[i].How += " (" + s.Where + ")"
		}
	}
	v := memoryView{MemoryBudget: b}
	if slots := o.Int(config.TaskSlots); b.Process == "taskmanager" && slots > 0 {
		each := b.Bytes(config.Managed) / int64(slots)
		v.Slots, v.ManagedBytesPerSlot = slots, &each
	}
	return v
}

func printMemory(w io.Writer, v memoryView) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "COMPONENT\tSIZE\tBYTES\tWHERE FROM")
	for _, p := range v.Parts {
		how := p.How
		if p.Origin == config.MemoryDerived {
			how = "derived: " + how
		}
		fmt.Fprintf(t, "%s%s\t%s\t%d\t%s\n", strings.Repeat("  ", p.Level), p.Name, config.Readable(p.Bytes), p.Bytes, how)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "COMPONENT\tWHAT IT IS HERE")
	for _, p := range v.Parts {
		fmt.Fprintf(t, "%s\t%s\n", p.Name, p.Here)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the budget: %w", err)
	}
	var b strings.Builder
	b.WriteByte('\n')
	if v.ManagedBytesPerSlot != nil {
		fmt.Fprintf(&b, "%d slots: each has %s of managed memory, the one thing that a slot divides.\n", v.Slots, config.Readable(*v.ManagedBytesPerSlot))
	}
	for _, n := range v.Notes {
		fmt.Fprintln(&b, "note:", n)
	}
	fmt.Fprintln(&b, v.Answer)
	_, err := io.WriteString(w, b.String())
	return err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
