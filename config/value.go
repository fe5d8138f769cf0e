package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// An Error is a fault of an option or its value.
type Error struct {
	Rule     string // unknown-option, invalid-option, cluster-option, doubled-option, not-supported-yet
	Option   string
	Where    string // "plans/orders.yaml:40:3", "environment RUNNER_…", "-D", "config.yaml"
	Message  string
	Expected string
	Near     string
	Hint     string
}

// The rules of options.
const (
	RuleUnknownOption = "unknown-option"
	RuleInvalidOption = "invalid-option"
	RuleClusterOption = "cluster-option"
	RuleDoubledOption = "doubled-option"
	RuleNotYet        = "not-supported-yet"
)

// Error is the message with everything known.
func (e *Error) Error() string {
	s := e.Message
	if e.Where != "" {
		s = e.Where + ": " + s
	}
	if e.Expected != "" {
		s += ": expected " + e.Expected
	}
	if e.Near != "" {
		s += " (did you mean " + e.Near + "?)"
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Check judges a name and its value; the error has no place yet.
func (r Registry) Check(name, value string) *Error {
	o := r.Lookup(name)
	if o == nil {
		e := &Error{Rule: RuleUnknownOption, Option: name, Message: fmt.Sprintf("unknown option %q", name), Near: r.Near(name)}
		if e.Near == "" && Coming(name) {
			e.Rule, e.Message = RuleNotYet, fmt.Sprintf("option %s is not supported yet", name)
		}
		return e
	}
	return o.Check(value)
}

// Check judges a value; nil where it is fine.
func (o *Option) Check(value string) *Error {
	switch o.Type {
	case Enum:
		return o.checkEnum(value)
	case Boolean:
		_, err := spec.ParseBool(value)
		return o.invalid(value, err)
	case Integer:
		n, err := spec.ParseInt(value)
		return o.checkRange(value, n, err, strconv.FormatInt)
	case Size:
		n, err := spec.ParseBytes(value)
		return o.checkRange(value, n, err, func(n int64, _ int) string { return spec.FormatBytes(n) })
	case Fraction:
		f, err := strconv.ParseFloat(value, 32)
		if err == nil && !(f >= 0 && f < 1) {
			return &Error{Rule: RuleInvalidOption, Option: o.Name, Message: fmt.Sprintf("%s is %s", o.Name, value), Expected: o.Wants()}
		}
		if err != nil {
			err = errors.New("")
		}
		return o.invalid(value, err)
	case Zone:
		if _, err := spec.ParseZone(value); err != nil {
			return o.invalid(value, errors.New("names are those of the zone database, in its spelling"))
		}
		return nil
	case Duration:
		n, err := spec.ParseDuration(value)
		return o.checkRange(value, n, err, func(n int64, _ int) string { return spec.FormatDuration(n) })
	}
	if strings.TrimSpace(value) == "" {
		return &Error{Rule: RuleInvalidOption, Option: o.Name, Message: o.Name + " is empty"}
	}
	return nil
}

func (o *Option) checkEnum(value string) *Error {
	for _, a := range o.Allowed {
		if a == strings.ToLower(value) {
			return nil
		}
	}
	for _, a := range o.Later {
		if a == strings.ToLower(value) {
			return &Error{Rule: RuleNotYet, Option: o.Name, Message: fmt.Sprintf("%s: %s is not supported yet", o.Name, value), Expected: spec.List(o.Allowed)}
		}
	}
	return &Error{Rule: RuleInvalidOption, Option: o.Name, Message: fmt.Sprintf("%s is %q", o.Name, value), Expected: spec.List(o.Allowed),
		Near: spec.Near(value, o.Allowed)}
}

func (o *Option) invalid(value string, err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Rule: RuleInvalidOption, Option: o.Name, Message: fmt.Sprintf("%s is %q", o.Name, value), Expected: o.Wants(), Hint: err.Error()}
}

func (o *Option) checkRange(value string, n int64, err error, format func(int64, int) string) *Error {
	switch {
	case err != nil:
		return o.invalid(value, err)
	case n < o.Min:
		return &Error{Rule: RuleInvalidOption, Option: o.Name, Message: fmt.Sprintf("%s is %s", o.Name, value), Expected: "at least " + format(o.Min, 10)}
	case o.Max > 0 && n > o.Max:
		return &Error{Rule: RuleInvalidOption, Option: o.Name, Message: fmt.Sprintf("%s is %s", o.Name, value), Expected: "at most " + format(o.Max, 10)}
	}
	return nil
}

// canonical writes a value that is fine in one form, so that whoever reads it, perhaps in another
// process, need not know all the forms people may write: "PT1S" becomes "1 s".
func (o *Option) canonical(value string) string {
	switch o.Type {
	case Enum:
		return strings.ToLower(value)
	case Size:
		if n, err := spec.ParseBytes(value); err == nil {
			return spec.FormatBytes(n)
		}
	case Duration:
		if n, err := spec.ParseDuration(value); err == nil {
			return spec.FormatDuration(n)
		}
	}
	return value
}

// Wants says in words what values the option takes.
func (o *Option) Wants() string {
	switch o.Type {
	case Integer:
		return "an integer"
	case Boolean:
		return "true or false"
	case Fraction:
		return "a fraction from 0 to below 1, such as 0.4"
	case Size:
		return "a size such as 4 mb"
	case Duration:
		return "a duration such as 500 ms"
	case Enum:
		return spec.List(o.Allowed)
	case Zone:
		return "a time zone such as Europe/Berlin"
	}
	return "text"
}
