package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

var update = flag.Bool("update", false, "write report.schema.json anew")

// TestSchemaIsFresh holds the published schema to the Go types.
func TestSchemaIsFresh(t *testing.T) {
	r := jsonschema.Reflector{AllowAdditionalProperties: true, DoNotReference: false, ExpandedStruct: true}
	r.Namer = func(t reflect.Type) string { // two packages have a Restart
		if strings.HasSuffix(t.PkgPath(), "/failure") && t.Name() != "Failure" {
			return "Failure" + t.Name()
		}
		return t.Name()
	}
	s := r.Reflect(&report.Report{})
	s.ID = ""
	s.Title = "Run report"
	s.Description = "One run of a plan: what ran where, why each vertex got its parallelism, and what broke. Fields may be added within a schemaVersion."
	allowNull(s)
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *update {
		if err := os.WriteFile("report.schema.json", b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b, report.Schema) {
		t.Error("report.schema.json is not what the Go types say: go test ./runner/report -update")
	}
}

// allowNull lets the parts that are pointers in Go be null: a run without a failure, one that ended before it had books.
func allowNull(s *jsonschema.Schema) {
	for _, name := range []string{"failure", "books"} {
		p, ok := s.Properties.Get(name)
		if !ok {
			panic("the report has no " + name)
		}
		s.Properties.Set(name, &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "null"}, p}})
	}
	for _, d := range s.Definitions {
		if p, ok := d.Properties.Get("rootCause"); ok {
			d.Properties.Set("rootCause", &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "null"}, p}})
		}
	}
}
