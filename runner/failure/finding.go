package failure

import (
	"regexp"
	"strings"
)

// A finding is one failure as it stands in the input, before the rules decide what it means.
type finding struct {
	chain       []*node
	headline    string // a banner that takes the place of the outermost message
	form        string
	task        string
	taskManager string
	location    string // address of the TaskManager, "10.1.1.1:33001"
	attempt     int    // the execution attempt of the task, from 0; -1 where not said
	timeMs      int64
	strong      bool // it stopped a task, a job or a process; a warning with a stack is weak
	bare        bool // one line, with nothing below it that shows a trace
	rule        string
	order       int  // place in the text
	first       bool // the newest entry of an exception history
	concurrent  []*finding
}

// The forms an input may have.
const (
	formStack     = "stack"
	formLog       = "log"
	formCLI       = "cli"
	formSQLClient = "sql-client"
	formREST      = "rest"
	formK8s       = "k8s"
	formJSONLog   = "json-log"
	formPython    = "python"
	formReport    = "report"  // a run report of ours
	formConsole   = "console" // what `runner` prints
)

// strongWords tell that a log line is about something that stopped.
var strongWords = regexp.MustCompile(`switched from (?:state )?\w+ to FAIL|(?i:global failure|fatal|job .*failed|failed job|unrecoverable|` +
	`terminating|uncaught|shutting down|exceeded checkpoint|could not (?:start|execute|submit))`)

var (
	switched = regexp.MustCompile(`(?:^|\s)(\S.*? \(\d+/\d+\))(?:#\d+)?(?: - execution #\d+)? \([^()]+\) switched from (?:state )?\w+ to FAIL\w+(?: on (.+?))?(?: with failure cause.*|\.?(?:\s.*)?)?$`)
	deployed = regexp.MustCompile(`^Deploying (.+? \(\d+/\d+\)).* to (\S+) @ `)
	failedOn = regexp.MustCompile(`^(.+? \(\d+/\d+\)).* switched from \w+ to FAILED on (\S+ @ \S+)`)
	declined = regexp.MustCompile(`^Decline checkpoint \d+ by task .* at (\S+ @ \S+)`)
	onThread = regexp.MustCompile(`^(.+ \(\d+/\d+\))#\d+$`)
	numbered = regexp.MustCompile(`(\d+)/\d+\)(?:#(\d+))?`)
	// In a coordinator's or a checkpoint's message the task is named.
	coordinatorTask = regexp.MustCompile(`OperatorCoordinator (?:for|of) (?:operator )?'([^']+)'`)
	subtaskName     = regexp.MustCompile(`(?:with subtask|subtask name|[Tt]ask name|target ?[Tt]ask) ?: (.+? \(\d+/\d+\))`)
	coordinatorName = regexp.MustCompile(`.*(?:[Oo]perator|[Tt]ask|vertex) '?(.+? \(\d+/\d+\))`)
)

// readContext takes task, TaskManager and weight of a finding from the log line above it.
func (f *finding) readContext(message, level string) {
	if m := switched.FindStringSubmatch(message); m != nil {
		f.task = stripAttempt(m[1])
		f.taskManager = managerOf(m[2])
		f.attempt = attemptOf(message)
	} else if m := coordinatorName.FindStringSubmatch(message); m != nil && strings.Contains(message, "FAIL") {
		f.task = stripAttempt(m[1])
	}
	if m := declined.FindStringSubmatch(message); m != nil {
		f.taskManager = managerOf(m[1])
	}
	switch level {
	case "ERROR", "FATAL", "SEVERE":
		f.strong = true
	default:
		f.strong = level == "" || strongWords.MatchString(message)
	}
}

// readThread takes the task from a header that names the thread, which Flink calls by its task.
func (f *finding) readThread(header string) {
	if f.task != "" || !f.strong {
		return
	}
	for at := strings.IndexByte(header, '['); at >= 0; at = strings.IndexByte(header, '[') {
		header = header[at:]
		end := groupEnd([]byte(header))
		if end < 0 {
			return
		}
		if m := onThread.FindStringSubmatch(header[1:end]); m != nil {
			f.task = stripAttempt(m[1])
			return
		}
		header = header[end:]
	}
}

// managerOf takes the TaskManager's id from "tm-1 @ 10.1.1.1 (dataPort=36001)"; an unassigned resource
// has none.
func managerOf(place string) string {
	id, _, _ := strings.Cut(place, " @ ")
	id = strings.TrimSuffix(strings.TrimSpace(id), ".")
	if strings.HasPrefix(id, "[") || strings.Contains(id, " ") || strings.HasPrefix(id, "(") {
		return ""
	}
	return id
}

