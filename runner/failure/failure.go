// Package failure holds failure chains: how a failed run of ours is described, how the failure
// texts of an Apache Flink job are read into the same structure, and the restart strategies.
//
// Everything here is pure: no goroutine, clock, lock, global random source or I/O.
package failure

// A Failure says why a run stopped: the chain of causes, outermost first, and which of them is to be
// fixed.
type Failure struct {
	Headline           string    `json:"headline"`           // the outermost message
	Chain              []Cause   `json:"chain"`              // outermost first
	RootIndex          int       `json:"rootIndex"`          // place of RootCause in Chain; -1 where it was unwrapped from a message
	RootCause          *Cause    `json:"rootCause"`          // what to fix; nil where nothing failed
	RestartStrategy    string    `json:"restartStrategy"`    // "none" or "fixed-delay" for ours, the class name for Flink's
	RecoverySuppressed bool      `json:"recoverySuppressed"` // the restart strategy refused another attempt
	Restart            Restart   `json:"restart"`
	Task               string    `json:"task"`        // "Source: orders[1] -> Calc[2] (1/2)"
	TaskManager        string    `json:"taskManager"` // id of the TaskManager concerned
	Category           string    `json:"category"`    // "user-code/data", "config", "resources", …
	Form               string    `json:"form,omitempty"`
	Rule               string    `json:"rule,omitempty"`
	Confidence         float64   `json:"confidence,omitempty"`
	Concurrent         []Failure `json:"concurrent"` // failures of other tasks at the same time
}

// A Restart says what the restart strategy did with the failure.
type Restart struct {
	Attempts  int    `json:"attempts"`  // restarts made before this failure
	Recovered bool   `json:"recovered"` // the run went on after it
	Text      string `json:"text"`      // Flink's sentence, "Recovery is suppressed by NoRestartBackoffTimeStrategy"
}

// A Cause is one element of a failure chain. File, Line, Column, Field, Value and Expression say
// which datum was at fault; they are zero where the cause is not about data.
type Cause struct {
	Class       string `json:"class"` // a [Class] of ours, or the full Java class name of Flink's
	Message     string `json:"message"`
	Frame       string `json:"frame"` // first stack frame below the message, Flink's only
	Operator    string `json:"operator,omitempty"`
	Task        string `json:"task,omitempty"`
	TaskManager string `json:"taskManager,omitempty"`
	File        string `json:"file,omitempty"`
	Line        int64  `json:"line,omitempty"`   // from 1; the header of a CSV file is line 1
	Column      int64  `json:"column,omitempty"` // from 1, the field's place in its record
	Field       string `json:"field,omitempty"`  // column name
	Value       string `json:"value,omitempty"`
	Expression  string `json:"expression,omitempty"`
}
