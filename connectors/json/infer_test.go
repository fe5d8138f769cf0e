package json

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
)

// TestInferLarge: of large files a sample is looked at, spread over them, which is said; a value that the sample
// did not have and that does not fit fails with what the plan could say.
func TestInferLarge(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < infer.Budget+infer.Budget/2; i++ {
		fmt.Fprintf(&b, "{\"id\":%d,\"at\":\"2024-01-02 10:00:00\",\"amount\":%d.5,\"pad\":%q}\n", i, i%100, strings.Repeat("x", i%40))
	}
	text := b.String()
	_, state, err := bindText(t, Options{}, connectors.Env{}, text)
	if err != nil {
		t.Fatal(err)
	}
	var got bound
	if err := json.Unmarshal(state, &got); err != nil {
		t.Fatal(err)
	}
	v := got.Inferred
	if v == nil || v.Whole || v.Bytes > 2*infer.Budget || v.Rows < 1000 || v.OfBytes != int64(len(text)) {
		t.Fatalf("inferred: %+v", v)
	}
	if s := got.Columns.schema().String(); s != "id BIGINT, at TIMESTAMP(6), amount DECIMAL(18, 1), pad STRING" {
		t.Fatalf("columns: %s", s)
	}
	if _, err := readAll(t, state, how{split: 4 << 20}); err != nil {
		t.Fatal(err)
	}
	// The same state over another text: what the sample could not know.
	for value, want := range map[string]string{
		`{"id":1.5}`:        "cannot cast '1.5' to BIGINT",
		`{"amount":1.25}`:   "'1.25' would not stay what it is as DECIMAL(18, 1)",
		`{"at":"tomorrow"}`: "cannot cast 'tomorrow' to TIMESTAMP(6)",
		`{"id":[1]}`:        "cannot cast an array to BIGINT",
	} {
		_, small, err := bindText(t, Options{Columns: got.Columns}, connectors.Env{}, value+"\n")
		if err != nil {
			t.Fatal(err)
		}
		var late bound
		if err := json.Unmarshal(small, &late); err != nil {
			t.Fatal(err)
		}
		late.Inferred = v
		if small, err = json.Marshal(late); err != nil {
			t.Fatal(err)
		}
		_, err = readAll(t, small, how{split: 1 << 20})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the type was inferred from a sample of") {
			t.Errorf("%s: %v", value, err)
		}
	}
}
