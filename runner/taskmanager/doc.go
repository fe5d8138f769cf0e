// Package taskmanager runs tasks in slots: each task is one goroutine that pulls batches from a source
// or from the results of other tasks through a chain of operators into results or a sink.
//
// It is the side of the runtime that does things. What is done where and when the JobMaster decides;
// the two talk in the messages of package rpc alone.
package taskmanager
