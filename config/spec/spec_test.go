package spec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// pairs is an ordered map that refuses the value "bad".
type pairs []string

func (p *pairs) SetEntry(key, value string) error {
	if value == "bad" {
		return fmt.Errorf("bad is not allowed")
	}
	*p = append(*p, key+"="+value)
	return nil
}

type inner struct {
	Depth int    `yaml:"depth" validate:"min=1" default:"3"`
	Kind  string `yaml:"kind" validate:"omitempty,oneof=a b 'c d'"`
}

type options struct {
	Name    string   `yaml:"name" validate:"required" doc:"Who."`
	Tags    []string `yaml:"tags" validate:"max=2,unique"`
	On      bool     `yaml:"on" default:"true"`
	Maybe   *bool    `yaml:"maybe"`
	Rows    int32    `yaml:"rows"`
	Size    Bytes    `yaml:"size" default:"4 mb"`
	Limit   int64    `yaml:"limit" unit:"bytes"`
	Wait    Duration `yaml:"wait" default:"1 s"`
	Share   float64  `yaml:"share" unit:"share"`
	Rate    float64  `yaml:"rate"`
	Columns pairs    `yaml:"columns"`
	In      inner    `yaml:"in"`
	List    []inner  `yaml:"list" validate:"dive"`
	Map     map[string]int
	Counts  map[string]int   `yaml:"counts"`
	By      map[string]inner `yaml:"by" validate:"dive"`
	Read    string           `yaml:"read" doc:"Sources: only they."`
	Letter  string           `yaml:"letter" validate:"omitempty,len=1"`
}

// text makes a tree of a small language: {k: v, k: v}, [a, b], or a scalar; places are made up.
func tree(s string) *Node {
	t := &reader{s: s}
	n := t.value()
	return n
}

type reader struct {
	s string
	i int
}

func (t *reader) pos() Pos { return Pos{1, t.i + 1} }

func (t *reader) skip(chars string) {
	for t.i < len(t.s) && strings.IndexByte(chars, t.s[t.i]) >= 0 {
		t.i++
	}
}

func (t *reader) value() *Node {
	t.skip(" ")
	n := &Node{Pos: t.pos()}
	if t.i >= len(t.s) {
		n.Null = true
		return n
	}
	switch t.s[t.i] {
	case '{':
		n.Kind = Mapping
		t.i++
		for t.skip(" ,"); t.i < len(t.s) && t.s[t.i] != '}'; t.skip(" ,") {
			e := Entry{Pos: t.pos()}
			e.Key = t.until(":")
			t.i++
			e.Value = t.value()
			n.Keys = append(n.Keys, e)
		}
		t.i++
	case '[':
		n.Kind = Sequence
		t.i++
		for t.skip(" ,"); t.i < len(t.s) && t.s[t.i] != ']'; t.skip(" ,") {
			n.Items = append(n.Items, t.value())
		}
		t.i++
	default:
		n.Text = t.until(",}]")
		n.Null = n.Text == ""
	}
	return n
}

