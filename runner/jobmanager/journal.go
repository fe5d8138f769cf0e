package jobmanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/store"
)

// An intent is what a run is about to publish. It is written beside every target before the first is
// touched, so that a run that dies between two sinks is finished by the next one.
type intent struct {
	Version int          `json:"version"`
	Run     string       `json:"run"`
	Process string       `json:"process"`
	Sinks   []intentSink `json:"sinks"`
	Copies  []string     `json:"copies"` // all places it was written to
}

type intentSink struct {
	Component    string                   `json:"component"`
	State        []byte                   `json:"state"`
	Schema       expr.Schema              `json:"schema"`
	Committables []connectors.Committable `json:"committables"`
}

const (
	intentVersion = 1
	intentPrefix  = ".runner-intent-"
)

func intentOf(c jobmaster.Commit) *intent {
	in := &intent{Version: intentVersion, Run: c.Run, Process: files.Process()}
	for _, s := range c.Sinks {
		in.Sinks = append(in.Sinks, intentSink{
			Component: s.Operator.Component, State: s.Operator.Sink.Bound.State, Schema: s.Operator.In[0], Committables: s.Committables,
		})
		for _, t := range s.Operator.Sink.Bound.Targets {
			path := filepath.Join(filepath.Dir(t), intentPrefix+c.Run+".json")
			if !slices.Contains(in.Copies, path) {
				in.Copies = append(in.Copies, path)
			}
		}
	}
	return in
}

// write makes the intent durable. One sink alone is published in one step, so it needs none.
func (in *intent) write() error {
	if len(in.Sinks) < 2 {
		return nil
	}
	b, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("writing down what is to be published: %w", err)
	}
	for _, path := range in.Copies {
		if err := store.WriteFile(path, b); err != nil {
			return fmt.Errorf("writing down what is to be published: %w", err)
		}
	}
	return nil
}

func (in *intent) remove() error {
	if len(in.Sinks) < 2 {
		return nil
	}
	var errs []error
	for _, path := range in.Copies {
		errs = append(errs, store.Remove(path))
	}
	return errors.Join(errs...)
}

// RollForward finishes what runs that died while publishing had begun beside the given targets. It says
// what it finished, and what it could not finish and why: that is no reason to stop a run that may have
// nothing to do with it.
func RollForward(ctx context.Context, cat connectors.Catalog, targets []string) (notes []string) {
	seen := map[string]bool{}
	for _, t := range targets {
		dir := filepath.Dir(t)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		store.Sweep(dir)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a folder that is not there, or cannot be read, holds nothing of ours to finish
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), intentPrefix) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			var run string
			err := guarded(func() (err error) {
				run, err = rollForward(ctx, cat, path)
				return err
			})
			switch {
			case err != nil:
				notes = append(notes, fmt.Sprintf("an earlier run died while publishing and cannot be finished: %v; remove %s to give its output up", err, files.Display(path)))
			case run != "":
				notes = append(notes, "finished publishing what run "+run+" had left half published")
			}
		}
	}
	return notes
}

func rollForward(ctx context.Context, cat connectors.Catalog, path string) (string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil // a copy of one that was just finished
	}
	if err != nil {
		return "", fmt.Errorf("reading what an earlier run was publishing: %w", err)
	}
	in := &intent{}
	if err := json.Unmarshal(b, in); err != nil || in.Version != intentVersion {
		return "", fmt.Errorf("%s was written by another version of runner", files.Display(path))
	}
	if !files.ProcessEnded(in.Process) {
		return "", nil // it is still at work
	}
	for _, s := range in.Sinks {
		c := cat[s.Component]
		if c == nil {
			return "", fmt.Errorf("finishing run %s: there is no sink %s", in.Run, s.Component)
		}
		if _, err := commitSink(ctx, c, s.State, s.Schema, in.Run, s.Committables); err != nil {
			return "", fmt.Errorf("run %s: %w", in.Run, err)
		}
	}
	return in.Run, in.remove()
}

func commitSink(ctx context.Context, c connectors.Component, state []byte, schema expr.Schema, run string, all []connectors.Committable) ([]string, error) {
	s, err := c.OpenSink(state, schema)
	if err != nil {
		return nil, err
	}
	k, err := s.Committer()
	if err != nil {
		return nil, err
	}
	return k.Commit(ctx, run, 0, all)
}
