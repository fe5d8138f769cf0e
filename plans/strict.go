package plans

import (
	"strings"

	"github.com/goccy/go-yaml/token"
)

// strict refuses what the library's lexer and parser let pass and YAML does not allow. Each of these is a slip,
// and other readers see something else in it, or nothing.
func (tr *tree) strict(tokens token.Tokens) {
	d := depth{}
	var last *token.Token
	parent := 0 // the column of the block that the outermost bracket stands in
	for _, tk := range tokens {
		if tk.Type == token.CommentType {
			tr.strictComment(tk)
			continue
		}
		outside := d.flow == 0
		d.next(tk, last)
		if outside {
			parent = d.column()
		}
		p := tr.pos(tk)
		switch {
		case outside || d.flow == 0:
			// The first line of a bracket, or its end, which may stand in the column of its key.
		case last != nil && last.Position.Line < tk.Position.Line && tr.spaces(p.Line) < parent:
			tr.add(RuleSyntax, p.Line, p.Column, "a line inside a bracket begins too far to the left", "indent it further than what the bracket belongs to, with spaces")
		case tk.Type == token.StringType && (tk.Value == "-" || tk.Value == "?"):
			tr.add(RuleSyntax, p.Line, p.Column, "a lone "+tk.Value+" inside a bracket is no value", `put it in quotes: "`+tk.Value+`"`)
		}
		if tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType {
			tr.strictQuote(tk, d.column())
		}
		last = tk
	}
}

// strictComment finds a # that begins a comment for the library although no blank stands before it.
func (tr *tree) strictComment(tk *token.Token) {
	p := tr.pos(tk)
	if at := tr.text.offset(p.Line, p.Column); at > 0 && !strings.ContainsRune(" \t\n", rune(tr.text.all[at-1])) {
		tr.add(RuleSyntax, p.Line, p.Column, "a # without a blank before it follows a value", "a comment begins with a blank and #; quote the whole value if the # is part of it")
	}
}

// strictQuote finds lines inside quotes that do not stand further right than the block the text belongs to.
func (tr *tree) strictQuote(tk *token.Token, parent int) {
	p := tr.pos(tk)
	all := tr.text.all
	quote := all[tr.text.offset(p.Line, p.Column)]
	for at := tr.text.offset(p.Line, p.Column) + 1; at < len(all); at++ {
		switch {
		case all[at] == '\\' && quote == '"':
			at++
		case all[at] == quote && quote == '\'' && at+1 < len(all) && all[at+1] == quote:
			at++
		case all[at] == quote:
			return
		}
		if at < len(all) && all[at] == '\n' {
			line, _ := tr.text.place(at + 1)
			if strings.Trim(tr.text.line(line), " \t") != "" && tr.spaces(line) < parent {
				tr.add(RuleSyntax, line, 1, "a line inside quotes begins too far to the left", "indent it further than the key of the value, or write the value below a |")
				return
			}
		}
	}
}

// spaces is how many spaces a line begins with.
func (tr *tree) spaces(line int) int {
	s := tr.text.line(line)
	return len(s) - len(strings.TrimLeft(s, " "))
}

// column is where the innermost mapping or list begins that stands outside of brackets; 0 where there is none.
func (d *depth) column() int {
	if n := len(d.columns); n > 0 {
		return d.columns[n-1]
	}
	return 0
}