func (t *reader) until(stop string) string {
	start := t.i
	for t.i < len(t.s) && strings.IndexByte(stop, t.s[t.i]) < 0 {
		t.i++
	}
	return strings.TrimSpace(t.s[start:t.i])
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string // "column path: message | expected | near | hint"
	}{
		{"{name: x}", nil},
		{"{name: 02134, tags: NO, on: false, maybe: true, rows: -3, size: 64kb, limit: 1 g, wait: PT1.5S, share: 0.1 %, rate: 1e3}", nil},
		{"{name: x, columns: {B: 1, a: 2, A: 3}, in: {depth: 1}, list: [{depth: 2}, {}], counts: {a: 1}}", nil},
		{"", []string{"1 name: name is missing in it | text | |"}},
		{"x", []string{`1 : it is "x" | a mapping with the keys name, tags, on, maybe, rows, size, limit, wait, share, rate, columns, in, list, counts, by, read and letter | |`}},
		{"{name: }", []string{"8 name: name has no value | text | |"}},
		{"{name: [x]}", []string{"8 name: name is a list | text | |"}},
		{"{name: {}}", []string{"8 name: name is an empty mapping | text | |"}},
		{"{name: x, nmae: y}", []string{`11 nmae: unknown key "nmae" in it | | name |`}},
		{"{name: x, Name: y}", []string{`11 Name: unknown key "Name" in it | | name |`}},
		{"{name: x, zzzzzz: y}", []string{`11 zzzzzz: unknown key "zzzzzz" in it | name, tags, on, maybe, rows, size, limit, wait, share, rate, columns, in, list, counts, by, read or letter | |`}},
		{"{name: x, elsewhere: y}", []string{`11 elsewhere: unknown key "elsewhere" in it | | | elsewhere is a key of another place`}},
		{"{name: x, name: y}", []string{"11 name: name is given twice | | | the first is at line 1, column 2"}},
		{"{name: x, tags: [a, b, c]}", []string{"11 tags: tags must have at most 2 entries | | |"}},
		{"{name: x, tags: [a, a]}", []string{"11 tags: tags holds a value twice | | |"}},
		{"{name: x, tags: [a, [b]]}", []string{"21 tags[1]: tags[1] is a list | text | |"}},
		{"{name: x, on: yes}", []string{`15 on: on is "yes" | true or false | | write true`}},
		{"{name: x, maybe: off}", []string{`18 maybe: maybe is "off" | true or false | | write false`}},
		{"{name: x, rows: 1_000}", []string{`17 rows: rows is "1_000" | an integer | | write the digits without separators`}},
		{"{name: x, rows: 007}", []string{`17 rows: rows is "007" | an integer | | write it without leading zeros`}},
		{"{name: x, rows: 99999999999}", []string{`17 rows: rows is "99999999999" | an integer | | the number is too large`}},
		{"{name: x, rows: 1.5}", []string{`17 rows: rows is "1.5" | an integer | |`}},
		{"{name: x, rows: 0x1F}", []string{`17 rows: rows is "0x1F" | an integer | |`}},
		{"{name: x, size: 4 pb}", []string{`17 size: size is "4 pb" | a size such as 4 mb | | "pb" is not a unit: the units are b, kb, mb, gb or tb`}},
		{"{name: x, wait: soon}", []string{`17 wait: wait is "soon" | a duration such as 500 ms | |`}},
		{"{name: x, share: 120 %}", []string{`18 share: share is "120 %" | a share such as 0.1 % | | more than the whole; the most is 100 %`}},
		{"{name: x, rate: NaN}", []string{`17 rate: rate is "NaN" | a number | |`}},
		{"{name: x, columns: [a]}", []string{"20 columns: columns is a list | a mapping of names to values | |"}},
		{"{name: x, columns: {a: bad, b: , a: 2, c: [1]}}", []string{
			"24 columns.a: a: bad is not allowed | | |", "32 columns.b: b has no value | one value | |",
			"34 columns.a: a is given twice | | | the first is at line 1, column 24", "43 columns.c: c is a list | one value | |",
		}},
		{"{name: x, in: {depth: 0}}", []string{"23 in.depth: depth is 0, and must be at least 1 | | |"}},
		{"{name: x, in: {dept: 1}}", []string{`16 in.dept: unknown key "dept" in in | | depth |`}},
		{"{name: x, in: {kind: c}}", []string{`22 in.kind: kind is "c", and must be a, b or c d | | |`}},
		{"{name: x, in: {kind: c d}}", nil},
		{"{name: x, list: {depth: 1}}", []string{"17 list: list is a mapping | a list of mapping | |"}},
		{"{name: x, list: [{depth: 0}]}", []string{"26 list[0].depth: depth is 0, and must be at least 1 | | |"}},
		{"{name: x, counts: {a: b}}", []string{`23 counts.a: a is "b" | an integer | |`}},
		{"{name: x, by: {a.b: {depth: 0}}}", []string{"29 by.a.b.depth: depth is 0, and must be at least 1 | | |"}},
		{"{name: x, by: {\"1\": {kind: c}}}", []string{`28 by."1".kind: kind is "c", and must be a, b or c d | | |`}},
		{"{name: x, by: {a: {kid: c}}}", []string{`20 by.a.kid: unknown key "kid" in a | | kind |`}},
		{"{name: x, by: {a: 1}}", []string{`19 by.a: a is "1" | a mapping with the keys depth and kind | |`}},
		{"{name: x, letter: ab}", []string{"19 letter: letter must have exactly 1 character | | |"}},
		{"{name: x, read: y}", []string{"11 read: read is not an option of a sink | | | it belongs to a source"}},
		{"{name: x, hidden: y, Map: z}", []string{
			`11 hidden: unknown key "hidden" in it | name, tags, on, maybe, rows, size, limit, wait, share, rate, columns, in, list, counts, by, read or letter | |`,
			`22 Map: unknown key "Map" in it | name, tags, on, maybe, rows, size, limit, wait, share, rate, columns, in, list, counts, by, read or letter | |`,
		}},
	} {
		role := ""
		if strings.Contains(c.in, "read:") {
			role = "sink"
		}
		var o options
		_, problems := Decode(tree(c.in), &o, Scope{What: "it", Role: role, Elsewhere: func(key string) string {
			if key == "elsewhere" {
				return "another place"
			}
			return ""
		}})
		var got []string
		for _, p := range problems {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s: %s | %s | %s | %s", p.Pos.Column, p.Path, p.Message, p.Expected, p.Near, p.Hint)))
		}
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "|  |", "| |")
			got[i] = strings.ReplaceAll(got[i], "|  |", "| |")
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestDecodedValues(t *testing.T) {
	var o options
	places, problems := Decode(tree("{name: 02134, tags: NO, maybe: true, rows: -3, size: 64kb, limit: 1 g, wait: PT1.5S, share: 0.1 %, columns: {B: 1, a: 2, A: 3}, list: [{}]}"), &o, Scope{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if o.Name != "02134" || o.Tags[0] != "NO" || !o.On || !*o.Maybe || o.Rows != -3 || o.Size != 65536 || o.Limit != 1<<30 || o.Wait != 1500 || o.Share != 0.001 {
		t.Errorf("%+v", o)
	}
	if strings.Join(o.Columns, " ") != "B=1 a=2 A=3" || o.In.Depth != 3 {
		t.Errorf("%+v", o)
	}
	if places["columns.a"] != (Pos{1, 119}) || places["tags[0]"].Column != 21 || places["rows"].Column != 44 {
		t.Errorf("%v", places)
	}
}

func TestUnits(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "12": 12, "1k": 1024, "4 mb": 4 << 20, "4MB": 4 << 20, "2 gibibytes": 2 << 30, "1 tb": 1 << 40} {
		if got, err := ParseBytes(in); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v", in, got, err)
		}
	}
	for in, want := range map[string]int64{"12": 12, "1 s": 1000, "500ms": 500, "3 min": 180_000, "2 h": 7_200_000, "1 d": 86_400_000, "PT1S": 1000, "PT1M30S": 90_000, "P1DT1H": 90_000_000, "PT0.25S": 250} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "mb", "-1", "1.5 mb", "1,5 mb", "4 megs", "9999999999999999999", "9000000 tb"} {
		if n, err := ParseBytes(in); err == nil {
			t.Errorf("ParseBytes(%q) = %d", in, n)
		}
	}
	for _, in := range []string{"", "P", "PT", "PT1", "PTS", "PT1X", "P1H", "PT1.5M", "1 fortnight", "PT99999999999999999999S"} {
		if n, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %d", in, n)
		}
	}
	for _, n := range []int64{0, 1, 1000, 1024, 4 << 20, 3 << 30, 1 << 40} {
		if back, err := ParseBytes(FormatBytes(n)); err != nil || back != n {
			t.Errorf("%d bytes: %s, %d, %v", n, FormatBytes(n), back, err)
		}
	}
	for _, n := range []int64{0, 1, 1500, 60_000, 3_600_000, 86_400_000} {
		if back, err := ParseDuration(FormatDuration(n)); err != nil || back != n {
			t.Errorf("%d ms: %s, %d, %v", n, FormatDuration(n), back, err)
		}
	}
}

