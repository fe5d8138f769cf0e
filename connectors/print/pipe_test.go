package print

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

// TestBrokenPipe holds that a reader of the output who has gone is a failure of the sink, and no broken
// connection of the job.
func TestBrokenPipe(t *testing.T) {
	p := &printer{out: closedPipe{}}
	_, err := p.Write([]byte("a\n"))
	var e *files.Error
	if !errors.As(err, &e) || e.Class() != files.SinkError || errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v", err)
	}
}
