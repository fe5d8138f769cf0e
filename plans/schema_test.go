package plans

import (
	"bytes"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchema holds that the schema is one, takes the shipped plans and refuses what editors should
// underline. The decoder here is only the test's: plans themselves are never decoded so.
func TestSchema(t *testing.T) {
	b, err := Schema(testKnown())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	judge := func(text []byte) error {
		j, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	for _, name := range []string{"orders.yaml", "orders_parquet.yaml", "orders_bad.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := judge(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const rest = "\nsinks: {o: {from: a, print: {}}}\n"
	for _, good := range []string{
		"transforms: {t: {from: [a, b], union: {distinct: true}}}" + rest,
		"transforms: {t: {from: a, select: {'*': {except: [x]}, y: z}, order_by: [y DESC], limit: '${n}'}}" + rest,
		"aggregations: {t: {from: a, group_by: [x, {y: UPPER(z)}]}}\nx-free: [1]" + rest,
		"settings: {parallelism.default: 2, runner.source.split-size: 1 mb}" + rest,
	} {
		if err := judge([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"paralelism: 4" + rest,
		"sources: {a: {csv: {path: x, delimter: ';'}}}" + rest,
		"sources: {a: {csv: {path: x}, parquet: {path: x}}}" + rest,
		"sources: {a: {}}" + rest,
		"transforms: {t: {where: x}}" + rest,
		"aggregations: {t: {from: a}}" + rest,
		"settings: {taskmanager.numberOfTaskSlots: 2}" + rest,
		"mode: automatic" + rest,
		"name: x",
	} {
		if judge([]byte(bad)) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}