func TestNear(t *testing.T) {
	known := []string{"delimiter", "header", "path", "sources", "parallelism", "x"}
	for in, want := range map[string]string{
		"delimter": "delimiter", "souce": "sources", "paralelism": "parallelism", "Path": "path", "pth": "path", "apth": "path",
		"colour": "", "y": "x", "headers": "header", "delimiter": "",
	} {
		if got := Near(in, known); got != want {
			t.Errorf("Near(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFieldsAndSchema(t *testing.T) {
	fs := Fields(new(options))
	if fs[0].Name != "name" || !fs[0].Required || fs[0].Doc != "Who." || fs[5].Default != "4 mb" || fs[5].Type != "a size such as 4 mb" {
		t.Errorf("%+v", fs[:6])
	}
	for _, f := range fs {
		if f.Name == "by" && (len(f.Fields) != 2 || !f.Keyed) {
			t.Errorf("%+v", f)
		}
		if f.Name == "in" && (len(f.Fields) != 2 || len(f.Fields[1].OneOf) != 3) {
			t.Errorf("%+v", f)
		}
	}
	b, err := json.Marshal(JSONSchema(new(options)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"required":["name"]`, `"additionalProperties":false`, `"enum":["a","b","c d"]`, `"default":"4 mb"`, `"default":true`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the schema lacks %s: %s", want, b)
		}
	}
}

// TestUnitsTravel holds that sizes and durations survive JSON, as options do on their way to a task.
func TestUnitsTravel(t *testing.T) {
	type both struct {
		Size Bytes
		Wait Duration
	}
	b, err := json.Marshal(both{4 << 20, 1500})
	if err != nil || string(b) != `{"Size":4194304,"Wait":1500}` {
		t.Fatal(string(b), err)
	}
	var back both
	if err := json.Unmarshal(b, &back); err != nil || back != (both{4 << 20, 1500}) {
		t.Fatal(back, err)
	}
}
