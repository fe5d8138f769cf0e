package failure

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Strategy decides, failure by failure, whether a run is tried again. It is told the time and keeps
// no clock, so that a script in a test or a simulator can replay it; it is not safe for concurrent use.
type Strategy interface {
	// Name is the value of restart-strategy.type: "none", "fixed-delay", …
	Name() string
	// OnFailure counts a failure at nowMs and says whether to restart and after how long.
	OnFailure(nowMs int64) (restart bool, delayMs int64)
	// Suppressed is Flink's sentence for "no further attempt", with the strategy's parameters.
	Suppressed() string
	// Describe is the text Flink shows as restart-strategy under /jobs/<jid>/config.
	Describe() string
}

// The names of the restart strategies.
const (
	StrategyNone             = "none"
	StrategyFixedDelay       = "fixed-delay"
	StrategyExponentialDelay = "exponential-delay"
	StrategyFailureRate      = "failure-rate"
)

// InfiniteAttempts is attempts-before-reset-backoff where nothing limits the restarts.
const InfiniteAttempts = math.MaxInt32

// StrategyOptions holds the options of all strategies; only those of Type are read. Start from
// [DefaultStrategyOptions]: a zero here is a zero, not "unset".
type StrategyOptions struct {
	Type string // restart-strategy.type, see [NewStrategy] for the names

	FixedDelayAttempts int   // restart-strategy.fixed-delay.attempts
	FixedDelayMs       int64 // restart-strategy.fixed-delay.delay

	FailureRateMax        int   // restart-strategy.failure-rate.max-failures-per-interval
	FailureRateIntervalMs int64 // restart-strategy.failure-rate.failure-rate-interval
	FailureRateDelayMs    int64 // restart-strategy.failure-rate.delay

	ExponentialInitialMs    int64   // restart-strategy.exponential-delay.initial-backoff
	ExponentialMaxMs        int64   // restart-strategy.exponential-delay.max-backoff
	ExponentialMultiplier   float64 // restart-strategy.exponential-delay.backoff-multiplier
	ExponentialResetMs      int64   // restart-strategy.exponential-delay.reset-backoff-threshold
	ExponentialJitterFactor float64 // restart-strategy.exponential-delay.jitter-factor
	ExponentialAttempts     int     // restart-strategy.exponential-delay.attempts-before-reset-backoff

	Seed uint64 // of the jitter; equal seeds give equal delays
}

// DefaultStrategyOptions returns Flink's defaults. The type is "exponential-delay" with checkpointing
// and "none" without, because a job without checkpoints would start from its beginning again.
func DefaultStrategyOptions(checkpointing bool) StrategyOptions {
	o := StrategyOptions{
		Type:               StrategyNone,
		FixedDelayAttempts: 1, FixedDelayMs: 1000,
		FailureRateMax: 1, FailureRateIntervalMs: 60_000, FailureRateDelayMs: 1000,
		ExponentialInitialMs: 1000, ExponentialMaxMs: 60_000, ExponentialMultiplier: 1.5,
		ExponentialResetMs: 3_600_000, ExponentialJitterFactor: 0.1, ExponentialAttempts: InfiniteAttempts,
	}
	if checkpointing {
		o.Type = StrategyExponentialDelay
	}
	return o
}

// NewStrategy makes the strategy o asks for. Type takes Flink's names: none, disable, off;
// fixed-delay, fixeddelay; exponential-delay, exponentialdelay; failure-rate, failurerate; case does
// not matter. The error names the option that cannot be used.
func NewStrategy(o StrategyOptions) (Strategy, error) {
	switch strings.ToLower(o.Type) {
	case StrategyNone, "disable", "off":
		return noRestart{}, nil
	case StrategyFixedDelay, "fixeddelay":
		return newFixedDelay(o)
	case StrategyFailureRate, "failurerate":
		return newFailureRate(o)
	case StrategyExponentialDelay, "exponentialdelay":
		return newExponentialDelay(o)
	}
	return nil, fmt.Errorf("restart-strategy.type: %q is none of none, fixed-delay, exponential-delay, failure-rate", o.Type)
}

// suppressedBy opens the sentence that Flink puts on top of every failure it does not recover from.
const suppressedBy = "Recovery is suppressed by "

type noRestart struct{}

func (noRestart) Name() string                  { return StrategyNone }
func (noRestart) OnFailure(int64) (bool, int64) { return false, 0 }
func (noRestart) Suppressed() string            { return suppressedBy + "NoRestartBackoffTimeStrategy" }
func (noRestart) Describe() string              { return "Restart deactivated." }

