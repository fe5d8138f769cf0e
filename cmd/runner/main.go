// Command runner runs, checks and explains plans.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/runner"
)

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitPlan      = 2 // plan, command line or validation
	exitNoSlots   = 4
	exitCancelled = 130
)

// An exit ends the program with a code; its message, if any, was printed where it arose.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func main() {
	started := time.Now()
	tuneGC()
	// A reader that goes away (`| head`) is an error of the sink that writes, not the end of the process.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { // the second Ctrl-C ends the process at once
		<-ctx.Done()
		stop()
	}()
	root := rootCommand(started)
	err := root.ExecuteContext(ctx)
	os.Exit(codeOf(err))
}

// codeOf prints an error that nobody has printed yet, and gives the exit code.
func codeOf(err error) int {
	var e exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		if e.err != nil {
			fmt.Fprintln(os.Stderr, "runner:", e.err)
		}
		return e.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "runner: cancelled")
		return exitCancelled
	}
	fmt.Fprintln(os.Stderr, "runner:", err)
	return exitPlan
}

func rootCommand(started time.Time) *cobra.Command {
	root := &cobra.Command{
		Use:           "runner",
		Short:         "Runs declarative batch and streaming plans on Flink's model, and says why",
		Version:       runner.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(runCommand(started), replayCommand(started), validateCommand(), explainCommand(), inspectCommand(), doctorCommand(), diagnoseCommand(), memoryCommand(), optionsCommand(), reportCommand(), compareCommand(), docsCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}
