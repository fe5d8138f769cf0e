package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// wire is an envelope on the wire: the kind says which type the body has.
type wire struct {
	Version int             `json:"version"`
	From    Address         `json:"from"`
	To      Address         `json:"to"`
	Leader  string          `json:"leader"`
	Kind    string          `json:"kind"`
	Body    json.RawMessage `json:"body"`
}

// wireVersion changes when an old receiver could misread a new message.
const wireVersion = 1

// Encode makes bytes of an envelope.
func Encode(e Envelope) ([]byte, error) {
	kind := kindOf(e.Body)
	if kind == "" {
		return nil, fmt.Errorf("encoding a message from %s to %s: %T has no kind", e.From, e.To, e.Body)
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encoding %s from %s to %s: %w", kind, e.From, e.To, err)
	}
	b, err := json.Marshal(wire{Version: wireVersion, From: e.From, To: e.To, Leader: e.Leader, Kind: kind, Body: body})
	if err != nil {
		return nil, fmt.Errorf("encoding %s from %s to %s: %w", kind, e.From, e.To, err)
	}
	return b, nil
}

// Decode reads what Encode made. The error names the kind that is not known or cannot be read.
func Decode(b []byte) (Envelope, error) {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return Envelope{}, fmt.Errorf("decoding a message: %w", err)
	}
	if w.Version != wireVersion {
		return Envelope{}, fmt.Errorf("decoding a message from %s: version %d, this process speaks %d", w.From, w.Version, wireVersion)
	}
	body, err := decodeBody(w.Kind, w.Body)
	if err != nil {
		return Envelope{}, fmt.Errorf("decoding %q from %s to %s: %w", w.Kind, w.From, w.To, err)
	}
	return Envelope{From: w.From, To: w.To, Leader: w.Leader, Body: body}, nil
}

// kindOf names the type of a message; the names are the wire format and never change.
func kindOf(m Message) string {
	switch m.(type) {
	case DeployTask:
		return "DeployTask"
	case CancelTask:
		return "CancelTask"
	case AssignSplits:
		return "AssignSplits"
	case ReleasePartitions:
		return "ReleasePartitions"
	case RequestSplit:
		return "RequestSplit"
	case TaskUpdate:
		return "TaskUpdate"
	case TaskProgress:
		return "TaskProgress"
	case TriggerBarrier:
		return "TriggerBarrier"
	case AcknowledgeBarrier:
		return "AcknowledgeBarrier"
	}
	return controlKindOf(m)
}

func controlKindOf(m Message) string {
	switch m.(type) {
	case SubmitJob:
		return "SubmitJob"
	case SubmitResult:
		return "SubmitResult"
	case CancelJob:
		return "CancelJob"
	case ListJobs:
		return "ListJobs"
	case JobList:
		return "JobList"
	case JobStatus:
		return "JobStatus"
	case RegisterTaskManager:
		return "RegisterTaskManager"
	case TaskManagerRegistered:
		return "TaskManagerRegistered"
	case RegisterAgain:
		return "RegisterAgain"
	case Heartbeat:
		return "Heartbeat"
	case DeclareSlots:
		return "DeclareSlots"
	case SlotsGranted:
		return "SlotsGranted"
	case SlotsWanted:
		return "SlotsWanted"
	case ReleaseSlots:
		return "ReleaseSlots"
	case TaskManagerLost:
		return "TaskManagerLost"
	}
	return ""
}

// errUnknownKind says that a message has a kind that this process does not know.
var errUnknownKind = errors.New("the kind is not known")

// decodeBody reads a body of a kind.
func decodeBody(kind string, b json.RawMessage) (Message, error) {
	switch kind {
	case "DeployTask":
		return decodeAs[DeployTask](b)
	case "CancelTask":
		return decodeAs[CancelTask](b)
	case "AssignSplits":
		return decodeAs[AssignSplits](b)
	case "ReleasePartitions":
		return decodeAs[ReleasePartitions](b)
	case "RequestSplit":
		return decodeAs[RequestSplit](b)
	case "TaskUpdate":
		return decodeAs[TaskUpdate](b)
	case "TaskProgress":
		return decodeAs[TaskProgress](b)
	case "TriggerBarrier":
		return decodeAs[TriggerBarrier](b)
	case "AcknowledgeBarrier":
		return decodeAs[AcknowledgeBarrier](b)
	}
	return decodeControl(kind, b)
}

func decodeControl(kind string, b json.RawMessage) (Message, error) {
	switch kind {
	case "SubmitJob":
		return decodeAs[SubmitJob](b)
	case "SubmitResult":
		return decodeAs[SubmitResult](b)
	case "CancelJob":
		return decodeAs[CancelJob](b)
	case "ListJobs":
		return decodeAs[ListJobs](b)
	case "JobList":
		return decodeAs[JobList](b)
	case "JobStatus":
		return decodeAs[JobStatus](b)
	case "RegisterTaskManager":
		return decodeAs[RegisterTaskManager](b)
	case "TaskManagerRegistered":
		return decodeAs[TaskManagerRegistered](b)
	case "RegisterAgain":
		return decodeAs[RegisterAgain](b)
	case "Heartbeat":
		return decodeAs[Heartbeat](b)
	case "DeclareSlots":
		return decodeAs[DeclareSlots](b)
	case "SlotsGranted":
		return decodeAs[SlotsGranted](b)
	case "SlotsWanted":
		return decodeAs[SlotsWanted](b)
	case "ReleaseSlots":
		return decodeAs[ReleaseSlots](b)
	case "TaskManagerLost":
		return decodeAs[TaskManagerLost](b)
	}
	return nil, errUnknownKind
}

func decodeAs[M Message](b json.RawMessage) (Message, error) {
	var m M
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	return m, nil
}