// fixedDelay restarts a number of times, always after the same delay.
type fixedDelay struct {
	attempts int
	delayMs  int64
	failures int
}

func newFixedDelay(o StrategyOptions) (Strategy, error) {
	if o.FixedDelayAttempts < 0 {
		return nil, fmt.Errorf("restart-strategy.fixed-delay.attempts: %d is negative", o.FixedDelayAttempts)
	}
	if o.FixedDelayMs < 0 {
		return nil, fmt.Errorf("restart-strategy.fixed-delay.delay: %d ms is negative", o.FixedDelayMs)
	}
	return &fixedDelay{attempts: o.FixedDelayAttempts, delayMs: o.FixedDelayMs}, nil
}

func (*fixedDelay) Name() string { return StrategyFixedDelay }

func (s *fixedDelay) OnFailure(int64) (bool, int64) {
	s.failures++
	if s.failures > s.attempts {
		return false, 0
	}
	return true, s.delayMs
}

func (s *fixedDelay) Suppressed() string {
	return fmt.Sprintf("%sFixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=%d, backoffTimeMS=%d)",
		suppressedBy, s.attempts, s.delayMs)
}

func (s *fixedDelay) Describe() string {
	return fmt.Sprintf("Restart with fixed delay (%s). #%d restart attempts.", isoDuration(s.delayMs), s.attempts)
}

// failureRate restarts until more than max failures fall into one interval.
type failureRate struct {
	maxFailures         int
	intervalMs, delayMs int64
	recentMs            []int64 // times of the latest failures, oldest first, at most maxFailures+1
}

func newFailureRate(o StrategyOptions) (Strategy, error) {
	if o.FailureRateMax <= 0 {
		return nil, fmt.Errorf("restart-strategy.failure-rate.max-failures-per-interval: %d is not positive", o.FailureRateMax)
	}
	if o.FailureRateIntervalMs <= 0 {
		return nil, fmt.Errorf("restart-strategy.failure-rate.failure-rate-interval: %d ms is not positive", o.FailureRateIntervalMs)
	}
	if o.FailureRateDelayMs < 0 {
		return nil, fmt.Errorf("restart-strategy.failure-rate.delay: %d ms is negative", o.FailureRateDelayMs)
	}
	return &failureRate{maxFailures: o.FailureRateMax, intervalMs: o.FailureRateIntervalMs, delayMs: o.FailureRateDelayMs}, nil
}

func (*failureRate) Name() string { return StrategyFailureRate }

func (s *failureRate) OnFailure(nowMs int64) (bool, int64) {
	s.recentMs = append(s.recentMs, nowMs)
	if len(s.recentMs) <= s.maxFailures {
		return true, s.delayMs
	}
	oldest := s.recentMs[len(s.recentMs)-s.maxFailures-1]
	s.recentMs = append(s.recentMs[:0], s.recentMs[len(s.recentMs)-s.maxFailures:]...)
	if nowMs-oldest <= s.intervalMs {
		return false, 0
	}
	return true, s.delayMs
}

// Suppressed names the strategy twice and leaves a bracket open: so Flink prints it, and tools that
// look for its text must find it in ours.
func (s *failureRate) Suppressed() string {
	return fmt.Sprintf("%sFailureRateRestartBackoffTimeStrategy(FailureRateRestartBackoffTimeStrategy("+
		"failuresIntervalMS=%d,backoffTimeMS=%d,maxFailuresPerInterval=%d)", suppressedBy, s.intervalMs, s.delayMs, s.maxFailures)
}

func (s *failureRate) Describe() string {
	return fmt.Sprintf("Failure rate restart with maximum of %d failures within interval %s and fixed delay %s.",
		s.maxFailures, isoDuration(s.intervalMs), isoDuration(s.delayMs))
}

// exponentialDelay multiplies the delay with every attempt up to a limit, and starts over after a
// time without failures. Failures until the restart is due count as one attempt, because they are
// mostly the same one seen by several tasks.
type exponentialDelay struct {
	o             StrategyOptions
	random        *rand.Rand
	attempt       int
	nextRestartMs int64
	backoffMs     float64
}

