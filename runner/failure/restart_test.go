package failure

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestRestart runs scripts of failures against the strategies: `new` makes one from options, `fail`
// reports failures at the times given and prints what was decided.
func TestRestart(t *testing.T) {
	datadriven.Walk(t, "testdata/restart", func(t *testing.T, path string) {
		var s Strategy
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "new":
				made, err := NewStrategy(optionsOf(t, d))
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				s = made
				return s.Name() + ": " + s.Describe() + "\n"
			case "fail":
				return failAt(t, s, d.Input)
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

func failAt(t *testing.T, s Strategy, times string) string {
	var b strings.Builder
	for _, field := range strings.Fields(times) {
		at, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		restart, delayMs := s.OnFailure(at)
		if restart {
			fmt.Fprintf(&b, "%d: restart after %d ms\n", at, delayMs)
		} else {
			fmt.Fprintf(&b, "%d: %s\n", at, s.Suppressed())
		}
	}
	return b.String()
}

func optionsOf(t *testing.T, d *datadriven.TestData) StrategyOptions {
	o := DefaultStrategyOptions(d.HasArg("checkpoints"))
	for _, arg := range d.CmdArgs {
		if len(arg.Vals) == 0 {
			continue
		}
		value := arg.Vals[0]
		number, _ := strconv.ParseFloat(value, 64)
		switch arg.Key {
		case "type":
			o.Type = value
		case "attempts":
			o.FixedDelayAttempts, o.ExponentialAttempts = int(number), int(number)
		case "delay":
			o.FixedDelayMs, o.FailureRateDelayMs = int64(number), int64(number)
		case "max":
			o.FailureRateMax, o.ExponentialMaxMs = int(number), int64(number)
		case "interval":
			o.FailureRateIntervalMs = int64(number)
		case "initial":
			o.ExponentialInitialMs = int64(number)
		case "multiplier":
			o.ExponentialMultiplier = number
		case "reset":
			o.ExponentialResetMs = int64(number)
		case "jitter":
			o.ExponentialJitterFactor = number
		case "seed":
			o.Seed = uint64(number)
		default:
			t.Fatalf("unknown option %q", arg.Key)
		}
	}
	return o
}

// TestJitterStaysInBounds holds that every delay lies within the jitter around the pure backoff, and
// that a seed repeats itself.
func TestJitterStaysInBounds(t *testing.T) {
	for seed := range uint64(50) {
		o := DefaultStrategyOptions(true)
		o.Seed = seed
		a, err := NewStrategy(o)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := NewStrategy(o)
		now, pure := int64(1_000_000), 1000.0
		for range 20 {
			_, delay := a.OnFailure(now)
			if _, again := b.OnFailure(now); again != delay {
				t.Fatalf("seed %d: %d ms and %d ms", seed, delay, again)
			}
			if float64(delay) < pure*0.9-1 || float64(delay) > min(pure*1.1+1, 60_000) {
				t.Fatalf("seed %d: %d ms around %.0f ms", seed, delay, pure)
			}
			now += delay + 10
			pure = min(pure*1.5, 60_000)
		}
	}
}

func TestISODuration(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "PT0S", 1: "PT0.001S", 200: "PT0.2S", 1000: "PT1S", 90_000: "PT1M30S", 3_600_000: "PT1H",
		90_061_500: "PT25H1M1.5S",
	} {
		if got := isoDuration(ms); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
}
