package datagen

import "time"

// A clock tells the time and says when it has come.
type clock interface {
	Now() time.Time
	// After gives a channel that is closed after d, and what ends the waiting before.
	After(d time.Duration) (done <-chan struct{}, stop func())
}

// wall is the clock on the wall.
type wall struct{}

// Now is the time.
func (wall) Now() time.Time { return time.Now() }

// After waits for real.
func (wall) After(d time.Duration) (<-chan struct{}, func()) {
	c := make(chan struct{})
	t := time.AfterFunc(d, func() { close(c) })
	return c, func() { t.Stop() }
}
