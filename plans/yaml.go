package plans

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

const (
	mostDepth     = 100    // of nesting; the parser recurses
	mostTokens    = 60_000 // of a plan, and
	mostFlow      = 2_000  // of the entries inside one outermost [ ] or { }: the parser takes quadratic time
	mostExpansion = 10_000 // nodes that aliases may add
)

// A tree turns YAML text into nodes. The library's decoder never sees a plan, because it changes
// values (02134 becomes 1116) and drops documents; its lexer and parser keep raw text and places.
type tree struct {
	text     *text
	findings Findings
	anchors  map[string]ast.Node
	open     map[string]bool // anchors being expanded, to find cycles
	expanded int
	inAlias  int
	spent    bool // the budget is used up, and said so
	path     []string
}

// readTree reads the one document of a plan. The node is nil where the text is empty or no YAML.
func readTree(t *text) (root *spec.Node, fs Findings) {
	tr := &tree{text: t, anchors: map[string]ast.Node{}, open: map[string]bool{}}
	defer func() {
		if p := recover(); p != nil {
			tr.add(RuleSyntax, 1, 1, "the YAML parser cannot read this plan", "look for an unclosed quote or bracket")
			root, fs = nil, tr.findings
		}
	}()
	all := t.all
	if end := all[strings.LastIndexByte(all, '\n')+1:]; end != "" && strings.Trim(end, " ") == "" {
		all += "\n" // blanks that end the file may be a line of a block's text
	}
	tokens := lexer.Tokenize(all)
	if !tr.inspect(tokens) {
		return nil, tr.findings
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		tr.syntax(err)
		return nil, tr.findings
	}
	tr.strict(tokens)
	return tr.document(file), tr.findings
}

func (tr *tree) add(rule string, line, column int, message, hint string) *Finding {
	line, column = tr.text.clamp(line, column)
	tr.findings = append(tr.findings, Finding{Severity: SeverityError, Rule: rule, Line: line, Column: column,
		Path: strings.Join(tr.path, "."), Message: message, Hint: hint})
	return &tr.findings[len(tr.findings)-1]
}

// document picks the only document with a body.
func (tr *tree) document(f *ast.File) *spec.Node {
	var body ast.Node
	begun := false
	for _, d := range f.Docs {
		if d.Body == nil && d.Start == nil || d.Body != nil && d.Body.Type() == ast.DirectiveType {
			continue
		}
		if begun {
			line, column := 1, 1
			if tk := d.Start; tk != nil {
				line, column = tk.Position.Line, tk.Position.Column
			} else if tk := d.Body.GetToken(); tk != nil {
				line, column = tk.Position.Line, tk.Position.Column
			}
			tr.add(RuleSecondDocument, line, column, "a second document begins here", "a file holds one plan: delete the line --- or move what follows to a file of its own")
			break
		}
		body, begun = d.Body, true
	}
	if body == nil {
		return nil
	}
	return tr.node(body)
}

func (tr *tree) pos(tk *token.Token) spec.Pos {
	if tk == nil || tk.Position == nil {
		return spec.Pos{Line: 1, Column: 1}
	}
	line, column := tr.text.clamp(tk.Position.Line, tk.Position.Column)
	return spec.Pos{Line: line, Column: column}
}

// node converts a node of the library's tree.
func (tr *tree) node(n ast.Node) *spec.Node {
	if n == nil {
		return &spec.Node{Null: true, Pos: spec.Pos{Line: 1, Column: 1}}
	}
	if tr.inAlias > 0 {
		tr.expanded++
		if tr.expanded > mostExpansion {
			return &spec.Node{Null: true, Pos: tr.pos(n.GetToken()), Bad: true}
		}
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		return tr.mapping(v.Values, v.IsFlowStyle, v.Start)
	case *ast.MappingValueNode:
		return tr.mapping([]*ast.MappingValueNode{v}, v.IsFlowStyle, v.Key.GetToken())
	case *ast.SequenceNode:
		return tr.sequence(v)
	case *ast.AnchorNode:
		return tr.anchor(v)
	case *ast.AliasNode:
		return tr.alias(v)
	case *ast.TagNode:
		return tr.node(v.Value)
	case *ast.LiteralNode:
		return tr.scalar(v.Value.Value, block, v.Start)
	case *ast.NullNode:
		return tr.null(v.Token)
	}
	tk := n.GetToken()
	if tk == nil {
		return &spec.Node{Null: true, Pos: spec.Pos{Line: 1, Column: 1}}
	}
	switch tk.Type {
	case token.SingleQuoteType:
		return tr.scalar(tk.Value, single, tk)
	case token.DoubleQuoteType:
		return tr.scalar(tk.Value, double, tk)
	}
	return tr.scalar(tk.Value, plain, tk)
}

// null keeps what was written: "" for nothing at all, else null or ~.
func (tr *tree) null(tk *token.Token) *spec.Node {
	n := &spec.Node{Null: true, Pos: tr.pos(tk)}
	if tk != nil && tk.Type == token.NullType {
		n.Text = tk.Value
	} else if tk != nil && tk.Prev != nil {
		n.Pos = tr.pos(tk.Prev)
	}
	return n
}

func (tr *tree) scalar(value string, how style, tk *token.Token) *spec.Node {
	return tr.scalarAt(value, how, tr.pos(tk))
}

