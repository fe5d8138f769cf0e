// Package inproc carries messages between the nouns of one process.
package inproc

import (
	"fmt"
	"sync"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Network delivers messages in the order each sender sent them, one at a time per receiver. A
// receiver's function must not block for long: it holds up its own messages, never the senders.
type Network struct {
	encode bool
	fail   func(error)

	mu    sync.Mutex
	boxes map[rpc.Address]*mailbox
	wg    sync.WaitGroup
}

// New makes a network. With encode every message is turned into bytes and back, as it would be between
// processes, so that nothing can travel that would not survive it; fail is told of one that does not.
func New(encode bool, fail func(error)) *Network {
	return &Network{encode: encode, fail: fail, boxes: map[rpc.Address]*mailbox{}}
}

// Attach makes a receiver known under an address.
func (n *Network) Attach(at rpc.Address, deliver func(rpc.Envelope)) {
	b := &mailbox{wake: make(chan struct{}, 1), stop: make(chan struct{})}
	n.mu.Lock()
	n.boxes[at] = b
	n.mu.Unlock()
	n.wg.Go(func() { b.run(deliver) })
}

// Send posts a message; one to an address that nobody has is lost, as it is when a process is gone.
func (n *Network) Send(e rpc.Envelope) {
	if n.encode {
		b, err := rpc.Encode(e)
		if err == nil {
			e, err = rpc.Decode(b)
		}
		if err != nil {
			n.fail(fmt.Errorf("a message does not survive its encoding: %w", err))
			return
		}
	}
	n.mu.Lock()
	b := n.boxes[e.To]
	n.mu.Unlock()
	if b != nil {
		b.put(e)
	}
}

// Close stops all deliveries and waits for those under way.
func (n *Network) Close() {
	n.mu.Lock()
	for _, b := range n.boxes {
		close(b.stop)
	}
	n.boxes = map[rpc.Address]*mailbox{}
	n.mu.Unlock()
	n.wg.Wait()
}

// A mailbox is the queue of one receiver. It has no bound: what is sent depends on what was received,
// and a sender that had to wait could wait for itself.
type mailbox struct {
	mu   sync.Mutex
	todo []rpc.Envelope
	wake chan struct{}
	stop chan struct{}
}

func (b *mailbox) put(e rpc.Envelope) {
	b.mu.Lock()
	b.todo = append(b.todo, e)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *mailbox) run(deliver func(rpc.Envelope)) {
	for {
		b.mu.Lock()
		todo := b.todo
		b.todo = nil
		b.mu.Unlock()
		for _, e := range todo {
			deliver(e)
		}
		if len(todo) > 0 {
			continue
		}
		select {
		case <-b.stop:
			return
		case <-b.wake:
		}
	}
}
