package plans

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// onErrorForms says what on_error takes.
const onErrorForms = "fail, skip, or {skip: {max_rows: 100, max_share: 0.1 %}}"

// onError reads what becomes of bad rows.
func (r *reader) onError(e spec.Entry, path string) *OnError {
	o := &OnError{MaxRows: -1, MaxShare: -1, Pos: at(e.Pos, path)}
	if e.Value.Kind != spec.Mapping {
		text, ok := r.scalar(e.Value, path, onErrorForms)
		switch {
		case !ok:
			return nil
		case text == "skip":
			o.Skip = true
		case text != "fail":
			r.wrongType(&spec.Node{Text: text, Pos: e.Value.Pos}, path, onErrorForms, "")
			return nil
		}
		return o
	}
	for _, k := range e.Value.Keys {
		if k.Key != "skip" {
			r.unknownKey(k, path+"."+k.Key, "on_error", []string{"skip"})
			continue
		}
		o.Skip = true
		r.limits(o, k.Value, path+".skip")
	}
	if !o.Skip {
		if len(e.Value.Keys) == 0 {
			r.wrongType(e.Value, path, onErrorForms, "")
		}
		return nil
	}
	return o
}

// limits reads how many bad rows are allowed.
func (r *reader) limits(o *OnError, n *spec.Node, path string) {
	if n.Nothing() {
		return
	}
	if n.Kind != spec.Mapping {
		r.wrongType(n, path, "a mapping with max_rows and max_share", "")
		return
	}
	for _, k := range n.Keys {
		at := path + "." + k.Key
		switch k.Key {
		case "max_rows":
			if v, ok := r.count(k.Value, at, 0, 0); ok {
				o.MaxRows = v
			}
		case "max_share":
			if text, ok := r.scalar(k.Value, at, shareForms); ok {
				v, err := parseShare(text)
				if err != nil {
					r.wrongType(&spec.Node{Text: text, Pos: k.Value.Pos}, at, shareForms, err.Error())
				}
				o.MaxShare = v
			}
		default:
			r.unknownKey(k, at, "skip", []string{"max_rows", "max_share"})
		}
	}
}

const shareForms = "a share of the rows from 0 to 1, or in percent such as 0.1 %"

// parseShare reads 0.001 or 0.1 %.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return -1, fmt.Errorf("%q is no number", number)
	}
	if percent {
		v /= 100
	}
	if !(v >= 0 && v <= 1) {
		return -1, fmt.Errorf("%s is not from 0 to 1", text)
	}
	return v, nil
}
