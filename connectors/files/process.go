package files

// Process names this process, for files that say whose they are. The name holds what tells it from
// another process with the same number, before or elsewhere.
func Process() string { return self().String() }

// ProcessEnded reports whether the process that [Process] named is known to have ended; in doubt it
// has not.
func ProcessEnded(name string) bool {
	o, ok := parseOwner(name)
	return ok && o.dead(self())
}