func newExponentialDelay(o StrategyOptions) (Strategy, error) {
	const prefix = "restart-strategy.exponential-delay."
	for _, check := range []struct {
		ok     bool
		option string
		value  any
		want   string
	}{
		{o.ExponentialInitialMs >= 1, "initial-backoff", o.ExponentialInitialMs, "at least 1 ms"},
		{o.ExponentialMaxMs >= o.ExponentialInitialMs, "max-backoff", o.ExponentialMaxMs, "at least initial-backoff"},
		{o.ExponentialMultiplier >= 1 && !math.IsInf(o.ExponentialMultiplier, 1), "backoff-multiplier", o.ExponentialMultiplier, "at least 1"},
		{o.ExponentialResetMs >= 1, "reset-backoff-threshold", o.ExponentialResetMs, "at least 1 ms"},
		{o.ExponentialJitterFactor >= 0 && o.ExponentialJitterFactor <= 1, "jitter-factor", o.ExponentialJitterFactor, "between 0 and 1"},
		{o.ExponentialAttempts >= 1, "attempts-before-reset-backoff", o.ExponentialAttempts, "at least 1"},
	} {
		if !check.ok {
			return nil, errors.New(prefix + check.option + ": " + fmt.Sprint(check.value) + " is not " + check.want)
		}
	}
	return &exponentialDelay{o: o, random: rand.New(rand.NewPCG(o.Seed, 0)), backoffMs: float64(o.ExponentialInitialMs)}, nil
}

func (*exponentialDelay) Name() string { return StrategyExponentialDelay }

func (s *exponentialDelay) OnFailure(nowMs int64) (bool, int64) {
	waiting := s.attempt > 0 && nowMs < s.nextRestartMs
	if !waiting {
		s.nextAttempt(nowMs)
	}
	if s.attempt > s.o.ExponentialAttempts {
		return false, 0
	}
	return true, s.nextRestartMs - nowMs
}

func (s *exponentialDelay) nextAttempt(nowMs int64) {
	quietMs := nowMs - s.nextRestartMs
	switch {
	case s.attempt > 0 && quietMs >= s.o.ExponentialResetMs:
		s.attempt = 0
		s.backoffMs = float64(s.o.ExponentialInitialMs)
	case s.attempt > 0:
		s.backoffMs = min(s.backoffMs*s.o.ExponentialMultiplier, float64(s.o.ExponentialMaxMs))
	}
	s.attempt++
	jitterMs := int64(s.backoffMs * s.o.ExponentialJitterFactor)
	delayMs := int64(s.backoffMs)
	if jitterMs > 0 {
		delayMs += s.random.Int64N(2*jitterMs+1) - jitterMs
	}
	s.nextRestartMs = nowMs + min(delayMs, s.o.ExponentialMaxMs)
}

func (s *exponentialDelay) Suppressed() string {
	return fmt.Sprintf("%sExponentialDelayRestartBackoffTimeStrategy(initialBackoffMS=%d, maxBackoffMS=%d, backoffMultiplier=%s, "+
		"resetBackoffThresholdMS=%d, jitterFactor=%s, attemptsBeforeResetBackoff=%d, currentRestartAttempt=%d, nextRestartTimestamp=%d)",
		suppressedBy, s.o.ExponentialInitialMs, s.o.ExponentialMaxMs, javaDouble(s.o.ExponentialMultiplier),
		s.o.ExponentialResetMs, javaDouble(s.o.ExponentialJitterFactor), s.o.ExponentialAttempts, s.attempt, s.nextRestartMs)
}

func (s *exponentialDelay) Describe() string {
	return fmt.Sprintf("Restart with exponential delay: starting at %s, increasing by %f, with maximum %s. "+
		"Delay resets after %s with jitter %f", isoDuration(s.o.ExponentialInitialMs), s.o.ExponentialMultiplier,
		isoDuration(s.o.ExponentialMaxMs), isoDuration(s.o.ExponentialResetMs), s.o.ExponentialJitterFactor)
}

// javaDouble prints a number as Java does, with a decimal point in any case.
func javaDouble(x float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// isoDuration prints a duration as Java does: hours, minutes and seconds, never days.
func isoDuration(ms int64) string {
	if ms == 0 {
		return "PT0S"
	}
	var b strings.Builder
	b.WriteString("PT")
	if h := ms / 3_600_000; h != 0 {
		fmt.Fprintf(&b, "%dH", h)
	}
	if m := ms / 60_000 % 60; m != 0 {
		fmt.Fprintf(&b, "%dM", m)
	}
	if s := ms % 60_000; s != 0 {
		b.WriteString(strconv.FormatFloat(float64(s)/1000, 'f', -1, 64) + "S")
	}
	return b.String()
}
