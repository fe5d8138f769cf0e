package plans

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// inspect looks through the tokens before anything recurses over them: how deep they nest, and what
// YAML is known to cut or refuse in plans. It reports whether parsing makes sense.
func (tr *tree) inspect(tokens token.Tokens) bool {
	d := depth{}
	var last *token.Token
	for i, tk := range tokens {
		if tk.Type == token.CommentType {
			continue
		}
		rule, message := d.judge(i, tk, last)
		if rule != "" {
			p := tr.pos(tk)
			tr.add(rule, p.Line, p.Column, message, "")
			return false
		}
		tr.inspectToken(tk, last)
		last = tk
	}
	if last != nil && last.Type == token.AliasType {
		tr.add(RuleStar, last.Position.Line, last.Position.Column, starMessage, starHint)
	}
	return len(tr.findings) == 0
}

const (
	starMessage = "an unquoted * begins a YAML alias"
	starHint    = `write "*": {except: [a]}, or "*" in a list`
)

func (tr *tree) inspectToken(tk, last *token.Token) {
	p := tr.pos(tk)
	switch {
	case tk.Type == token.MappingStartType && last != nil && last.Type == token.StringType && strings.HasSuffix(last.Value, "$"):
		tr.add(RuleFlowCut, p.Line, max(p.Column-1, 1), "inside { } and [ ] a parameter must stand in quotes", `write {path: "${out}"}, or one line a key`)
	case last != nil && last.Type == token.AliasType && (tk.Type != token.StringType || strings.HasPrefix(tk.Value, ":") || !adjacent(last, tk)):
		p = tr.pos(last)
		tr.add(RuleStar, p.Line, p.Column, starMessage, starHint)
	case tk.Type == token.TagType:
		tr.add(RuleTag, p.Line, p.Column, fmt.Sprintf("the YAML tag %s is not read", tk.Value),
			"types come from where a value stands, and bare values keep their text; quote the value if it is meant to begin with !")
	case tk.Type == token.InvalidType:
		tr.invalid(tk)
	case tk.Type == token.DirectiveType && last != nil && last.Type != token.DocumentEndType && p.Column > 1:
		tr.add(RuleSyntax, p.Line, p.Column, "a value cannot begin with %", "put the whole value in quotes")
	}
}

func adjacent(a, b *token.Token) bool {
	return a.Position.Line == b.Position.Line && a.Position.Column+1 == b.Position.Column
}

// invalid explains a token that the lexer could not make.
func (tr *tree) invalid(tk *token.Token) {
	p := tr.pos(tk)
	message, hint := tk.Error, ""
	switch rest := strings.TrimLeft(tk.Origin, " \n"); {
	case strings.HasPrefix(rest, "`"):
		message, hint = "a value cannot begin with a backtick", "put the whole value in double quotes: \"`Flight Date` IS NOT NULL\""
	case strings.HasPrefix(rest, "@"):
		message, hint = "a value cannot begin with @", "put the whole value in quotes"
	case strings.Contains(tk.Error, "'\t'"):
		message, hint = "a tab cannot indent", "indent with spaces"
	case strings.Contains(tk.Error, "could not find end character"):
		message = "a quote is not closed"
	default:
		if tr.cutCall(p.Line) {
			return
		}
		if afterQuote(tr.text.line(p.Line)) {
			message, hint = "text follows the closing quote", quoteHint
		}
	}
	if n := len(tr.findings); n > 0 && tr.findings[n-1].Rule == RuleSyntax && tr.findings[n-1].Line == p.Line {
		return // one per line is enough
	}
	tr.add(RuleSyntax, p.Line, p.Column, message, hint)
}

const quoteHint = `YAML takes a leading quote for its own: put the whole value in double quotes ("'x' || y"), or write it below a |`

var leadingQuote = regexp.MustCompile(`(?:^|[:\-,\[{] +)(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")[ \t]*[^\s,\]}:#]`)

// afterQuote reports whether a line has a value that goes on after its closing quote.
func afterQuote(line string) bool { return leadingQuote.MatchString(line) }

