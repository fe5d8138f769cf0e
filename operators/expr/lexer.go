package expr

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd     tokenKind = iota
	tokWord              // name or keyword: text as written, upper in capitals
	tokQuoted            // `name`: text without the backticks
	tokText              // 'text': text without the quotes
	tokBytes             // x'0aff': text is the bytes
	tokInt               // 12
	tokDecimal           // 1.5
	tokDouble            // 1e3
	tokSymbol            // operator or bracket
	tokParam             // ${name}: text is the name
)

// A token is a piece of an expression's text, [pos, end).
type token struct {
	kind     tokenKind
	text     string
	upper    string // of a word
	pos, end int
}

func (t token) is(symbol string) bool { return t.kind == tokSymbol && t.text == symbol }
func (t token) word(w string) bool    { return t.kind == tokWord && t.upper == w }

// String is the token as a message shows it.
func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokText:
		return quoteText(t.text)
	case tokBytes:
		return bytesText(t.text)
	case tokQuoted:
		return "`" + t.text + "`"
	case tokParam:
		return "${" + t.text + "}"
	}
	return t.text
}

// symbols, longest first. Those of other dialects are read too, so that they can be refused by name.
var symbols = []string{
	"<=>", "!~*", "->>", "<>", "<=", ">=", "!=", "||", "==", "&&", "::", "=>", "->", "!~", "~*", ":=", "**", "//", "<<", ">>",
	"=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".", "[", "]", "!", "~", "^", "&", "|", ";", ":", "?", "@", "{", "}",
}

const maxText = 1 << 20

// lex cuts an expression's text into tokens; the last one is the end.
func lex(text string) ([]token, *Error) {
	if len(text) > maxText {
		return nil, &Error{Pos: maxText, End: len(text), Message: "the expression is too long", Expected: fmt.Sprintf("at most %d bytes", maxText)}
	}
	l := lexer{text: text}
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		l.tokens = append(l.tokens, t)
		if t.kind == tokEnd {
			return l.tokens, nil
		}
	}
}

type lexer struct {
	text   string
	at     int
	tokens []token
}

func (l *lexer) fault(pos, end int, message, expected string) *Error {
	return &Error{Pos: pos, End: end, Message: message, Expected: expected}
}

func (l *lexer) next() (token, *Error) {
	if err := l.space(); err != nil {
		return token{}, err
	}
	start := l.at
	if start == len(l.text) {
		return token{kind: tokEnd, pos: start, end: start}, nil
	}
	switch c := l.text[start]; {
	case c == '\'':
		return l.quotedText()
	case c|0x20 == 'x' && start+1 < len(l.text) && l.text[start+1] == '\'':
		return l.hexadecimal()
	case c == '`':
		return l.quotedName()
	case c == '"':
		return token{}, l.doubleQuoted()
	case c == '$':
		return l.param()
	case c == '#':
		return token{}, l.fault(start, start+1, "# is not an operator", "/* … */ for a comment inside an expression")
	case isDigit(c), c == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.number()
	}
	r, size := utf8.DecodeRuneInString(l.text[start:])
	if isNameStart(r) && !(r == utf8.RuneError && size <= 1) {
		return l.name(), nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.text[start:], s) {
			l.at += len(s)
			return token{kind: tokSymbol, text: s, pos: start, end: l.at}, nil
		}
	}
	return token{}, l.strange(r, size)
}

// strange names a character that begins nothing, with a hint for those that editors put in.
func (l *lexer) strange(r rune, size int) *Error {
	pos, end := l.at, l.at+size
	switch {
	case r == utf8.RuneError && size <= 1:
		return l.fault(pos, end, fmt.Sprintf("the byte 0x%02x is not UTF-8", l.text[pos]), "")
	case strings.ContainsRune("‘’‚‛", r):
		return l.fault(pos, end, fmt.Sprintf("%c is a typographic quote", r), "' for text")
	case strings.ContainsRune("“”„", r):
		return l.fault(pos, end, fmt.Sprintf("%c is a typographic quote", r), "' for text, ` for names")
	case strings.ContainsRune("–—−", r):
		return l.fault(pos, end, fmt.Sprintf("%c is not a minus sign", r), "-")
	case r == '≤' || r == '≥' || r == '≠':
		return l.fault(pos, end, fmt.Sprintf("%c is not an operator", r), map[rune]string{'≤': "<=", '≥': ">=", '≠': "<>"}[r])
	}
	return l.fault(pos, end, fmt.Sprintf("unexpected character %q", r), "")
}

// space skips white space and comments: -- to the end of the line, and /* … */.
func (l *lexer) space() *Error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			l.at += size
		case strings.HasPrefix(rest, "--"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return l.fault(l.at, l.at+2, "the comment does not end", "*/")
			}
			l.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