// stripAttempt removes what is not the task's name: " - execution #2", "#0", ids of attempts.
func stripAttempt(task string) string {
	if i := strings.Index(task, " - execution #"); i >= 0 {
		task = task[:i]
	}
	if end := strings.LastIndex(task, ")"); end >= 0 && strings.HasPrefix(task[end+1:], "#") {
		task = task[:end+1]
	}
	task = strings.TrimSpace(task)
	if m := withAttemptID.FindStringSubmatch(task); m != nil {
		return m[1]
	}
	return task
}

// withAttemptID matches a task followed by the id of its attempt.
var withAttemptID = regexp.MustCompile(`^(.*\(\d+/\d+\)) \([0-9a-f_]+\)$`)

// attemptOf reads the attempt of a task from "execution #2" or "(1/2)#2"; -1 where not said.
func attemptOf(text string) int {
	if _, rest, ok := strings.Cut(text, "execution #"); ok {
		n, size := digits([]byte(rest), 0, 9)
		if size > 0 {
			return int(n)
		}
	}
	if m := numbered.FindStringSubmatch(text); m != nil && m[2] != "" {
		n, _ := digits([]byte(m[2]), 0, 9)
		return int(n)
	}
	return -1
}

// taskInMessages finds the task that a coordinator's or a checkpoint's failure names in its message.
func taskInMessages(chain []*node) string {
	for _, n := range chain {
		if m := coordinatorTask.FindStringSubmatch(n.message); m != nil {
			return m[1]
		}
	}
	for _, n := range chain {
		if m := subtaskName.FindStringSubmatch(n.message); m != nil {
			return stripAttempt(m[1])
		}
		if m := coordinatorName.FindStringSubmatch(n.message); m != nil {
			return stripAttempt(strings.TrimLeft(m[1], "'\" "))
		}
	}
	return ""
}

// lostPatterns find the id of the TaskManager that a message says was lost.
var lostPatterns = []*regexp.Regexp{
	regexp.MustCompile(`TaskManager with id ([^\s(]+)(?:\([^)]*\))? (?:timed out|is no longer reachable|has been)`),
	regexp.MustCompile(`remote task ?manager '[^']*\[ ?([^\]\s]+) ?\][^']*'`),
	regexp.MustCompile(`task ?manager '[^']*\[ ?([^\]\s]+) ?\][^']*'`),
	regexp.MustCompile(`(?:TaskManager|TaskExecutor) ([\w.:-]*[\w-]) (?:was|is|has been|got) (?:lost|killed|terminated|gone|disconnected|unreachable)`),
	regexp.MustCompile(`(?s)Container id: (container_\w+)\b.*[Ee]xit(?:ed with| ?[Cc]ode)`),
	regexp.MustCompile(`containerID=(container_\w+)\] is running`),
	regexp.MustCompile(`[Cc]ontainer (?:from a bad node: )?(container_\w+)\b.*(?:lost|killed|preempted|released|exited|completed|Exit status)`),
}

// lostManager returns the id of the TaskManager a message says was lost.
func lostManager(message string) string {
	for _, p := range lostPatterns {
		if m := p.FindStringSubmatch(message); m != nil && !isMasterContainer(m[1]) {
			return m[1]
		}
	}
	return ""
}

// isMasterContainer reports whether a container of YARN is an application's first, in which the
// JobManager runs.
func isMasterContainer(id string) bool {
	return strings.HasPrefix(id, "container_") && strings.HasSuffix(id, "_000001")
}

// peerAddress finds the address of the TaskManager in a transport's failure.
var peerAddress = regexp.MustCompile(`(?:remote )?task ?manager '([^'\[]+)`)

// isAt reports whether f ran where a message says that a TaskManager was lost.
func (f *finding) isAt(id, message string) bool {
	if id != "" && f.taskManager != "" {
		return f.taskManager == id
	}
	m := peerAddress.FindStringSubmatch(message)
	if m == nil || f.location == "" {
		return false
	}
	return strings.HasSuffix(strings.TrimSpace(m[1]), "/"+f.location) || strings.TrimSpace(m[1]) == f.location
}

// isPeerLost reports whether an exception only says that another TaskManager is gone or sent an error.
func isPeerLost(n *node) bool {
	switch simpleName(n.class) {
	case "RemoteTransportException", "LocalTransportException", "PartitionNotFoundException",
		"RecipientUnreachableException", "TaskManagerLostException":
		return true
	}
	return strings.Contains(n.message, "Heartbeat of TaskManager") || strings.Contains(n.message, "heartbeat of TaskManager") ||
		strings.Contains(n.message, "no longer reachable")
}
