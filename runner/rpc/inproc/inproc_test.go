package inproc

import (
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Messages of one sender arrive in the order they were sent in, encoded or not; what is for nobody is
// lost, and a receiver may send from within a delivery.
func TestOrder(t *testing.T) {
	for _, encode := range []bool{false, true} {
		n := New(encode, func(err error) { t.Error(err) })
		const senders, messages = 4, 200
		next := map[rpc.Address]int{}
		var all sync.WaitGroup
		all.Add(senders * messages)
		n.Attach("a", func(e rpc.Envelope) {
			if got := e.Body.(rpc.CancelJob).Job; got != fmt.Sprint(next[e.From]) {
				t.Errorf("from %s came %s, expected %d", e.From, got, next[e.From])
			}
			next[e.From]++
			n.Send(rpc.Envelope{From: "a", To: "b", Body: rpc.Heartbeat{TaskManager: "x"}})
			n.Send(rpc.Envelope{From: "a", To: "nobody", Body: rpc.Heartbeat{}})
		})
		n.Attach("b", func(rpc.Envelope) { all.Done() })
		var sending sync.WaitGroup
		for s := range senders {
			sending.Go(func() {
				for i := range messages {
					n.Send(rpc.Envelope{From: rpc.Address(fmt.Sprint("s", s)), To: "a", Body: rpc.CancelJob{Job: fmt.Sprint(i)}})
				}
			})
		}
		sending.Wait()
		all.Wait()
		n.Close()
		n.Send(rpc.Envelope{To: "a", Body: rpc.Heartbeat{}}) // after the end it is lost too
	}
}

// A message that cannot be encoded is told of where messages are encoded.
func TestCannotBeEncoded(t *testing.T) {
	var told error
	n := New(true, func(err error) { told = err })
	defer n.Close()
	n.Attach("a", func(rpc.Envelope) { t.Error("it was delivered") })
	n.Send(rpc.Envelope{To: "a"})
	if told == nil {
		t.Error("nobody was told")
	}
}