// quotedText reads 'text'; two quotes inside stand for one.
func (l *lexer) quotedText() (token, *Error) {
	start := l.at
	s, ok := l.quoted('\'')
	if !ok {
		return token{}, l.fault(start, len(l.text), "the text does not end", "'")
	}
	if i := strings.Index(s, "${"); i >= 0 && strings.IndexByte(s[i:], '}') > 0 {
		name := s[i : i+strings.IndexByte(s[i:], '}')+1]
		return token{}, l.fault(start, l.at, fmt.Sprintf("%s stands inside quotes and would not be replaced", name),
			"the parameter outside of them: it is a typed value, so "+name+" alone, or 'a' || "+name+" || 'b'")
	}
	if !utf8.ValidString(s) {
		return token{}, l.fault(start, l.at, "the text is not UTF-8", "")
	}
	return token{kind: tokText, text: s, pos: start, end: l.at}, nil
}

// hexadecimal reads x'0aff', two digits a byte.
func (l *lexer) hexadecimal() (token, *Error) {
	start := l.at
	l.at++
	s, ok := l.quoted('\'')
	if !ok {
		return token{}, l.fault(start, len(l.text), "the bytes do not end", "'")
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return token{}, l.fault(start, l.at, "x"+quoteText(s)+" is not BYTES", "two hexadecimal digits for each byte, such as x'0aff'")
	}
	return token{kind: tokBytes, text: string(b), pos: start, end: l.at}, nil
}

// bytesText writes BYTES as an SQL literal.
func bytesText(b string) string { return "X'" + strings.ToUpper(hex.EncodeToString([]byte(b))) + "'" }

func (l *lexer) quotedName() (token, *Error) {
	start := l.at
	s, ok := l.quoted('`')
	switch {
	case !ok:
		return token{}, l.fault(start, len(l.text), "the name does not end", "`")
	case s == "":
		return token{}, l.fault(start, l.at, "the name is empty", "a column's name between backticks")
	case !utf8.ValidString(s):
		return token{}, l.fault(start, l.at, "the name is not UTF-8", "")
	}
	return token{kind: tokQuoted, text: s, pos: start, end: l.at}, nil
}

// quoted reads up to the closing quote; a doubled one stands for itself.
func (l *lexer) quoted(q byte) (string, bool) {
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		if l.text[i] != q {
			b.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		l.at = i + 1
		return b.String(), true
	}
	return "", false
}

func (l *lexer) doubleQuoted() *Error {
	start := l.at
	s, ok := l.quoted('"')
	if !ok {
		return l.fault(start, len(l.text), `"…" is not used here, and this one does not end`, "'…' for text, `…` for a name")
	}
	return l.fault(start, l.at, `"…" is not used here`, quoteText(s)+" for text, "+backtick(s)+" for a name")
}

// param reads ${name}.
func (l *lexer) param() (token, *Error) {
	start := l.at
	rest := l.text[start:]
	if !strings.HasPrefix(rest, "${") {
		return token{}, l.fault(start, start+1, "unexpected $", "${name} for a parameter, or backticks round a name that has a $ in it")
	}
	n := strings.IndexAny(rest, "}\n")
	if n < 0 || rest[n] != '}' {
		return token{}, l.fault(start, len(l.text), "the parameter does not end", "}")
	}
	name := rest[2:n]
	l.at += n + 1
	if name == "" || strings.ContainsAny(name, " \t${'`\"") {
		return token{}, l.fault(start, l.at, rest[:n+1]+" is not a parameter", "${name}")
	}
	return token{kind: tokParam, text: name, pos: start, end: l.at}, nil
}

// number reads 12, 1.5, .5, 5., 1e3. As in Flink an exponent makes a DOUBLE and a point a DECIMAL.
func (l *lexer) number() (token, *Error) {
	start, kind := l.at, tokInt
	l.digits()
	if l.at < len(l.text) && l.text[l.at] == '.' {
		kind = tokDecimal
		l.at++
		l.digits()
	}
	if l.at < len(l.text) && (l.text[l.at] == 'e' || l.text[l.at] == 'E') {
		i := l.at + 1
		if i < len(l.text) && (l.text[i] == '+' || l.text[i] == '-') {
			i++
		}
		if i < len(l.text) && isDigit(l.text[i]) {
			kind, l.at = tokDouble, i
			l.digits()
		}
	}
	end := l.at
	if r, _ := utf8.DecodeRuneInString(l.text[end:]); end < len(l.text) && isNamePart(r) {
		for end < len(l.text) {
			r, size := utf8.DecodeRuneInString(l.text[end:])
			if !isNamePart(r) || size == 0 {
				break
			}
			end += size
		}
		s := l.text[start:end]
		return token{}, l.fault(start, end, s+" is not a number", backtick(s)+" if it is a column's name")
	}
	return token{kind: kind, text: l.text[start:end], pos: start, end: end}, nil
}

func (l *lexer) digits() {
	for l.at < len(l.text) && isDigit(l.text[l.at]) {
		l.at++
	}
}

func (l *lexer) name() token {
	start := l.at
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !isNamePart(r) {
			break
		}
		l.at += size
	}
	s := l.text[start:l.at]
	return token{kind: tokWord, text: s, upper: strings.ToUpper(s), pos: start, end: l.at}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(r rune) bool { return r == '_' || r != utf8.RuneError && unicode.IsLetter(r) }

func isNamePart(r rune) bool {
	return isNameStart(r) || r != utf8.RuneError && (unicode.IsDigit(r) || unicode.IsMark(r))
}

// quoteText writes text as an SQL literal.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// backtick writes a name between backticks.
func backtick(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