// callInFlow is a call within [ ] or { } whose arguments a comma and a quote come between.
var callInFlow = regexp.MustCompile(`[\[{,]\s*(?:[A-Za-z_][A-Za-z0-9_]*:\s+)?([A-Za-z_][A-Za-z0-9_]*\([^'"\[\]{}]*,\s*'(?:[^']|'')*'[^\[\]{}]*?\))`)

// cutCall explains a call of a function that flow style cuts at its comma, where a quote comes behind it.
func (tr *tree) cutCall(line int) bool {
	text := tr.text.line(line)
	m := callInFlow.FindStringSubmatchIndex(text)
	if m == nil {
		return false
	}
	call := text[m[2]:m[3]]
	f := tr.add(RuleFlowCut, line, utf8.RuneCountInString(text[:m[2]])+1, "inside [ ] and { } a comma ends the value, so this call is cut in two",
		"on a line of its own it needs no quotes, and in a list a name: - name: "+call)
	f.Expected = fmt.Sprintf("the whole value in double quotes, %q", call)
	return true
}

var missingSpace = regexp.MustCompile(`^\s*(?:- )?[A-Za-z_][A-Za-z0-9_.-]*:[^\s:/]`)

// syntax explains why the library's parser gave up.
func (tr *tree) syntax(err error) {
	message, hint, p := err.Error(), "", spec.Pos{Line: 1, Column: 1}
	var e *yaml.SyntaxError
	if errors.As(err, &e) {
		message, p = e.GetMessage(), tr.pos(e.GetToken())
	}
	line := tr.text.line(p.Line)
	switch {
	case tr.cutCall(p.Line):
		return
	case afterQuote(line):
		message, hint = "text follows the closing quote", quoteHint
	case strings.Contains(message, "mapping value is not allowed"):
		message, hint = "a colon and a space stand inside a value, or the line is indented too far",
			"put the whole value in quotes, or write it below a |; lines of one mapping begin in the same column"
	case strings.Contains(message, "must be specified"):
		message, hint = "a [ or { is not closed before this", "a value with [ ] { } or , in it stands in quotes"
	case strings.Contains(message, "could not find end character"):
		message, hint = "a quote is not closed", ""
	case missingSpace.MatchString(line):
		message, hint = "this is no key: value", "a space belongs after the colon of a key"
	case strings.Contains(message, "non-map value"), strings.Contains(message, "unexpected key name"):
		message, hint = "this is no key: value", "lines of one mapping begin in the same column and hold a key each"
	case strings.Contains(message, "invalid key"):
		message, hint = "this cannot be a key", "a key is a plain or quoted text"
	case strings.Contains(message, "sequence entries are not allowed"):
		hint = "a list begins on its own line; quote a value that begins with -"
	case strings.Contains(message, "not allowed in this context"):
		hint = "lines of one mapping or list begin in the same column"
	}
	tr.add(RuleSyntax, p.Line, p.Column, message, hint)
}

// depth follows how deep the tokens nest: brackets, and columns in which mappings and lists begin.
type depth struct {
	flow    int
	entries int // inside the outermost bracket
	columns []int
	chain   int // anchors, tags and keys that wait for one value
}

// judge takes the i-th token and names the limit it breaks, if any.
func (d *depth) judge(i int, tk, last *token.Token) (rule, message string) {
	switch d.next(tk, last); {
	case d.flow+len(d.columns)+d.chain > mostDepth:
		return RuleTooDeep, fmt.Sprintf("the plan is nested more than %d deep here", mostDepth)
	case d.entries > mostFlow:
		return RuleTooLarge, fmt.Sprintf("more than %d entries stand inside one bracket", mostFlow)
	case i >= mostTokens:
		return RuleTooLarge, fmt.Sprintf("the plan has more than %d words and signs", mostTokens)
	}
	return "", ""
}

