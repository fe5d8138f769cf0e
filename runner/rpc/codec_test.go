package rpc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
)

// TestRoundTrip sends every kind of message, its fields filled, through the codec.
func TestRoundTrip(t *testing.T) {
	for _, m := range samples() {
		e := Envelope{From: "a", To: TaskManager("b"), Leader: "l", Body: m}
		b, err := Encode(e)
		if err != nil {
			t.Errorf("%T: %v", m, err)
			continue
		}
		got, err := Decode(b)
		if err != nil {
			t.Errorf("%T: %v", m, err)
			continue
		}
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%T: %+v became %+v", m, e, got)
		}
	}
}

func samples() []Message {
	id := TaskID{Job: "j", Vertex: "v", Subtask: 3, Attempt: 2}
	slot := SlotID{TaskManager: "tm", Index: 4}
	result := exchange.ResultID{Job: "j", Edge: "e", Producer: 1, Attempt: 5}
	split := connectors.Split{ID: "s", Order: [2]int64{1, 2}, Bytes: 3, Rows: 4, State: []byte{5}}
	return []Message{
		DeployTask{Task: id, Slot: slot, Name: "n", Parallelism: 4, MaxParallelism: 8, Run: "r",
			Inputs: []InputGate{{Channels: []InputEdge{{Edge: "e", From: []exchange.ResultID{result}, Lo: 1, Hi: 2, Blocking: true}}}}},
		CancelTask{Task: id}, AssignSplits{Task: id, Splits: []connectors.Split{split}, NoMore: true},
		ReleasePartitions{Results: []exchange.ResultID{result}}, RequestSplit{Task: id, Done: []string{"s"}},
		TaskUpdate{Task: id, State: Failed, Failure: &TaskFailure{
			Causes: []failure.Cause{{Class: "CastError", Message: "m", Line: 4}}, HasOrder: true, Order: [3]int64{1, 1 << 60, 3}, Lost: &result, Fatal: true,
		}, Results: []ResultInfo{{ID: result, Bytes: []int64{1}, Rows: []int64{2}}}, Committables: []connectors.Committable{{State: []byte("x"), Rows: 1}}},
		TaskProgress{Tasks: []TaskMetricsOf{{Task: id, Metrics: TaskMetrics{RecordsIn: 1, Operators: []OperatorBooks{{In: 1}},
			TryCasts: []TryCast{{Operator: 1, TryCast: expr.TryCast{Expression: "TRY_CAST(a AS INT)", Reason: "empty", Rows: 2}}}}}}},
		SubmitJob{Job: "j", Run: "r"}, SubmitResult{Job: "j", Refused: "no"}, CancelJob{Job: "j"}, ListJobs{Job: "j"},
		JobList{Jobs: []JobStatus{{Job: "j"}}},
		JobStatus{Job: "j", State: JobFailed, StartMs: 1, AtMs: 2, Failure: &failure.Failure{Headline: "h"}},
		RegisterTaskManager{ID: "tm", Slots: 2, ManagedBytes: 1 << 40}, TaskManagerRegistered{ID: "tm", HeartbeatIntervalMs: 1, HeartbeatTimeoutMs: 2},
		RegisterAgain{ID: "tm"}, Heartbeat{TaskManager: "tm"}, DeclareSlots{Job: "j", Needed: 3},
		SlotsGranted{Job: "j", Slots: []SlotID{slot}, Total: 9}, SlotsWanted{Job: "j", Share: 2}, ReleaseSlots{Job: "j", Slots: []SlotID{slot}},
		TaskManagerLost{TaskManager: "tm", Reason: "r"}, TriggerBarrier{Task: id, Barrier: 7}, AcknowledgeBarrier{Task: id, Barrier: 7, AlignedMs: 8},
	}
}

// TestEveryMessageHasAKind holds that TestRoundTrip sends every message type of the package, and that no
// two share a kind.
func TestEveryMessageHasAKind(t *testing.T) {
	sampled := map[string]bool{}
	for _, m := range samples() {
		name := kindOf(m)
		if name == "" || sampled[name] {
			t.Errorf("%T: kind %q is empty or twice there", m, name)
		}
		sampled[name] = true
	}
	types := messageTypes(t)
	for _, name := range types {
		if !sampled[name] {
			t.Errorf("%s is not sent through the codec by a test, or its kind is not its name", name)
		}
	}
	if len(types) != len(sampled) {
		t.Errorf("%d message types, %d kinds", len(types), len(sampled))
	}
}

// messageTypes reads the package's source for the receivers of message().
func messageTypes(t *testing.T) []string {
	var names []string
	files, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range files {
		ast.Inspect(p, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "message" {
				names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
			return true
		})
	}
	return names
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:  "decoding a message",
		`{`: "decoding a message",
		`{"version":9,"from":"x","kind":"Heartbeat","body":{}}`:                         "version 9",
		`{"version":1,"from":"x","kind":"Gossip","body":{}}`:                            `decoding "Gossip" from x to : the kind is not known`,
		`{"version":1,"from":"x","to":"y","kind":"Heartbeat","body":{"taskManager":7}}`: `decoding "Heartbeat" from x to y`,
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Encode(Envelope{}); err == nil {
		t.Error("an envelope without a body is encoded")
	}
}

// FuzzDecode holds that no bytes panic, and that what is read can be written again.
func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		b, err := Encode(Envelope{From: "a", To: "b", Leader: "l", Body: m})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err != nil {
			return
		}
		if _, err := Encode(e); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	})
}
