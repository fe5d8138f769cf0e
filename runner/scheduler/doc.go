// Package scheduler decides: the parallelism of vertices with its reasons, which slot a subtask gets, what
// restarts together, who reads which split and which subpartitions. It is pure.
package scheduler
