package failure

import (
	"regexp"
	"strings"
)

// decide picks the root cause from a chain of exceptions: its index, the exception itself where it is
// quoted in a message (then the index is -1), the rule that decided and how sure it is.
func decide(chain []*node, rootFirst bool) (index int, root *node, rule string, confidence float64) {
	last := len(chain) - 1
	if chain[last].snake {
		return last, chain[last], rulePython, 0.95
	}
	if quoted := unwrap(chain[last]); quoted != nil {
		return -1, quoted, ruleQuoted, 0.85
	}
	if index := passOver(chain); index < last {
		return index, chain[index], rulePassedOver, 0.85
	}
	switch {
	case rootFirst:
		return last, chain[last], ruleRootFirst, 0.95
	case last == 0:
		return 0, chain[0], ruleSingle, 0.8
	}
	return last, chain[last], ruleLast, 0.95
}

// unwrap returns the exception that the message of a wrapper quotes as a whole, nil where it is none.
func unwrap(n *node) *node {
	var inner *node
	for range 20 {
		if !isWrapper(n.class) {
			return inner
		}
		class, message, ok := isHeader([]byte(firstLine(n.message)))
		if !ok {
			return inner
		}
		if _, rest, more := strings.Cut(n.message, "\n"); more {
			message += "\n" + rest
		}
		quoted := &node{class: class, message: strings.TrimRight(message, " \t\r\n")}
		if simpleName(n.class) == "SerializedThrowable" {
			quoted.frame = n.frame
		}
		n, inner = quoted, quoted
	}
	return inner
}

// isWrapper reports whether a class exists to carry another exception.
func isWrapper(class string) bool {
	switch class {
	case "java.util.concurrent.CompletionException", "java.util.concurrent.ExecutionException", "java.lang.RuntimeException",
		"java.io.UncheckedIOException", "java.lang.reflect.UndeclaredThrowableException", "java.lang.reflect.InvocationTargetException",
		"org.apache.flink.util.FlinkRuntimeException", "org.apache.flink.util.FlinkException", "org.apache.flink.util.WrappingRuntimeException",
		"java.lang.Exception":
		return true
	}
	return simpleName(class) == "SerializedThrowable"
}

// passOver returns the index of the last exception that says anything its parents do not say better.
func passOver(chain []*node) int {
	last := len(chain) - 1
	index := last
	for index > 0 && addsNothing(chain[index], chain[:index]) {
		up := index - 1
		for up > 0 && quotes(chain[up], chain[index]) {
			up--
		}
		if saysNothing(chain[up]) || quotes(chain[up], chain[index]) {
			break
		}
		index = up
	}
	return index
}

// quotes reports whether the whole message of n is what inner prints.
func quotes(n, inner *node) bool { return n.message == inner.text() }

// saysNothing reports whether an exception is one of the wrappers that Flink puts around every failure.
func saysNothing(n *node) bool {
	return strings.HasPrefix(n.message, suppressedBy) || n.message == "Job execution failed." ||
		n.message == "The failure is not recoverable" || n.message == ""
}

// addsNothing reports whether an exception is passed over for its parent.
func addsNothing(n *node, parents []*node) bool {
	switch simpleName(n.class) {
	case "InterruptedException", "EOFException", "BufferUnderflowException":
		return n.message == ""
	case "TimeoutException":
		return onlyDuration(n.message)
	}
	if !isNotFoundReply(n) || namesObject(n.message) {
		return false
	}
	return namesObject(parents[len(parents)-1].message)
}

var durationWords = regexp.MustCompile(`(?i)\b(?:timeout|timed|time|out|has|have|had|occurred|after|of|expired|exceeded|waited|waiting|wait|the|a|is|was|within|for|at|` +
	`ms|milliseconds?|millis|s|secs?|seconds?|min|minutes?|h|hours?|futures?|operation|request|elapsed)\b|PT[0-9.HMS]+|[0-9.,]+(?:ms|s|m|h)?`)

// onlyDuration reports whether a message gives a duration and nothing else.
func onlyDuration(message string) bool {
	rest := durationWords.ReplaceAllString(message, "")
	return strings.Trim(rest, " \t.,:;!()[]") == ""
}

var notFoundReply = regexp.MustCompile(`(?i)status ?code:? ?404|NoSuchKey|404 Not Found|BlobNotFound|specified key does not exist|specified blob does not exist|\b404\b`)

// isNotFoundReply reports whether an exception is an object store's "not there".
func isNotFoundReply(n *node) bool {
	return notFoundReply.MatchString(n.class+" "+n.message) && (strings.Contains(n.class, "amazon") || strings.Contains(n.class, "azure") ||
		strings.Contains(n.class, "google") || strings.Contains(n.class, "aliyun") || strings.Contains(n.class, "minio") || strings.Contains(n.class, "s3"))
}

var objectName = regexp.MustCompile(`\w+://\S|(?:^|[\s'":])/\w[^\s]*/\S`)

// namesObject reports whether a message names a file or an object in a store.
func namesObject(message string) bool { return objectName.MatchString(message) }

var restartStrategy = regexp.MustCompile(`Recovery is suppressed by ([A-Za-z_$][\w.$]*)`)

// strategyIn returns the restart strategy's class and the whole sentence, where a text has it.
func strategyIn(text string) (class, sentence string, ok bool) {
	at := restartStrategy.FindStringSubmatchIndex(text)
	if at == nil {
		return "", "", false
	}
	return simpleName(strings.TrimRight(text[at[2]:at[3]], ".$")), firstLine(text[at[0]:]), true
}
