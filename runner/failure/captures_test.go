package failure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A capture is the answer to a body of /jobs/<jid>/exceptions recorded from Flink 2.3, as far as it
// can be written down here: the recordings lie outside of the repository.
type capture struct {
	headline, class, message, task, category, strategy string
	chain, others, attempts                            int
	managerPrefix                                      string // ids differ with each recording
}

const (
	none    = "NoRestartBackoffTimeStrategy"
	notRun  = suppressedBy + none
	noCast  = "For input string: 'abc'. Invalid character found."
	fmtErr  = "java.lang.NumberFormatException"
	noSlots = "org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException"
	noBulk  = "Slot request bulk is not fulfillable! Could not allocate the required slot within slot request timeout"
)

func captures() map[string]capture {
	fixed := func(ms string) string {
		return suppressedBy + "FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=2, backoffTimeMS=" + ms + ")"
	}
	bad := func(nodes string) string { return "Source: badcast" + nodes + " (1/1)" }
	return map[string]capture{
		"badtype":                     {notRun, fmtErr, `For input string: "abc"`, "Source: bad[1] -> HashAggregate[2] (1/1)", CategoryData, none, 5, 0, 0, "127.0.0.1:"},
		"cast_batch":                  {notRun, fmtErr, noCast, bad("[1] -> Calc[2] -> HashAggregate[3]"), CategoryData, none, 2, 0, 0, "127.0.0.1:"},
		"long":                        {notRun, "org.apache.flink.shaded.jackson2.com.fasterxml.jackson.dataformat.csv.CsvReadException", "Too many entries: expected at most 7 (value #7 (5 chars) \"extra\")\n at [Source: UNKNOWN; line: 500, column: 51]", "Source: long_t[1] -> HashAggregate[2] (1/1)", CategoryData, none, 5, 0, 0, "127.0.0.1:"},
		"quote":                       {notRun, "org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonParseException", "Missing closing quote for value\n at [Source: UNKNOWN; line: 1001, column: 1]", "Source: quote_t[1] -> HashAggregate[2] (1/1)", CategoryData, none, 5, 0, 0, "127.0.0.1:"},
		"missing":                     {notRun, "java.io.FileNotFoundException", "File file:/path/to/data/does_not_exist.csv does not exist or the user running Flink ('<user>') has insufficient permissions to access it.", "Source: missing[1] -> HashAggregate[2]", CategoryConfig, none, 4, 0, 0, ""},
		"restart_batch_fixed2":        {fixed("500"), fmtErr, noCast, bad("[19] -> Calc[20] -> bh[21]: Writer"), CategoryData, "FixedDelayRestartBackoffTimeStrategy", 2, 2, 2, "127.0.0.1:"},
		"restart_fixed2":              {fixed("1000"), fmtErr, noCast, bad("[7] -> Calc[8] -> bh[9]: Writer"), CategoryData, "FixedDelayRestartBackoffTimeStrategy", 2, 2, 2, "127.0.0.1:"},
		"restart_rate2":               {suppressedBy + "FailureRateRestartBackoffTimeStrategy(FailureRateRestartBackoffTimeStrategy(failuresIntervalMS=60000,backoffTimeMS=1000,maxFailuresPerInterval=2)", fmtErr, noCast, bad("[10] -> Calc[11] -> bh[12]: Writer"), CategoryData, "FailureRateRestartBackoffTimeStrategy", 2, 2, 2, "127.0.0.1:"},
		"restart_exp3":                {suppressedBy + "ExponentialDelayRestartBackoffTimeStrategy(initialBackoffMS=200, maxBackoffMS=60000, backoffMultiplier=1.5, resetBackoffThresholdMS=3600000, jitterFactor=0.1, attemptsBeforeResetBackoff=3, currentRestartAttempt=4, nextRestartTimestamp=1795967846616)", fmtErr, noCast, bad("[1] -> Calc[2] -> bh[3]: Writer"), CategoryData, "ExponentialDelayRestartBackoffTimeStrategy", 2, 3, 3, "127.0.0.1:"},
		"restart_none_ckpt":           {notRun, fmtErr, noCast, bad("[1] -> Calc[2] -> bh[3]: Writer"), CategoryData, none, 2, 0, 0, "127.0.0.1:"},
		"restart_stream_nockpt":       {notRun, fmtErr, noCast, bad("[1] -> Calc[2] -> bh[3]: Writer"), CategoryData, none, 2, 0, 0, "127.0.0.1:"},
		"restart_stream_ckpt_default": {noCast, fmtErr, noCast, bad("[4] -> Calc[5] -> bh[6]: Writer"), CategoryData, "", 1, 8, 8, "127.0.0.1:"},
		"tm_kill":                     {"TaskManager with id 127.0.0.1:33557-7386c9 is no longer reachable.", "org.apache.flink.runtime.resourcemanager.exceptions.ResourceManagerException", "TaskManager with id 127.0.0.1:33557-7386c9 is no longer reachable.", "Source: gen[1] (2/2)", CategoryConnectivity, "", 1, 0, 0, "127.0.0.1:33557-7386c9"},
		"tm_stop":                     {"Heartbeat of TaskManager with id 127.0.0.1:39777-b30336 timed out.", "java.util.concurrent.TimeoutException", "Heartbeat of TaskManager with id 127.0.0.1:39777-b30336 timed out.", "Source: gen[1] (2/2)", CategoryConnectivity, "", 1, 0, 0, "127.0.0.1:39777-b30336"},
		"tm_kill_p4":                  {"", "org.apache.flink.runtime.rpc.exceptions.RecipientUnreachableException", "", "Source: gen[1] (1/4)", CategoryConnectivity, "", 1, 4, 4, "127.0.0.1:45135-3a09a4"},
		"wait_batch_pipelined_p4":     {"The failure is not recoverable", "java.lang.IllegalStateException", "", "", CategoryInfrastructure, "", 4, 0, 0, ""},
		"wait_late_stream_p4":         {notRun, noSlots, "Could not acquire the minimum required resources.", "Source: gen[1] (1/4)", CategoryResources, none, 4, 0, 0, ""},
		"wait_notm_batch":             {notRun, "java.util.concurrent.TimeoutException", "Pending slot request timed out in slot pool.", "Source: ok[1] -> HashAggregate[2] (1/1)", CategoryResources, none, 5, 0, 0, ""},
		"wait_notm_stream":            {notRun, noSlots, noBulk, "Source: gen[6] (1/1)", CategoryResources, none, 5, 0, 0, ""},
		"wait_stream_p4":              {notRun, noSlots, noBulk, "Source: gen[1] (3/4)", CategoryResources, none, 5, 0, 0, ""},
	}
}

