package rpc

// A Machine is one of the pure nouns (Dispatcher, ResourceManager, JobMaster): it is told the time and
// what happened, and answers with what is to be done. It has no goroutine, clock, lock, random source or
// I/O, so a test or the simulator can replay any run. One goroutine at a time calls Step; now never falls.
type Machine interface {
	Step(now int64, ev Event) []Command
}

// An Event is what happened. The lists of each machine stand in its package's documentation.
type Event interface{ Event() }

// A Command is what a machine wants done. The driver does commands in order.
type Command interface{ Command() }

// Received (event, every machine) is a message that arrived.
type Received struct{ Envelope Envelope }

// TimerFired (event, every machine) answers StartTimer. A machine ignores a timer it no longer waits for.
type TimerFired struct{ ID string }

// Disconnected (event, ResourceManager) says that the connection to a TaskManager broke: what was on its
// way is lost. The ResourceManager tells the JobMasters in order with its other messages, so nobody else
// needs the event.
type Disconnected struct{ Peer Address }

// Send (command, every machine) posts a message.
type Send struct{ Envelope Envelope }

// StartTimer (command, every machine) asks for TimerFired at or after AtMs. The same ID again replaces
// the earlier timer.
type StartTimer struct {
	ID   string
	AtMs int64
}

// Event marks the type.
func (Received) Event() {}

// Event marks the type.
func (TimerFired) Event() {}

// Event marks the type.
func (Disconnected) Event() {}

// Command marks the type.
func (Send) Command() {}

// Command marks the type.
func (StartTimer) Command() {}
