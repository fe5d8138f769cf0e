package table

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// Full is the failure of an operator that has spilled all it can and still has no room for what it
// names. It wraps ErrMemory.
func Full(what string) error { return &fullError{what} }

type fullError struct{ what string }

func (e *fullError) Error() string {
	return fmt.Sprintf("the slot's managed memory does not hold %s: give the TaskManager more (taskmanager.memory.managed.size) or fewer slots", e.what)
}

// Class is the stable class of the failure.
func (e *fullError) Class() string { return "OutOfManagedMemory" }

func (e *fullError) Unwrap() error { return operators.ErrMemory }

// An account keeps what one structure has reserved of the slot's managed memory. A nil Memory is
// unlimited.
type account struct {
	mem  operators.Memory
	held int64
}

// grow reserves bytes more, or fails with ErrMemory and reserves nothing.
func (a *account) grow(bytes int64) error {
	if a.mem != nil && bytes > 0 && !a.mem.Reserve(bytes) {
		return operators.ErrMemory
	}
	a.held += bytes
	return nil
}

// shrink gives bytes back.
func (a *account) shrink(bytes int64) {
	if a.mem != nil && bytes > 0 {
		a.mem.Release(bytes)
	}
	a.held -= bytes
}

// resize returns s with room for at least n elements of the given size: the new array is reserved
// before the old one is given back, because both live while one is copied to the other.
func resize[E any](a *account, s []E, n int, size int64) ([]E, error) {
	if n <= cap(s) {
		return s, nil
	}
	n = max(n, 2*cap(s), 16)
	if err := a.grow(int64(n) * size); err != nil {
		return s, err
	}
	bigger := make([]E, len(s), n)
	copy(bigger, s)
	a.shrink(int64(cap(s)) * size)
	return bigger, nil
}
