package diagnose

import (
	"regexp"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
)

// An adviceRule says what to do about root causes of some classes, or with some words in their message.
// $1 and $2 in the text stand for what the expression caught.
type adviceRule struct {
	classes string // simple names, separated by blanks; empty = any
	message string // regular expression over the message, case ignored; empty = any
	text    string
}

// dataRules are about values and functions.
func dataRules() []adviceRule {
	return []adviceRule{
		{
			"NumberFormatException", `for input string: ["']([^"']*)["']`,
			"The text '$1' was read as a number and is none. Correct that value in the input, give the column the type STRING, or use TRY_CAST, which gives NULL instead of failing.",
		},
		{"NumberFormatException", "", "A text was read as a number and is none. Correct the value in the input, or use TRY_CAST, which gives NULL instead of failing."},
		{
			"", `column '([^']+)' is not null`,
			"Column $1 is declared NOT NULL and a NULL arrived. Filter such rows (WHERE $1 IS NOT NULL), give a default (COALESCE($1, …)), or set table.exec.sink.not-null-enforcer to DROP.",
		},
		{
			"", `missing closing quote`,
			"A quoted field of the CSV file is never closed; the line named is where the file ended, the opening quote is further up. Correct the file, or set the source's quote character to one that does not occur.",
		},
		{
			"", `too many entries: expected at most (\d+)`,
			"A line of the CSV file has more than the $1 fields the table declares. Correct the line, check the delimiter, or set csv.ignore-parse-errors to skip such lines.",
		},
		{
			"", `from string "([^"]*)"`,
			"The text \"$1\" does not fit the type of its column. Correct that record, change the column's type, or set the format's ignore-parse-errors to skip such records.",
		},
		{"DateTimeException DateTimeParseException", "", "A text was read as a date or time and is none. Correct the value, or use TRY_CAST, which gives NULL instead of failing."},
		{"ClassCastException", "", "A value does not have the type the code expects. Compare the types the upstream operator emits with what the function named in the first frame takes."},
		{"NullPointerException", "", "A function met a NULL it does not expect. Look at the first frame below; filter NULLs before it or handle them there."},
		{"AttributeError TypeError", `nonetype`, "The Python function got None. Return early for None in the line named, or filter NULLs before the call."},
		{"", `consumerrecord\(topic = ([^,]+), partition = (\d+).*offset = \d+`, "A record of topic $1, partition $2 cannot be decoded at the offset in the message. Look at that record; correct the producer, or let the format skip it."},
	}
}