func (d *depth) next(tk, last *token.Token) {
	switch tk.Type {
	case token.MappingStartType, token.SequenceStartType:
		d.flow++
		d.entries++
	case token.MappingEndType, token.SequenceEndType:
		d.flow = max(d.flow-1, 0)
	case token.AnchorType, token.TagType, token.AliasType:
		d.chain++
		return
	case token.MappingValueType:
		d.key(last)
	case token.MappingKeyType, token.SequenceEntryType:
		d.key(tk)
	case token.CollectEntryType:
		d.chain = 0
		d.entries++
	}
	if d.flow == 0 {
		d.entries = 0
		if last == nil || last.Type != token.AnchorType && last.Type != token.TagType {
			d.chain = 0
		}
	}
}

// key takes the token that a key or an entry of a list begins with.
func (d *depth) key(tk *token.Token) {
	if d.flow == 0 && tk != nil {
		d.begin(tk.Position.Column)
		return
	}
	d.chain++
}

// begin enters the mapping or list of a column and leaves those that began further right.
func (d *depth) begin(column int) {
	n := len(d.columns)
	for n > 0 && d.columns[n-1] > column {
		n--
	}
	d.columns = d.columns[:n]
	if n == 0 || d.columns[n-1] < column {
		d.columns = append(d.columns, column)
	}
}

// mendMapping puts together what a comma has cut inside { }: {amount: DECIMAL(12, 2)} arrives as
// amount: "DECIMAL(12" and a key "2)" without value. It says so, and goes on with what was meant.
func (tr *tree) mendMapping(keys []spec.Entry) []spec.Entry {
	var out []spec.Entry
	for i := 0; i < len(keys); i++ {
		e := keys[i]
		if isCut(e.Value) {
			j := i + 1
			for j < len(keys) && keys[j].Value.Nothing() && opened(e.Value.Text) > 0 {
				e.Value = joined(e.Value, keys[j].Key)
				j++
			}
			if j > i+1 {
				tr.cut(keys[i].Value, e.Value.Text)
				i = j - 1
			}
		}
		out = append(out, e)
	}
	return out
}

func (tr *tree) mendSequence(items []*spec.Node) []*spec.Node {
	var out []*spec.Node
	for i := 0; i < len(items); i++ {
		n := tr.uncolon(items[i])
		if isCut(n) {
			j := i + 1
			for j < len(items) && items[j].Kind == spec.Scalar && !items[j].Quoted && opened(n.Text) > 0 {
				n = joined(n, items[j].Text)
				j++
			}
			if j > i+1 {
				tr.cut(items[i], n.Text)
				i = j - 1
			}
		}
		out = append(out, n)
	}
	return out
}

// uncolon gives 12:30 back its text, which the library reads as a mapping inside [ ] although no
// space follows the colon.
func (tr *tree) uncolon(n *spec.Node) *spec.Node {
	if n.Kind != spec.Mapping || n.Flow || len(n.Keys) != 1 {
		return n
	}
	e := n.Keys[0]
	start := tr.text.offset(e.Pos.Line, e.Pos.Column)
	whole := e.Key + ":" + e.Value.Text
	if e.Value.Kind != spec.Scalar || e.Value.Quoted || e.Value.Nothing() || !strings.HasPrefix(tr.text.all[start:], whole) {
		return n
	}
	return tr.scalarAt(whole, plain, e.Pos)
}

func isCut(n *spec.Node) bool {
	return n != nil && n.Kind == spec.Scalar && !n.Quoted && !n.Null && opened(n.Text) > 0
}

// opened is how many more brackets a text opens than it closes.
func opened(s string) int { return strings.Count(s, "(") - strings.Count(s, ")") }

func joined(n *spec.Node, rest string) *spec.Node {
	return &spec.Node{Text: n.Text + ", " + rest, Pos: n.Pos}
}

func (tr *tree) cut(n *spec.Node, whole string) {
	tr.add(RuleFlowCut, n.Pos.Line, n.Pos.Column, fmt.Sprintf("inside { } and [ ] a comma ends the value, so this is %q", n.Text),
		fmt.Sprintf("put it in quotes: %q, or write one line an entry", whole))
}
