package failure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestZZ(t *testing.T) {
	paths, _ := filepath.Glob(os.Getenv("ZZ"))
	for _, p := range paths {
		raw, _ := os.ReadFile(p)
		r, err := Parse(bytes.NewReader(raw))
		fmt.Println("==", filepath.Base(p), err, r.Form)
		if r.Failure == nil {
			fmt.Println("  none")
			continue
		}
		f := r.Failure
		fmt.Printf("  H=%q\n  root=[%d] %s: %q frame=%s\n  strategy=%q sup=%v restart=%+v\n  task=%q tm=%q cat=%s form=%s rule=%s conf=%v conc=%d others=%d\n", f.Headline, f.RootIndex, f.RootCause.Class, f.RootCause.Message, f.RootCause.Frame, f.RestartStrategy, f.RecoverySuppressed, f.Restart, f.Task, f.TaskManager, f.Category, f.Form, f.Rule, f.Confidence, len(f.Concurrent), len(r.Others))
		rc := f.RootCause
		if rc.Line > 0 || rc.File != "" || rc.Field != "" || rc.Value != "" {
			fmt.Printf("  place file=%q %d:%d field=%q value=%q\n", rc.File, rc.Line, rc.Column, rc.Field, rc.Value)
		}
		for _, c := range f.Chain {
			fmt.Printf("    - %s: %.80q\n", c.Class, c.Message)
		}
		for _, o := range r.Others {
			fmt.Printf("    other %s %s: %.60q task=%s\n", o.Form, o.RootCause.Class, o.RootCause.Message, o.Task)
		}
		for _, o := range f.Concurrent {
			fmt.Printf("    conc %s: %.60q task=%s\n", o.RootCause.Class, o.RootCause.Message, o.Task)
		}
	}
}
