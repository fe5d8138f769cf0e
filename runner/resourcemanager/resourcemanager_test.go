package resourcemanager

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// TestScripts runs the scripts of testdata: each command is an event, the output is what the
// ResourceManager wants done, and then who has how many slots.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var r *ResourceManager
		now := int64(0)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var args []string
			for _, a := range d.CmdArgs {
				if a.Key == "at" {
					at, err := strconv.ParseInt(a.Vals[0], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					now = at
					continue
				}
				args = append(args, a.Key)
			}
			if d.Cmd == "new" {
				c := Config{Leader: "l"}
				if d.HasArg("one-process") {
					c.HeartbeatTimeoutMs = -1
				}
				r, now = New(c), 0
				return "ok\n"
			}
			return render(r, r.Step(now, eventOf(t, d.Cmd, args)))
		})
	})
}

func eventOf(t *testing.T, cmd string, args []string) rpc.Event {
	number := func(i int) int {
		n, err := strconv.Atoi(args[i])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	leader := "l"
	var from rpc.Address
	var m rpc.Message
	switch cmd {
	case "register":
		from, m = rpc.TaskManager(args[0]), rpc.RegisterTaskManager{ID: args[0], Slots: number(1)}
	case "heartbeat":
		from, m = rpc.TaskManager(args[0]), rpc.Heartbeat{TaskManager: args[0]}
	case "declare":
		from, m = rpc.JobMaster(args[0]), rpc.DeclareSlots{Job: args[0], Needed: number(1)}
	case "declare-to-another-leader":
		leader = "other"
		from, m = rpc.JobMaster(args[0]), rpc.DeclareSlots{Job: args[0], Needed: number(1)}
	case "release":
		x := rpc.ReleaseSlots{Job: args[0]}
		for _, a := range args[1:] {
			tm, i, _ := strings.Cut(a, "/")
			n, err := strconv.Atoi(i)
			if err != nil {
				t.Fatal(err)
			}
			x.Slots = append(x.Slots, rpc.SlotID{TaskManager: tm, Index: n})
		}
		from, m = rpc.JobMaster(args[0]), x
	case "disconnect":
		return rpc.Disconnected{Peer: rpc.TaskManager(args[0])}
	case "timer":
		return rpc.TimerFired{ID: "heartbeat"}
	default:
		t.Fatalf("unknown command %q", cmd)
	}
	return rpc.Received{Envelope: rpc.Envelope{From: from, To: rpc.ResourceManager, Leader: leader, Body: m}}
}

func render(r *ResourceManager, commands []rpc.Command) string {
	var b strings.Builder
	for _, c := range commands {
		switch c := c.(type) {
		case rpc.StartTimer:
			fmt.Fprintf(&b, "start timer at %d\n", c.AtMs)
		case rpc.Send:
			to := string(c.Envelope.To)
			switch m := c.Envelope.Body.(type) {
			case rpc.SlotsGranted:
				fmt.Fprintf(&b, "%s gets", to)
				for _, s := range m.Slots {
					fmt.Fprintf(&b, " %s/%d", s.TaskManager, s.Index)
				}
				fmt.Fprintf(&b, " of %d\n", m.Total)
			case rpc.SlotsWanted:
				fmt.Fprintf(&b, "%s may keep %d\n", to, m.Share)
			case rpc.TaskManagerLost:
				fmt.Fprintf(&b, "%s hears: %s\n", to, m.Reason)
			default:
				fmt.Fprintf(&b, "%s %T\n", to, m)
			}
		}
	}
	fmt.Fprintf(&b, "free %d of %d", r.Free(), r.Total())
	for _, c := range r.jobs {
		fmt.Fprintf(&b, ", %s %d of %d", c.job, c.held, c.needed)
	}
	return b.String() + "\n"
}
