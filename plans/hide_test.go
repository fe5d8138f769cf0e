package plans

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	p := &Plan{secrets: []string{"it's \"a\" long secret/ü", "abc", "pass", "password", "line one\nline two"}}
	for text, want := range map[string]string{
		"nothing":                                          "nothing",
		"the it's \"a\" long secret/ü is":                  "the *** is",
		"x = 'it''s \"a\" long secret/ü'":                  "x = '***'",
		`value "it's \"a\" long secret/ü"`:                 `value "***"`,
		"clipped: it's \"a\" long se…":                     "clipped: ***…",
		"db://it%27s%20%22a%22%20long%20secret%2F%C3%BC@h": "db://***@h",
		"password pass":                                    "*** ***",
		"abcdef":                                           "abcdef", // too short to be looked for in a text
		"abc":                                              "***",    // but not as a value of its own
		"line two, line one":                               "***, ***",
	} {
		if got := p.Hide(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	// What two begin with alike is no reason to show how one of them ends.
	p = &Plan{secrets: []string{"/srv/shared/data/hunter22", "/srv/shared/data/swordfish/out"}}
	for text, want := range map[string]string{
		"/srv/shared/data/hunter22/a.csv and /srv/shared/data/swordfish/out": "***/a.csv and ***",
		"/srv/shared/data/swordf… of /srv/shared/data/hunt…":                 "***… of ***…",
		"/srv/shared/other": "***other",
	} {
		if got := p.Hide(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	var none *Plan
	if none.Hide("password") != "password" || none.HasSecrets() || (&Plan{}).HasSecrets() {
		t.Error("a plan without secrets hides something")
	}
}

func TestHideJSON(t *testing.T) {
	p := &Plan{secrets: []string{`a "quoted" secret`, "12345"}}
	doc, err := json.Marshal(map[string]any{
		"n": 12345, "text": `say a "quoted" secret now`, "state": []byte(`{"path":"/12345"}`), "other": base64.StdEncoding.EncodeToString([]byte("harmless text")), "e": "é<",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := string(p.HideJSON(doc))
	want := `{"e":"é\u003c","n":12345,"other":"` + base64.StdEncoding.EncodeToString([]byte("harmless text")) + `","state":"***","text":"say *** now"}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := string(p.HideJSON([]byte(`{"broken`))); got != `{"broken` {
		t.Error(got)
	}
}

func TestHideError(t *testing.T) {
	p := &Plan{secrets: []string{"hunter22"}}
	err := p.HideError(fmt.Errorf("reading hunter22: %w", os.ErrNotExist))
	if err.Error() != "reading ***: file does not exist" || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	err = p.HideError(Findings{{Message: "hunter22", Source: "a: b"}})
	var fs Findings
	if !errors.As(err, &fs) || fs[0].Message != "***" || fs[0].Source != "a: b" {
		t.Error(err)
	}
	if p.HideError(nil) != nil {
		t.Error("no error became one")
	}
}

// TestSystemLookup holds that nothing but small regular files is read.
func TestSystemLookup(t *testing.T) {
	t.Setenv("RUNNER_TEST_SECRET", "x")
	l := SystemLookup()
	if v, set := l.Env("RUNNER_TEST_SECRET"); v != "x" || !set {
		t.Error(v, set)
	}
	dir := t.TempDir()
	if _, err := l.File(dir); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Error(err)
	}
	if _, err := l.File(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) && err == nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 2*mostSecret)), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := l.File(file); err != nil || len(b) != mostSecret+1 {
		t.Error(len(b), err)
	}
}