func (tr *tree) scalarAt(value string, how style, p spec.Pos) *spec.Node {
	n := &spec.Node{Text: value, Quoted: how != plain, Pos: p}
	var offs []int
	n.At = func(offset int) spec.Pos {
		if offs == nil {
			offs = trace(tr.text, tr.text.offset(p.Line, p.Column), how, value)
		}
		line, column := tr.text.place(offs[min(max(offset, 0), len(offs)-1)])
		return spec.Pos{Line: line, Column: column}
	}
	return n
}

func (tr *tree) mapping(values []*ast.MappingValueNode, flow bool, start *token.Token) *spec.Node {
	n := &spec.Node{Kind: spec.Mapping, Flow: flow, Pos: tr.pos(start), Keys: make([]spec.Entry, 0, len(values))}
	if !flow && len(values) > 0 {
		n.Pos = tr.pos(values[0].Key.GetToken())
	}
	seen := make(map[string]spec.Pos, len(values))
	for _, v := range values {
		key, ok := tr.key(v.Key)
		if !ok {
			n.Bad = true
			continue
		}
		tr.path = append(tr.path, key)
		e := spec.Entry{Key: key, Pos: tr.pos(v.Key.GetToken()), Value: tr.node(v.Value)}
		if e.Value.Nothing() && !e.Value.Bad {
			e.Value.Pos = e.Pos
		}
		if first, twice := seen[key]; twice {
			tr.add(spec.RuleDuplicateKey, e.Pos.Line, e.Pos.Column, fmt.Sprintf("%s is given twice", key),
				fmt.Sprintf("the first is at line %d, column %d", first.Line, first.Column))
		} else {
			seen[key] = e.Pos
			n.Keys = append(n.Keys, e)
		}
		tr.path = tr.path[:len(tr.path)-1]
	}
	if flow {
		n.Keys = tr.mendMapping(n.Keys)
	}
	return n
}

// key is the text of a key, letter for letter.
func (tr *tree) key(k ast.MapKeyNode) (string, bool) {
	switch v := k.(type) {
	case *ast.MergeKeyNode:
		p := tr.pos(k.GetToken())
		tr.add(RuleMergeKey, p.Line, p.Column, "merge keys (<<) are not read", "write the keys out, or use an alias for a whole value")
		return "", false
	case *ast.StringNode:
		return v.Value, true
	case *ast.MappingKeyNode:
		if s, ok := v.Value.(*ast.StringNode); ok {
			return s.Value, true
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		if tk := k.GetToken(); tk != nil {
			return tk.Value, true
		}
	}
	p := tr.pos(k.GetToken())
	tr.add(RuleSyntax, p.Line, p.Column, "this is no key", "a key is a plain or quoted text; quote it where it begins with *, &, ! or a bracket")
	return "", false
}

func (tr *tree) sequence(v *ast.SequenceNode) *spec.Node {
	n := &spec.Node{Kind: spec.Sequence, Flow: v.IsFlowStyle, Pos: tr.pos(v.Start), Items: make([]*spec.Node, 0, len(v.Values))}
	for _, item := range v.Values {
		n.Items = append(n.Items, tr.node(item))
	}
	if v.IsFlowStyle {
		n.Items = tr.mendSequence(n.Items)
	}
	return n
}

func (tr *tree) anchor(v *ast.AnchorNode) *spec.Node {
	name := nameOf(v.Name)
	tr.anchors[name] = v.Value
	if v.Value == nil || v.Value.Type() == ast.NullType && v.Value.GetToken().Type != token.NullType {
		p := tr.pos(v.Start)
		tr.add(RuleAlias, p.Line, p.Column, fmt.Sprintf("the anchor &%s names nothing", name), "quote the value if it is meant to begin with &")
		return &spec.Node{Null: true, Pos: p, Bad: true}
	}
	tr.open[name] = true
	defer delete(tr.open, name)
	return tr.node(v.Value)
}

// alias expands an alias, within the budget and never into itself. Findings inside are at the anchor.
func (tr *tree) alias(v *ast.AliasNode) *spec.Node {
	name, p := nameOf(v.Value), tr.pos(v.Start)
	nothing := &spec.Node{Null: true, Pos: p, Bad: true}
	target, known := tr.anchors[name]
	switch {
	case !known:
		names := make([]string, 0, len(tr.anchors))
		for a := range tr.anchors {
			names = append(names, a)
		}
		f := tr.add(RuleAlias, p.Line, p.Column, fmt.Sprintf("there is no anchor &%s above", name), "quote the value if it is meant to begin with *")
		f.Near = spec.Near(name, names)
		return nothing
	case tr.open[name]:
		tr.add(RuleAlias, p.Line, p.Column, fmt.Sprintf("the alias *%s stands inside what it names", name), "")
		return nothing
	case target == nil || tr.expanded > mostExpansion:
		return nothing
	}
	tr.open[name] = true
	tr.inAlias++
	n := tr.node(target)
	tr.inAlias--
	delete(tr.open, name)
	if tr.expanded > mostExpansion && !tr.spent {
		tr.spent = true
		tr.add(RuleAlias, p.Line, p.Column, fmt.Sprintf("the aliases of this plan add more than %d values", mostExpansion), "")
	}
	return n
}

func nameOf(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}
