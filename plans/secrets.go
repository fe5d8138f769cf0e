package plans

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Lookup finds what ${env:NAME} and ${file:PATH} stand for. The zero Lookup finds nothing.
type Lookup struct {
	Env  func(name string) (value string, set bool)
	File func(path string) ([]byte, error)
}

// mostSecret is how long a file named by ${file:PATH} may be, in bytes.
const mostSecret = 64 << 10

// SystemLookup looks into the environment of this process and into files.
func SystemLookup() Lookup { return Lookup{Env: os.LookupEnv, File: readSecret} }

// readSecret reads a small regular file: a pipe would wait, a device never end.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, reasonOf(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, reasonOf(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	if err != nil {
		return nil, reasonOf(err)
	}
	return b, nil
}

// reasonOf leaves the path out of a message that names it anyway.
func reasonOf(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// A secretRef is what stands between ${ and }: env:NAME, env:NAME:-default or file:PATH.
type secretRef struct {
	text, kind, name string
	standard         string // value where the variable is not set or empty
	hasStandard      bool
}

// isSecret tells ${env:NAME} and ${file:PATH} from parameters.
func isSecret(name string) bool {
	return strings.HasPrefix(name, "env:") || strings.HasPrefix(name, "file:")
}

func secretOf(text string) secretRef {
	kind, name, _ := strings.Cut(text, ":")
	ref := secretRef{text: text, kind: kind, name: name}
	if kind == "env" {
		ref.name, ref.standard, ref.hasStandard = strings.Cut(name, ":-")
	}
	return ref
}

// resolve gives the value of a reference, and whether it came from outside the plan and is to be hidden.
// What cannot be had is a finding, and ok is false.
func (r *reader) resolve(ref secretRef, where Pos) (value string, hidden, ok bool) {
	fail := func(message, hint string) (string, bool, bool) {
		r.add(where, RuleParamValue, "${"+ref.text+"}: "+message, hint)
		return "", false, false
	}
	if ref.name == "" || ref.kind == "env" && strings.ContainsAny(ref.name, "=: \t") {
		f := func() string {
			if ref.kind == "env" {
				return "write ${env:NAME} or ${env:NAME:-default}"
			}
			return "write ${file:PATH}, relative to the plan file"
		}
		return fail("it names nothing", f())
	}
	if ref.kind == "file" {
		return r.resolveFile(ref, fail)
	}
	if r.known.Lookup.Env != nil {
		if v, set := r.known.Lookup.Env(ref.name); set && (v != "" || !ref.hasStandard) {
			return v, true, true
		}
	}
	if ref.hasStandard {
		return ref.standard, false, true
	}
	return fail("the environment variable is not set", fmt.Sprintf("set it, or give a default: ${env:%s:-…}", ref.name))
}

func (r *reader) resolveFile(ref secretRef, fail func(message, hint string) (string, bool, bool)) (string, bool, bool) {
	path := ref.name
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.plan.Dir, path)
	}
	if r.known.Lookup.File == nil {
		return fail("files are not read here", "")
	}
	b, err := r.known.Lookup.File(path)
	switch {
	case err != nil:
		return fail("the file cannot be read: "+err.Error(), "the path is relative to the plan file")
	case len(b) > mostSecret:
		return fail(fmt.Sprintf("the file has more than %d bytes", mostSecret), "")
	case !utf8.Valid(b):
		return fail("the file is no UTF-8 text", "")
	}
	// An editor ends the last line; the value does not.
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	return string(b), true, true
}

// secretParam reads a parameter whose value is one reference, whose default gives the type, or a text
// with references in it. set says that the command line has a value, so that nothing is looked up.
func (r *reader) secretParam(p *Param, n *spec.Node, path string, set bool) {
	where := at(n.Pos, path)
	p.Secret = set
	whole := reference.FindStringSubmatch(n.Text)
	if whole == nil || whole[0] != n.Text {
		p.Source = "plan"
		p.set(expr.Of(expr.String), unknownText)
		if !set {
			before := len(r.plan.secrets)
			p.set(expr.Of(expr.String), r.fill(n, path))
			p.Secret = len(r.plan.secrets) > before
		}
		return
	}
	ref := secretOf(whole[1])
	p.Source = ref.kind
	kind := expr.String
	if ref.hasStandard {
		kind = typeOfScalar(&spec.Node{Text: ref.standard, Quoted: n.Quoted})
	}
	if set {
		p.set(expr.Of(kind), unknownText)
		return
	}
	value, hidden, ok := r.resolve(ref, where)
	if !ok {
		p.set(expr.Of(kind), unknownText)
		return
	}
	p.Secret = hidden
	r.hide(hidden, value)
	if err := p.read(kind, value); err != nil {
		r.add(where, RuleParamValue, fmt.Sprintf("the parameter %s: the value of ${%s} is no %s, as its default is", p.Name, ref.text, expr.Of(kind)), "")
		p.set(expr.Of(expr.String), unknownText)
	}
}

// hide notes a value that is not to be shown.
func (r *reader) hide(hidden bool, value string) {
	if hidden && value != "" {
		r.plan.secrets = append(r.plan.secrets, value)
		r.text.secrets = r.plan.secrets
	}
}
