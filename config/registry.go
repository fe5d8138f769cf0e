// Package config holds the options of the processes and of jobs: their names, types, defaults and
// scope, and loads their values from all places they may stand in, each with its source.
//
// Names, defaults and units are Flink's. An option that Flink lacks starts with "runner.".
package config

import (
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// Scope says who reads an option.
type Scope string

// The scopes. A job option may stand in a plan; a cluster option is read by the processes before
// any plan is, so it may not. The embedded runner takes both from flags, file and environment.
const (
	Job     Scope = "job"
	Cluster Scope = "cluster"
)

// Type is the form of an option's value.
type Type string

// The types.
const (
	Integer  Type = "integer"
	Boolean  Type = "boolean"
	Size     Type = "size"     // bytes, "4 mb"
	Duration Type = "duration" // milliseconds, "500 ms"
	Fraction Type = "fraction" // from 0 to below 1
	Enum     Type = "enum"     // one of Allowed
	Zone     Type = "zone"     // a time zone
	Text     Type = "text"
)

// The options.
const (
	ParallelismDefault = "parallelism.default"
	AutoEnabled        = "execution.batch.adaptive.auto-parallelism.enabled"
	AutoMin            = "execution.batch.adaptive.auto-parallelism.min-parallelism"
	AutoMax            = "execution.batch.adaptive.auto-parallelism.max-parallelism"
	AutoAvgVolume      = "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task"
	AutoDefaultSource  = "execution.batch.adaptive.auto-parallelism.default-source-parallelism"
	RuntimeMode        = "execution.runtime-mode"
	Target             = "execution.target"
	PipelineName       = "pipeline.name"
	LocalTimeZone      = "table.local-time-zone"
	TaskSlots          = "taskmanager.numberOfTaskSlots"
	ManagedMemory      = "taskmanager.memory.managed.size"
	SlotRequestTimeout = "slot.request.timeout"
	RestartStrategy    = "restart-strategy.type"
	FixedDelayAttempts = "restart-strategy.fixed-delay.attempts"
	FixedDelayDelay    = "restart-strategy.fixed-delay.delay"
	SplitSize          = "runner.source.split-size"
	BatchRows          = "runner.batch.rows"
	SlotSharing        = "runner.slot-sharing"
	WatermarkInterval  = "pipeline.auto-watermark-interval"
	BufferTimeout      = "execution.buffer-timeout.interval"
	BarrierInterval    = "runner.streaming.barrier-interval"
	SettleTimeout      = "runner.streaming.settle-timeout"
	SegmentSize        = "taskmanager.memory.segment-size"
	ChannelBuffers     = "taskmanager.network.memory.buffers-per-channel"
	GateBuffers        = "taskmanager.network.memory.floating-buffers-per-gate"
	ReportDir          = "runner.report.dir"
	RejectsJournal     = "runner.rejects.journal"
	CancelTimeout      = "task.cancellation.timeout"
)

const (
	maxOptionInteger    = 1 << 31
	maxParallelismValue = 32768 // Flink's largest number of key groups
)

// An Option declares one option.
type Option struct {
	Name    string
	Type    Type
	Default string // "" where unset has a meaning of its own, told in Doc
	Scope   Scope
	Doc     string
	Allowed []string // of an Enum
	Later   []string // values that are known and not supported yet
	Min     int64    // of numbers, sizes and durations
	Max     int64    // of numbers; 0: no limit of its own
	Key     string   // the key of a plan that says the same: "mode"
	Reader  string   // of a cluster option: the process that reads it
}

// A Registry is a list of options in the order of the reference page.
type Registry []Option

// Options is the registry of all options.
func Options() Registry {
	return slices.Concat(jobOptions(), streamOptions(), restartOptions(), clusterOptions(), exchangeOptions(), memoryOptions())
}

func jobOptions() Registry {
	return Registry{
		{Name: ParallelismDefault, Type: Integer, Default: "1", Scope: Job, Min: 1, Max: maxParallelismValue,
			Doc: "Upper bound of every vertex that has none of its own. Embedded and unset: the number of slots."},
		{Name: AutoEnabled, Type: Boolean, Default: "true", Scope: Job,
			Doc: "Whether the parallelism of a vertex follows its data; otherwise it is parallelism.default."},
		{Name: AutoMin, Type: Integer, Default: "1", Scope: Job, Min: 1, Max: maxParallelismValue,
			Doc: "Lower bound of what is decided for vertices behind an exchange."},
		{Name: AutoMax, Type: Integer, Scope: Job, Min: 1, Max: maxParallelismValue,
			Doc: "Upper bound of what is decided. Unset: parallelism.default."},
		{Name: AutoAvgVolume, Type: Size, Default: "16 mb", Scope: Job, Min: 1,
			Doc: "How much data one subtask is meant to take."},
		{Name: AutoDefaultSource, Type: Integer, Scope: Job, Min: 1, Max: maxParallelismValue,
			Doc: "Upper bound of what is decided for sources. Unset: the bound of the other vertices."},
		{Name: RuntimeMode, Type: Enum, Default: "batch", Scope: Job, Allowed: []string{"batch", "streaming"}, Later: []string{"automatic"}, Key: "mode",
			Doc: "How the job runs; the plan's key mode says the same. batch: vertex after vertex, each sized by its data. streaming: all vertices at once, rows flow between them, and each has parallelism.default subtasks."},
		{Name: PipelineName, Type: Text, Scope: Job, Key: "name",
			Doc: "The name of the job; the plan's key name says the same."},
		{Name: LocalTimeZone, Type: Zone, Default: "UTC", Scope: Job,
			Doc: "The session's time zone, which shows a TIMESTAMP_LTZ as a local time: a name such as Europe/Berlin, or an offset such as +01:00. The machine's zone changes nothing."},
		{Name: SlotRequestTimeout, Type: Duration, Default: "5 min", Scope: Job, Min: 1,
			Doc: "How long a job waits for slots before it fails."},
		{Name: SplitSize, Type: Size, Default: "4 mb", Scope: Job, Min: 1,
			Doc: "Splittable files are cut into pieces of at most this size, which are handed out on request."},
		{Name: BatchRows, Type: Integer, Default: "16384", Scope: Job, Min: 1, Max: 1 << 20,
			Doc: "Most rows of a batch."},
		{Name: SlotSharing, Type: Boolean, Default: "true", Scope: Job,
			Doc: "Whether subtasks of different vertices share a slot. false: every vertex is a slot sharing group of its own. A node's slot_sharing_group sets nodes apart."},
		{Name: RejectsJournal, Type: Boolean, Default: "true", Scope: Job,
			Doc: "Whether the rows that on_error: skip leaves out are kept in a file beside the report, where they stand and their texts, for runner replay to read. It has about the size of these texts, packed."},
	}
}

// streamOptions are those of jobs in mode streaming.
func streamOptions() Registry {
	return Registry{
		{Name: WatermarkInterval, Type: Duration, Default: "200 ms", Scope: Job, Min: 1,
			Doc: "How often the sources of a stream give watermarks while they read; a source that waits for rows gives its watermark at once."},
		{Name: BufferTimeout, Type: Duration, Default: "100 ms", Scope: Job,
			Doc: "How long rows of a stream wait at most for a batch to be full before they go on, while the task that holds them has others to read; otherwise they go on at once."},
		{Name: BarrierInterval, Type: Duration, Scope: Job, Min: 1,
			Doc: "How often barriers go through a stream. They align at every task and have partial aggregates given on, and the report counts them; they store nothing: a job cannot start again from one. Unset: none."},
		{Name: SettleTimeout, Type: Duration, Default: "10 s", Scope: Job,
			Doc: "How long a stream with a row that fails goes on, without publishing anything, to see whether another row before it fails: the root cause then does not depend on who was faster. 0: it fails at once. A stream whose sources never end always does."},
	}
}

// exchangeOptions bound what waits between the tasks of a stream.
func exchangeOptions() Registry {
	return Registry{
		{Name: SegmentSize, Type: Size, Default: "32 kb", Scope: Cluster, Min: 1, Reader: "the TaskManager",
			Doc: "Size of a buffer between the tasks of a stream. A batch that is larger than all buffers it may have passes alone."},
		{Name: ChannelBuffers, Type: Integer, Default: "2", Scope: Cluster, Min: 1, Max: maxOptionInteger, Reader: "the TaskManager",
			Doc: "Buffers of each channel, from a subtask of a stream to one that reads from it. A subtask that finds them full waits (back-pressure)."},
		{Name: GateBuffers, Type: Integer, Default: "8", Scope: Cluster, Max: maxOptionInteger, Reader: "the TaskManager",
			Doc: "Buffers beyond those that all channels which one subtask of a stream reads may have together."},
	}
}

func restartOptions() Registry {
	return Registry{
		{Name: RestartStrategy, Type: Enum, Default: "none", Scope: Job, Allowed: []string{"none", "fixed-delay"},
			Later: []string{"exponential-delay", "failure-rate"},
			Doc:   "What happens when a task fails: nothing, or so many new attempts."},
		{Name: FixedDelayAttempts, Type: Integer, Default: "1", Scope: Job, Max: maxOptionInteger,
			Doc: "How often fixed-delay restarts before the job fails."},
		{Name: FixedDelayDelay, Type: Duration, Default: "1 s", Scope: Job,
			Doc: "How long fixed-delay waits before it restarts."},
	}
}

func clusterOptions() Registry {
	return Registry{
		{Name: Target, Type: Enum, Default: "embedded", Scope: Cluster, Allowed: []string{"embedded"}, Later: []string{"remote", "flink"},
			Reader: "the command line", Doc: "Where jobs run: in this process, or on a cluster."},
		{Name: TaskSlots, Type: Integer, Default: "1", Scope: Cluster, Min: 1, Max: maxParallelismValue, Reader: "the TaskManager",
			Doc: "Slots of a TaskManager. Embedded and unset: the number of CPUs."},
		{Name: ManagedMemory, Type: Size, Default: "512 mb", Scope: Cluster, Min: leastManaged, Reader: "the TaskManager",
			Doc: "Memory for blocking operators, divided evenly among the slots; they spill to disk beyond it. Unset, and the TaskManager has a total: managed.fraction of it."},
		{Name: CancelTimeout, Type: Duration, Default: "3 min", Scope: Cluster, Reader: "the TaskManager",
			Doc: "How long a task may take to end when it is cancelled. One that takes longer is given up and the TaskManager takes no further tasks; embedded, the run ends and says so. 0: it is waited for without end."},
		{Name: ReportDir, Type: Text, Default: "runs", Scope: Cluster, Reader: "the command line",
			Doc: "Folder of the run reports, relative to the working directory."},
	}
}

// Lookup finds an option by its exact name, nil where there is none.
func (r Registry) Lookup(name string) *Option {
	i := slices.IndexFunc(r, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &r[i]
}

// Names are the names of the options of a scope, of all for "".
func (r Registry) Names(scope Scope) []string {
	var n []string
	for _, o := range r {
		if scope == "" || o.Scope == scope {
			n = append(n, o.Name)
		}
	}
	return n
}

// Near is the option that was most likely meant, "" where none is near. A part that names exactly
// one option ("numberOfTaskSlots", "parallelism") counts as near.
func (r Registry) Near(name string) string {
	if near := spec.Near(name, r.Names("")); near != "" {
		return near
	}
	found := ""
	for _, o := range r {
		if strings.HasSuffix(strings.ToLower(o.Name), "."+strings.ToLower(name)) {
			if found != "" {
				return ""
			}
			found = o.Name
		}
	}
	return found
}

// Coming reports whether a name is an option of Flink that is known and not supported yet.
func Coming(name string) bool {
	for _, prefix := range []string{
		"execution.", "restart-strategy", "taskmanager.", "jobmanager.", "state.", "pipeline.", "table.", "high-availability",
		"kubernetes.", "yarn.", "rest.", "metrics.", "security.", "cluster.", "heartbeat.", "akka.", "pekko.", "blob.",
		"slotmanager.", "resourcemanager.", "fs.", "io.", "web.", "client.", "env.", "parallelism.",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