// memoryRules and the like are about the process.
func processRules() []adviceRule {
	return []adviceRule{
		{"OutOfMemoryError", `java heap space|gc overhead`, "The TaskManager's heap is too small for what the job keeps. Raise taskmanager.memory.process.size (or taskmanager.memory.task.heap.size), lower taskmanager.numberOfTaskSlots, or hold less in memory at the first frame below."},
		{"OutOfMemoryError", `metaspace`, "Too many classes are loaded, mostly because jobs are submitted again and again to one cluster. Raise taskmanager.memory.jvm-metaspace.size and restart the TaskManagers."},
		{"OutOfMemoryError", `direct buffer`, "Off-heap memory ran out. Raise taskmanager.memory.task.off-heap.size or taskmanager.memory.framework.off-heap.size."},
		{"OOMKilled OOMKilling", "", "The container used more than its memory limit and was killed. Raise the memory of the pod together with taskmanager.memory.process.size, or raise taskmanager.memory.jvm-overhead.max for native memory such as RocksDB's."},
		{"NoResourceAvailableException UnfulfillableSlotRequestException FailedScheduling", "", "Not enough task slots were free. Start another TaskManager, raise taskmanager.numberOfTaskSlots, or lower parallelism.default; slot.request.timeout says how long the job waits."},
		{"", `slot request`, "Not enough task slots were free in time. Start another TaskManager, raise taskmanager.numberOfTaskSlots, or lower parallelism.default."},
		{"", `heartbeat of taskmanager with id ([^\s(]+)`, "TaskManager $1 stopped answering: look at its log and its host for a kill, a long garbage collection or a broken network. heartbeat.timeout says how long silence is tolerated."},
		{"", `taskmanager with id ([^\s(]+) is no longer reachable`, "TaskManager $1 is gone: look at its log and its host for what ended it. A kill for memory leaves its trace in the system log or in the pod's events."},
		{"RemoteTransportException RecipientUnreachableException PartitionNotFoundException", "", "Another TaskManager is gone or failed first. Look for its own failure in its log; this one is only the echo."},
		{"", `exceeded checkpoint tolerable failure threshold`, "Checkpoints failed more often than allowed. Look at the log lines \"Checkpoint … failed\" before this one for the reason; raise execution.checkpointing.timeout if they expired, or execution.checkpointing.tolerable-failed-checkpoints to tolerate more."},
		{"", `checkpoint expired`, "The checkpoint took longer than execution.checkpointing.timeout. Look for backpressure or a slow checkpoint storage; raise the timeout or use execution.checkpointing.unaligned.enabled."},
		{"", `(?:cannot map|not available in the new program)`, "The savepoint holds state of an operator that the new program does not have. Give operators the same uid as before, or start with --allowNonRestoredState to drop that state."},
		{"", `ha metadata not available`, "The operator has no checkpoint to go on from. Restore the HA metadata, or start from a savepoint by hand (initialSavepointPath) or without state (upgradeMode: stateless)."},
		{"", `no space left on device`, "A disk is full. Free space, or point io.tmp.dirs, the checkpoint folder or the sink to a larger disk."},
	}
}

// setupRules are about what surrounds the job: files, options, networks, classes, statements.
func setupRules() []adviceRule {
	return []adviceRule{
		{"FileNotFoundException NoSuchFileException FileNotFoundError MissingFile", "", "The file named does not exist where the process looks for it, or may not be read. Correct the path, put the file there, and check that it is visible on every machine that runs a TaskManager."},
		{"FileAlreadyExistsException", "", "A file stands where the job wants to make a folder, or the target exists already. Remove it or choose another path."},
		{"UnknownTopicOrPartitionException", "", "The Kafka topic does not exist on these brokers. Check its name and bootstrap.servers, or create it."},
		{"", `missing required options are:\s+([\w.-]+)`, "Set the option $1 in the WITH clause of the table."},
		{"", `missing configuration value '([^']+)'`, "Set $1 in the cluster's configuration file."},
		{"", `pull image "([^"]+)"`, "The image $1 cannot be pulled. Check name and tag in the registry, and the pull secret of the namespace."},
		{"", `certification path|PKIX|certificate`, "The other side's certificate is not trusted. Put its issuer into the trust store the job uses (truststore location and password of the connector)."},
		{"PSQLException SQLException SQLServerException", `permission denied for (?:table|relation|schema) (\S+)`, "The database user may not use $1. Grant the right (GRANT … ON $1) or let the job log in as another user."},
		{"", `permission denied|access denied|not authorized|forbidden`, "The user that runs the job lacks a right. Grant it, or run the job as another user."},
		{"TableNotExistException NoSuchTableException", `table (\S+) does not exist`, "Create table $1 or correct its name; catalog and database belong to it."},
		{"DuplicateJobSubmissionException", "", "A job with this id runs or ran already. Submit with a new job id, or look at the job that is there."},
		{"ConnectException ConnectTimeoutException SocketTimeoutException UnknownHostException ConnectionRefusedError", "", "Nothing answered at the address named. Check host and port, that the service runs, and that no firewall or network policy stands between."},
		{"AskTimeoutException", "", "A process of the cluster did not answer in time. See whether the JobManager is overloaded or gone; pekko.ask.timeout (akka.ask.timeout) says how long is waited."},
		{"NoClassDefFoundError ClassNotFoundException", `([\w.$/]+)`, "Class $1 is not on the class path. Put the jar that holds it into lib/ of every process (Hadoop's classes: set HADOOP_CLASSPATH), or shade it into the job's jar."},
		{"NoSuchMethodError NoSuchFieldError AbstractMethodError IncompatibleClassChangeError", "", "Two versions of one library are on the class path. Align the connector's version with Flink's, and remove the older jar from lib/ or the job's jar."},
		{"", `could not find any factory for identifier '([^']+)'`, "Connector or format '$1' is not on the class path. Put its SQL jar into lib/ and restart, or correct the name."},
		{"", `could not find or load main class (\S+)`, "Flink's own jar is not where the container looks for it ($1). Check the distribution that is shipped (yarn.flink-dist-jar, yarn.provided.lib.dirs)."},
		{"ParseException SqlParserException", `encountered "([^"]+)" at line (\d+)`, "The statement cannot be parsed at \"$1\" in line $2. A reserved word used as a name needs backticks: `$1`."},
		{"", `modification of distribution columns`, "The database does not allow to change the column rows are distributed by. Leave that column out of the update, or write with plain inserts."},
		{"", `metadata\.json|/metadata/`, "The table's metadata file is gone: a cleanup removed it, or the catalog points to an old one. Register the table with a metadata file that exists, or restore it from the store's versions."},
	}
}