// TestCaptures holds the answers to what a real cluster said.
func TestCaptures(t *testing.T) {
	dir := shared(t, filepath.Join("facts", "flink"))
	paths, err := filepath.Glob(filepath.Join(dir, "exceptions_*.json"))
	if err != nil {
		t.Fatal(err)
	}
	answers := captures()
	if len(paths) != len(answers) {
		t.Errorf("%d recordings, %d answers", len(paths), len(answers))
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "exceptions_"), ".json")
		t.Run(name, func(t *testing.T) {
			want, ok := answers[name]
			if !ok {
				t.Fatal("there is no answer")
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := Parse(f)
			if err != nil {
				t.Fatal(err)
			}
			checkCapture(t, r, want)
		})
	}
}

func checkCapture(t *testing.T, r Result, want capture) {
	got := r.Failure
	if got == nil {
		t.Fatal("no failure was found")
	}
	if want.headline == "" {
		// The text names an actor that differs with each recording.
		want.headline, want.message = got.Headline, got.RootCause.Message
	}
	for _, c := range []struct{ what, got, want string }{
		{"headline", got.Headline, want.headline},
		{"class", got.RootCause.Class, want.class},
		{"message", got.RootCause.Message, want.message},
		{"task", got.Task, want.task},
		{"category", got.Category, want.category},
		{"strategy", got.RestartStrategy, want.strategy},
		{"form", got.Form, formREST},
	} {
		if c.got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.what, c.got, c.want)
		}
	}
	if got.RecoverySuppressed != (want.strategy != "") {
		t.Errorf("recovery suppressed: %v", got.RecoverySuppressed)
	}
	if len(got.Chain) != want.chain || len(r.Others) != want.others || got.Restart.Attempts != want.attempts {
		t.Errorf("chain %d, others %d, attempts %d; want %+v", len(got.Chain), len(r.Others), got.Restart.Attempts, want)
	}
	if !strings.HasPrefix(got.TaskManager, want.managerPrefix) || want.managerPrefix == "" && got.TaskManager != "" {
		t.Errorf("TaskManager %q, want %q…", got.TaskManager, want.managerPrefix)
	}
	if len(got.Concurrent) != 0 {
		t.Errorf("%d concurrent failures: the task's own entry is the same failure", len(got.Concurrent))
	}
}
