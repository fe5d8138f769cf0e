package diagnose

import (
	"encoding/json"
	"io"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
)

// A view is a failure as `--format json` prints it: absent strings are null, not empty, so that a
// program can tell "not said" from "said to be empty".
type view struct {
	Input              *string     `json:"input,omitempty"`
	Headline           *string     `json:"headline"`
	RootCause          *causeView  `json:"rootCause"`
	Chain              []causeView `json:"chain"`
	RestartStrategy    *string     `json:"restartStrategy"`
	RecoverySuppressed bool        `json:"recoverySuppressed"`
	Task               *string     `json:"task"`
	TaskManager        *string     `json:"taskManager"`
	Category           *string     `json:"category"`
	Form               *string     `json:"form"`
	RootIndex          *int        `json:"rootIndex"`
	Frame              *string     `json:"frame"`

	Rule       *string          `json:"rule"`
	Confidence float64          `json:"confidence"`
	Restart    *failure.Restart `json:"restart"`
	Place      *placeView       `json:"place"`
	Sentence   *string          `json:"sentence"`
	Advice     *string          `json:"advice"`
	Concurrent []view           `json:"concurrent"`
	Others     []view           `json:"others,omitempty"`
}

type causeView struct {
	Class   string  `json:"class"`
	Message *string `json:"message"`

	// Only causes of ours carry these beside class and message.
	Frame       *string `json:"frame,omitempty"`
	Operator    string  `json:"operator,omitempty"`
	Task        string  `json:"task,omitempty"`
	TaskManager string  `json:"taskManager,omitempty"`
	File        string  `json:"file,omitempty"`
	Line        int64   `json:"line,omitempty"`
	Column      int64   `json:"column,omitempty"`
	Field       string  `json:"field,omitempty"`
	Value       string  `json:"value,omitempty"`
	Expression  string  `json:"expression,omitempty"`
}

// A placeView says where the datum at fault stands.
type placeView struct {
	File       *string `json:"file"`
	Line       *int64  `json:"line"`
	Column     *int64  `json:"column"`
	Operator   *string `json:"operator"`
	Field      *string `json:"field"`
	Value      *string `json:"value"`
	Expression *string `json:"expression"`
}

// WriteJSON writes what a result says as one JSON object, followed by a line end. Input names where
// it came from and may be empty.
func WriteJSON(w io.Writer, input string, r failure.Result) error {
	v := view{Chain: []causeView{}, Concurrent: []view{}, Form: text(r.Form)}
	if r.Failure != nil {
		v = viewOf(*r.Failure, r.Own)
		if v.Form == nil {
			v.Form = text(r.Form)
		}
		for _, other := range r.Others {
			v.Others = append(v.Others, viewOf(other, r.Own))
		}
	}
	v.Input = text(input)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func viewOf(f failure.Failure, own bool) view {
	v := view{
		Headline: text(f.Headline), Chain: []causeView{}, RestartStrategy: text(f.RestartStrategy),
		RecoverySuppressed: f.RecoverySuppressed, Task: text(f.Task), TaskManager: text(f.TaskManager),
		Category: text(f.Category), Form: text(f.Form), Rule: text(f.Rule), Confidence: f.Confidence,
		Concurrent: []view{},
	}
	if f.Restart != (failure.Restart{}) {
		v.Restart = &f.Restart
	}
	for _, c := range f.Chain {
		v.Chain = append(v.Chain, viewCause(c, own))
	}
	for _, c := range f.Concurrent {
		v.Concurrent = append(v.Concurrent, viewOf(c, own))
	}
	if f.RootCause == nil {
		return v
	}
	root := viewCause(*f.RootCause, own)
	v.RootCause = &root
	if f.RootIndex >= 0 {
		v.RootIndex = &f.RootIndex
	}
	v.Frame = text(f.RootCause.Frame)
	v.Place = viewPlace(*f.RootCause)
	v.Sentence = text(Sentence(f))
	v.Advice = text(Advice(f))
	return v
}

func viewCause(c failure.Cause, own bool) causeView {
	v := causeView{Class: c.Class, Message: text(c.Message)}
	if own {
		v.Frame = text(c.Frame)
		v.Operator, v.Task, v.TaskManager = c.Operator, c.Task, c.TaskManager
		v.File, v.Line, v.Column = c.File, c.Line, c.Column
		v.Field, v.Value, v.Expression = c.Field, c.Value, c.Expression
	}
	return v
}

func viewPlace(c failure.Cause) *placeView {
	if failure.PlaceText(c) == "" {
		return nil
	}
	return &placeView{
		File: text(c.File), Line: number(c.Line), Column: number(c.Column), Operator: text(c.Operator),
		Field: text(c.Field), Value: text(c.Value), Expression: text(c.Expression),
	}
}

// text is nil for what is not said.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
