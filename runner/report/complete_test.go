package report_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// unprinted are fields that the text leaves out, and why.
var unprinted = map[string]string{
	"report.Failure.Concurrent[].":   "of what failed at the same time the task, the headline and the root cause are there",
	"report.Sinks[].Rejects.Options": "they are for replay alone",
}

// inBytes are the fields that are shown with a unit.
var inBytes = regexp.MustCompile(`[.](TotalProcessBytes|ManagedBytes|SpilledBytes|StateBytes|BytesIn|BytesOut)$|(Sources\[\].Files|Sources\[\].Rejects|Sinks|Pruning)(\[\])?.Bytes$`)

// fill gives every field a value of its own, and calls see with its path and the value's text.
func fill(v reflect.Value, path string, n *int, see func(path, text string)) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, n, see)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(v.Field(i), path+"."+f.Name, n, see)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"x"`))
			return
		}
		if strings.Count(path, "[]") > 3 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path+"[]", n, see)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(elem, path+"[]", n, see)
		key := fmt.Sprintf("key%d", *n)
		v.SetMapIndex(reflect.ValueOf(key), elem)
		see(path, key)
	case reflect.String:
		v.SetString(fmt.Sprintf("word%d.", *n))
		see(path, v.String())
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(1000 + *n*7))
		text := fmt.Sprint(v.Int())
		if inBytes.MatchString(path) {
			text = report.Bytes(v.Int())
		}
		see(path, text)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

func omitted(path string) bool {
	for prefix := range unprinted {
		rest, below := strings.CutPrefix(path, prefix)
		if below && rest != "Task" && rest != "Headline" && !strings.HasPrefix(rest, "RootCause.") {
			return true
		}
	}
	return false
}

// TestFullIsComplete holds that the text has every value of a report.
func TestFullIsComplete(t *testing.T) {
	var r report.Report
	n := 0
	values := map[string]string{}
	fill(reflect.ValueOf(&r).Elem(), "report", &n, func(path, text string) { values[path] = text })
	r.State, values["report.State"] = "FINISHED", "FINISHED"
	var b strings.Builder
	if err := report.WriteFull(&b, r); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), ",", "")
	for path, value := range values {
		if !omitted(path) && !strings.Contains(text, value) {
			t.Errorf("%s = %s is not in the text", path, value)
		}
	}
}