// categoryAdvice is what can be said when only the category is known.
func categoryAdvice(category string) string {
	switch category {
	case failure.CategoryData:
		return "Look at the first frame of the function's own code and at the value in the message; correct the input or handle that case there."
	case failure.CategoryConfig:
		return "Correct the name, option, right or file that the message names, then run the job again."
	case failure.CategoryResources:
		return "Add TaskManagers or slots (taskmanager.numberOfTaskSlots), or lower parallelism.default."
	case failure.CategoryConnectivity:
		return "Check that the address in the message is right and that the other side runs and can be reached from the TaskManagers."
	case failure.CategoryState:
		return "Check the checkpoint or savepoint named and that the program still fits it; start without it if the state may be lost."
	case failure.CategoryClasspath:
		return "Put the missing jar into lib/ in the version that fits Flink's, or remove the one that clashes."
	case failure.CategoryMemory:
		return "Raise taskmanager.memory.process.size or lower taskmanager.numberOfTaskSlots."
	case failure.CategorySQL:
		return "Correct the statement at the place the message names."
	}
	return "Look at the machine and the process named: disk, signals, restarts. Then run the job again."
}

// Advice says what to do next about a failure, in a sentence or two.
func Advice(f failure.Failure) string {
	if f.RootCause == nil {
		return ""
	}
	root := *f.RootCause
	if d, ok := failure.Class(root.Class).Doc(); ok {
		return d.Next
	}
	class := root.Class
	if i := strings.LastIndexAny(class, ".$"); i >= 0 {
		class = class[i+1:]
	}
	for _, rules := range [][]adviceRule{platformRules(), processRules(), setupRules(), dataRules()} {
		for _, r := range rules {
			if text, ok := r.apply(class, root.Message); ok {
				return text
			}
		}
	}
	if f.Category == failure.CategoryData && root.Frame != "" {
		return "Start at " + root.Frame + ": correct the input that the message is about, or handle that case there."
	}
	return categoryAdvice(f.Category)
}

// apply returns the rule's text where it fits.
func (r adviceRule) apply(class, message string) (string, bool) {
	if r.classes != "" {
		found := false
		for _, name := range strings.Fields(r.classes) {
			found = found || name == class
		}
		if !found {
			return "", false
		}
	}
	if r.message == "" {
		return r.text, true
	}
	const most = 16 << 10
	m := regexp.MustCompile("(?i)" + r.message).FindStringSubmatch(message[:min(len(message), most)])
	if m == nil {
		return "", false
	}
	text := r.text
	for i := len(m) - 1; i > 0; i-- {
		text = strings.ReplaceAll(text, "$"+string(rune('0'+i)), m[i])
	}
	return text, true
}
