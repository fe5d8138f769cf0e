package config

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/viper"
)

// file reads config.yaml through viper, flat ("parallelism.default: 2") or nested. viper folds case,
// so names are compared without it; values are options of processes, whose text survives that.
func (l *loader) file(path string, text []byte) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		l.errs = append(l.errs, fmt.Errorf("reading %s: %w", path, err))
		return
	}
	names := map[string]string{}
	for _, o := range l.reg {
		names[strings.ToLower(o.Name)] = o.Name
	}
	keys := v.AllKeys()
	sort.Strings(keys)
	for _, key := range keys {
		name, known := names[key]
		if !known {
			name = key
		}
		if _, list := v.Get(key).([]any); list && known {
			l.fail(&Error{Rule: RuleInvalidOption, Option: name, Message: name + " is a list", Expected: l.at(name).Wants()}, path)
			continue
		}
		l.set(Value{Name: name, Value: v.GetString(key), Where: path}, FromFile)
	}
}
