package jobmaster

import (
	"fmt"
	"strconv"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// The options that the JobMaster reads itself, with Flink's names.
const (
	OptSlotTimeout = "slot.request.timeout"
	OptRestart     = "restart-strategy.type"

	// Of ours: how long a stream goes on after a failure of its data.
	OptSettleTimeout = "runner.streaming.settle-timeout"

	restartPrefix = "restart-strategy."
)

// readOptions makes the restart strategy and reads the slot request timeout.
func (j *JobMaster) readOptions() error {
	j.slots.timeoutMs = 300_000
	j.slots.waitingMs = -1
	if text := j.graph.Option(OptSlotTimeout); text != "" {
		ms, err := jobgraph.Option{Name: OptSlotTimeout, Value: text}.Millis()
		if err != nil {
			return err
		}
		j.slots.timeoutMs = ms
	}
	if text := j.graph.Option(OptBarrierInterval); text != "" && j.graph.Streaming() {
		ms, err := jobgraph.Option{Name: OptBarrierInterval, Value: text}.Millis()
		if err != nil {
			return err
		}
		j.barriers.everyMs = ms
	}
	j.settleMs = 10_000
	if text := j.graph.Option(OptSettleTimeout); text != "" {
		ms, err := jobgraph.Option{Name: OptSettleTimeout, Value: text}.Millis()
		if err != nil {
			return err
		}
		j.settleMs = ms
	}
	o := failure.DefaultStrategyOptions(false)
	o.Seed = j.config.Seed
	if text := j.graph.Option(OptRestart); text != "" {
		o.Type = text
	}
	if err := j.restartNumbers(&o); err != nil {
		return err
	}
	if err := j.restartTimes(&o); err != nil {
		return err
	}
	var err error
	j.strategy, err = failure.NewStrategy(o)
	return err
}

func (j *JobMaster) restartNumbers(o *failure.StrategyOptions) error {
	for _, n := range []struct {
		name string
		to   *int
	}{
		{"fixed-delay.attempts", &o.FixedDelayAttempts},
		{"failure-rate.max-failures-per-interval", &o.FailureRateMax},
		{"exponential-delay.attempts-before-reset-backoff", &o.ExponentialAttempts},
	} {
		text := j.graph.Option(restartPrefix + n.name)
		if text == "" {
			continue
		}
		x, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%s%s: %q is not a number", restartPrefix, n.name, text)
		}
		*n.to = x
	}
	for _, n := range []struct {
		name string
		to   *float64
	}{
		{"exponential-delay.backoff-multiplier", &o.ExponentialMultiplier},
		{"exponential-delay.jitter-factor", &o.ExponentialJitterFactor},
	} {
		text := j.graph.Option(restartPrefix + n.name)
		if text == "" {
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%s%s: %q is not a number", restartPrefix, n.name, text)
		}
		*n.to = x
	}
	return nil
}

func (j *JobMaster) restartTimes(o *failure.StrategyOptions) error {
	for _, n := range []struct {
		name string
		to   *int64
	}{
		{"fixed-delay.delay", &o.FixedDelayMs},
		{"failure-rate.failure-rate-interval", &o.FailureRateIntervalMs},
		{"failure-rate.delay", &o.FailureRateDelayMs},
		{"exponential-delay.initial-backoff", &o.ExponentialInitialMs},
		{"exponential-delay.max-backoff", &o.ExponentialMaxMs},
		{"exponential-delay.reset-backoff-threshold", &o.ExponentialResetMs},
	} {
		text := j.graph.Option(restartPrefix + n.name)
		if text == "" {
			continue
		}
		x, err := jobgraph.Option{Name: restartPrefix + n.name, Value: text}.Millis()
		if err != nil {
			return err
		}
		*n.to = x
	}
	return nil
}
