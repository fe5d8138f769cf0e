package plans

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden stands where a secret would be shown.
const Hidden = "***"

const (
	// leastSecret is the shortest value that is looked for inside other texts, in bytes: shorter ones
	// stand in every second word. They are hidden where they are a value of their own.
	leastSecret = 4
	// leastPart is how much of a longer value's beginning is hidden too: messages clip what is long.
	leastPart = 12
)

// HasSecrets reports whether values came from the environment or from files.
func (p *Plan) HasSecrets() bool { return p != nil && len(p.secrets) > 0 }

// Hide replaces in a text every value that came from ${env:NAME} or ${file:PATH}, also where it is
// quoted, escaped for a URL, or cut short.
func (p *Plan) Hide(s string) string {
	if p == nil {
		return s
	}
	return hideIn(p.secrets, s)
}

// HideError gives an error whose text hides the secrets; what it wraps is still found.
func (p *Plan) HideError(err error) error {
	if err == nil || !p.HasSecrets() {
		return err
	}
	var fs Findings
	if errors.As(err, &fs) {
		return p.HideFindings(fs)
	}
	return &hiddenError{text: p.Hide(err.Error()), err: err}
}

type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }

// HideFindings hides the secrets in what findings say. The line they show is the plan's own.
func (p *Plan) HideFindings(fs Findings) Findings {
	if !p.HasSecrets() {
		return fs
	}
	return hideFindings(p.secrets, fs)
}

func hideFindings(secrets []string, fs Findings) Findings {
	for i := range fs {
		f := &fs[i]
		for _, s := range []*string{&f.Message, &f.Expected, &f.Near, &f.Hint} {
			*s = hideIn(secrets, *s)
		}
	}
	return fs
}

// HideJSON hides the secrets in the texts of a JSON document, and in what such a text holds in Base64.
// Everything else stays byte for byte.
func (p *Plan) HideJSON(doc []byte) []byte {
	if !p.HasSecrets() {
		return doc
	}
	var out []byte
	for i := 0; i < len(doc); {
		if doc[i] != '"' {
			out = append(out, doc[i])
			i++
			continue
		}
		end := i + 1
		for end < len(doc) && doc[end] != '"' {
			if doc[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(doc))
		out = append(out, p.hideString(doc[i:end])...)
		i = end
	}
	return out
}

func (p *Plan) hideString(quoted []byte) []byte {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	hidden := p.Hide(s)
	if b, err := base64.StdEncoding.DecodeString(s); err == nil && len(b) >= leastSecret {
		if text := string(b); p.Hide(text) != text {
			hidden = Hidden
		}
	}
	if hidden == s {
		return quoted
	}
	b, err := json.Marshal(hidden)
	if err != nil {
		return []byte(`"` + Hidden + `"`)
	}
	return b
}

// hideIn hides secrets in a text, the longest first: one may be part of another.
func hideIn(secrets []string, s string) string {
	if len(secrets) == 0 || s == "" {
		return s
	}
	var forms []string
	for _, secret := range secrets {
		if secret == s {
			return Hidden
		}
		forms = append(forms, writtenAs(secret)...)
	}
	sort.SliceStable(forms, func(i, j int) bool { return len(forms[i]) > len(forms[j]) })
	// Whole ones first: the beginning that two of them have in common would leave the rest of one.
	for _, form := range forms {
		s = strings.ReplaceAll(s, form, Hidden)
	}
	return hideParts(s, forms)
}

// writtenAs are the ways a value is written: as it is, in SQL, quoted, in JSON, in a URL; and its lines.
func writtenAs(secret string) []string {
	forms := []string{secret, strings.ReplaceAll(secret, "'", "''"), url.QueryEscape(secret), url.PathEscape(secret)}
	q := strconv.Quote(secret)
	forms = append(forms, q[1:len(q)-1])
	if b, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(b[1:len(b)-1]))
	}
	if strings.Contains(secret, "\n") {
		forms = append(forms, strings.Split(secret, "\n")...)
	}
	seen := map[string]bool{}
	out := forms[:0]
	for _, f := range forms {
		if len(f) >= leastSecret && !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// hideParts replaces, of forms that are long, every beginning that is long enough to give one away.
func hideParts(s string, forms []string) string {
	var b strings.Builder
	for {
		at, n := -1, 0
		for _, form := range forms {
			if i := strings.Index(s, form[:min(len(form), leastPart)]); i >= 0 && (at < 0 || i <= at) {
				if k := alike(s[i:], form); i < at || at < 0 || k > n {
					at, n = i, k
				}
			}
		}
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		for at+n < len(s) && !utf8.RuneStart(s[at+n]) {
			n++
		}
		b.WriteString(s[:at])
		b.WriteString(Hidden)
		s = s[at+n:]
	}
}

// alike is how many bytes two texts begin with alike.
func alike(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
