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
	// What a serialized exception was, and what a wrapper at the end quotes, are judged as themselves.
	meant := make([]*node, 0, len(chain)+1)
	for _, n := range chain {
		if inner := quotedIn(n); inner != nil && isSerialized(n.class) {
			n = inner
		}
		meant = append(meant, n)
	}
	for inner := quotedIn(meant[last]); inner != nil && len(meant) < len(chain)+20; inner = quotedIn(inner) {
		meant = append(meant, inner)
	}
	index = passOver(meant)
	passed := index < len(meant)-1
	if index > last || meant[index] != chain[index] {
		return -1, meant[index], ruleQuoted, 0.85
	}
	switch {
	case passed:
		return index, chain[index], rulePassedOver, 0.85
	case rootFirst:
		return last, chain[last], ruleRootFirst, 0.95
	case last == 0:
		return 0, chain[0], ruleSingle, 0.8
	}
	return last, chain[last], ruleLast, 0.95
}

// quotedIn returns the exception that the message of a wrapper quotes as a whole, nil where it is none.
// The frames below a serialized exception are those of what it was; a wrapper's are its own.
func quotedIn(n *node) *node {
	if !isWrapper(n.class) {
		return nil
	}
	first, rest, more := strings.Cut(n.message, "\n")
	class, message, ok := isHeader([]byte(first))
	if !ok && isPureWrapper(n.class) {
		class, message, ok = splitClass([]byte(first))
		ok = ok && strings.Contains(class, ".")
	}
	if !ok {
		return nil
	}
	if more {
		message += "\n" + rest
	}
	quoted := &node{class: class, message: strings.TrimRight(message, " \t\r\n")}
	if isSerialized(n.class) {
		quoted.frame = n.frame
	}
	return quoted
}

// isPureWrapper reports whether the message of a class is the text of an exception, whatever that is
// called.
func isPureWrapper(class string) bool {
	return isSerialized(class) || class == "java.util.concurrent.CompletionException" || class == "java.util.concurrent.ExecutionException"
}

func isSerialized(class string) bool { return simpleName(class) == "SerializedThrowable" }

// isWrapper reports whether a class exists to carry another exception.
func isWrapper(class string) bool {
	switch class {
	case "java.util.concurrent.CompletionException", "java.util.concurrent.ExecutionException", "java.lang.RuntimeException",
		"java.io.UncheckedIOException", "java.lang.reflect.UndeclaredThrowableException", "java.lang.reflect.InvocationTargetException",
		"org.apache.flink.util.FlinkRuntimeException", "org.apache.flink.util.FlinkException", "org.apache.flink.util.WrappingRuntimeException",
		"java.lang.Exception":
		return true
	}
	return isSerialized(class)
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
