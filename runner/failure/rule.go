package failure

// The rules that pick the root cause. A failure names the one that decided.
const (
	ruleLast       = "last"        // the last element of the chain
	ruleSingle     = "single"      // one exception and nothing below it
	rulePassedOver = "passed-over" // the last element says nothing its parent does not say better
	ruleQuoted     = "quoted"      // the cause is quoted in the message of a wrapper
	ruleReference  = "reference"   // a circular reference was followed
	ruleRootFirst  = "root-first"  // the text starts with the root
	rulePeer       = "peer"        // the entry of the TaskManager that was lost
	ruleEvent      = "event"       // an event of Kubernetes that came before
	rulePython     = "python"      // the last line of a Python traceback
)

// Rules says in a sentence what each rule means.
func Rules() map[string]string {
	return map[string]string{
		ruleLast:       "the last cause of the chain",
		ruleSingle:     "one exception with nothing below it",
		rulePassedOver: "the last cause has nothing to say that its parent does not say better",
		ruleQuoted:     "the text was cut; the wrapper's message quotes the cause",
		ruleReference:  "a circular reference leads back to an exception printed earlier",
		ruleRootFirst:  "in this layout the first exception is the cause",
		rulePeer:       "the failure only says that another TaskManager was lost; this is that TaskManager's own",
		ruleEvent:      "the job's failure is a symptom of an earlier event of Kubernetes",
		rulePython:     "the last line of the Python traceback",
	}
}
