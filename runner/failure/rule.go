package failure

// The rules that pick the root cause from a chain. The report names the one that decided.
const (
	ruleLast = "last" // the last element of the chain
)
