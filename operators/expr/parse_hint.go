package expr

import (
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"
)

// hints say what to write instead of a function that other dialects or later versions have.
var hints = map[string]string{
	"IIF":    "IF(condition, a, b)",
	"DECODE": "CASE x WHEN a THEN b END", "NVL": "COALESCE(a, b)", "ISNULL": "x IS NULL", "MID": "SUBSTRING(x FROM a FOR b)",
	"LENGTH": "CHAR_LENGTH(x)", "LEN": "CHAR_LENGTH(x)", "UCASE": "UPPER(x)", "LCASE": "LOWER(x)", "CONTAINS": "x LIKE '%abc%'",
	"DATE_TRUNC": "FLOOR(x TO unit)", "DATE_PART": "EXTRACT(unit FROM x)", "DATEPART": "EXTRACT(unit FROM x)", "DAY": "DAYOFMONTH(x) or EXTRACT(DAY FROM x)",
	"DATE_ADD": "x + INTERVAL '1' DAY, or TIMESTAMPADD(unit, n, x)", "DATEADD": "TIMESTAMPADD(unit, n, x)", "DATE_SUB": "TIMESTAMPADD(unit, -n, x)", "DATEDIFF": "TIMESTAMPDIFF(unit, a, b)", "DATE_DIFF": "TIMESTAMPDIFF(unit, a, b)",
	"DATE": "CAST(x AS DATE)", "TIMESTAMP": "CAST(x AS TIMESTAMP(3))", "STRFTIME": "DATE_FORMAT(x, 'yyyy-MM-dd')", "STRPTIME": "TO_TIMESTAMP(s, 'yyyy-MM-dd')", "TO_CHAR": "DATE_FORMAT(x, 'yyyy-MM-dd')",
	"CONVERT": "CAST(x AS type)", "SAFE_CAST": "TRY_CAST(x AS type)", "INT": "CAST(x AS INT)", "STRING": "CAST(x AS STRING)", "DOUBLE": "CAST(x AS DOUBLE)",
	"COUNT_IF": "COUNT(*) FILTER (WHERE condition)", "COUNTIF": "COUNT(*) FILTER (WHERE condition)", "MEAN": "AVG(x)", "TRUNC": "CAST(x AS BIGINT)", "TRUNCATE": "CAST(x AS BIGINT)", "POW": "POWER(x, n)",
	"REGEXP_LIKE": "REGEXP(x, pattern)", "REGEXP_MATCHES": "REGEXP(x, pattern)", "SPLIT_PART": "SPLIT_INDEX(x, separator, n), n from 0", "STRPOS": "POSITION(part IN x)", "CHARINDEX": "POSITION(part IN x)",
	"OVERLAY": "", "TRANSLATE": "", "SHA2": "SHA256(x)", "CBRT": "POWER(x, 1e0 / 3)", "SQUARE": "x * x",
	"FROM_UNIXTIME": "TIMESTAMPADD(SECOND, n, TIMESTAMP '1970-01-01 00:00:00')", "UNIX_TIMESTAMP": "EXTRACT(EPOCH FROM x)", "JSON_VALUE": "", "JSON_QUERY": "",
	"ROW_NUMBER": "", "RANK": "", "DENSE_RANK": "", "LAG": "", "LEAD": "", "FIRST_VALUE": "MIN(x)", "LAST_VALUE": "MAX(x)", "ANY_VALUE": "MIN(x)",
	"LISTAGG": "", "STRING_AGG": "", "COLLECT": "", "ARRAY_AGG": "", "STDDEV_POP": "", "STDDEV_SAMP": "", "STDDEV": "", "VAR_POP": "", "VAR_SAMP": "", "VARIANCE": "", "MEDIAN": "", "APPROX_COUNT_DISTINCT": "COUNT(DISTINCT x)",
	"ARRAY": "", "MAP": "", "ROW": "", "TUMBLE": "", "HOP": "", "SESSION": "", "EXISTS": "", "GROUPING": "",
}

// unrepeatable are the functions whose results differ from run to run.
const unrepeatable = niladic + "RAND RAND_INTEGER RANDOM UUID GETDATE "

// unknownFunction explains a function that there is not.
func unknownFunction(name token) *Error {
	e := &Error{Pos: name.pos, End: name.end}
	if strings.Contains(unrepeatable, " "+name.upper+" ") {
		e.Message = name.upper + " is not supported: a run gives the same result whenever it runs"
		e.Expected = "a parameter such as ${today}"
		return e
	}
	if hint, later := hints[name.upper]; later {
		e.Message, e.Expected = "function "+name.upper+" is not supported yet", hint
		return e
	}
	if strings.Contains(structural, " "+name.upper+" ") {
		e.Message, e.Expected = "unexpected "+name.text, "an expression"
		return e
	}
	known := functionNames()
	e.Message, e.Near = "there is no function "+name.text, nearest(name.upper, known)
	if e.Near == "" {
		e.Expected = "one of " + strings.Join(begunWith(name.upper[:1], known), ", ")
	}
	return e
}

// begunWith are the names of a first letter, or some others where there is none.
func begunWith(letter string, names []string) []string {
	var some []string
	for _, n := range names {
		if strings.HasPrefix(n, letter) {
			some = append(some, n)
		}
	}
	if some == nil {
		some = []string{"COALESCE", "IF", "UPPER", "SUBSTRING", "ROUND", "EXTRACT and others"}
	}
	return some
}

// functionNames are the names that may stand before a bracket, in order.
func functionNames() []string {
	var names []string
	for n := range spellings {
		names = append(names, n)
	}
	for n := range aggregates {
		names = append(names, n)
	}
	names = append(names, special...)
	sort.Strings(names)
	return names
}

// unexpected says that a token is not what was expected.
func (p *parser) unexpected(t token, expected string) *Error {
	if e := p.foreign(t); e != nil {
		return e
	}
	message := "unexpected " + t.String()
	if t.kind == tokEnd {
		message = "the expression ends too early"
	}
	return &Error{Pos: t.pos, End: t.end, Message: message, Expected: expected}
}

// trailing explains a token after a complete expression.
func (p *parser) trailing(t token) *Error {
	if e := p.foreign(t); e != nil {
		return e
	}
	e := &Error{Pos: t.pos, End: t.end, Message: "unexpected " + t.String(), Expected: "an operator or the end"}
	if t.is(")") {
		e.Message, e.Expected = "there is no ( for this )", "an operator or the end"
	}
	switch {
	case t.word("NOT"):
		e.Expected = "IN, LIKE or BETWEEN after NOT, or IS NOT NULL"
	case t.kind == tokWord:
		e.Near = nearest(t.upper, []string{"AND", "OR", "IS", "IN", "LIKE", "BETWEEN", "NOT"})
	}
	return e
}

// foreign refuses by name what other dialects, or later versions, have.
func (p *parser) foreign(t token) *Error {
	found := func(message, expected string) *Error {
		return &Error{Pos: t.pos, End: t.end, Message: message, Expected: expected}
	}
	if t.kind == tokSymbol {
		if expected, ok := foreignSymbols[t.text]; ok {
			return found(t.text+" is not an operator here", expected)
		}
	}
	if t.kind != tokWord {
		return nil
	}
	switch w := foreignWords[t.upper]; {
	case w == "":
		return nil
	case strings.HasPrefix(w, "!"):
		return found(w[1:], "")
	default:
		return found(t.upper+" is not supported here", w)
	}
}

var foreignSymbols = map[string]string{
	"==": "=", "&&": "AND", "::": "CAST(x AS type)", "<=>": "IS NOT DISTINCT FROM", "!": "NOT", "~": "REGEXP(x, pattern)", "!~": "NOT REGEXP(x, pattern)", "~*": "UPPER(x) LIKE pattern", "!~*": "UPPER(x) NOT LIKE pattern",
	"**": "POWER(x, n)", "^": "POWER(x, n)", "//": "/ (of integers it cuts towards zero)", "&": "AND", "|": "|| for text, OR for conditions", "<<": "x * 2", ">>": "x / 2", "->": "a column for each part", "->>": "a column for each part",
	"=>": ">=", ":=": "=", ";": "one expression without ;", "?": "${name} for a parameter", "@": "${name} for a parameter", "{": "${name} for a parameter", ":": "CASE, CAST(x AS type) or the end",
}

var foreignWords = map[string]string{
	"ILIKE": "UPPER(x) LIKE UPPER(pattern)", "RLIKE": "REGEXP(x, pattern)", "REGEXP": "REGEXP(x, pattern)", "SIMILAR": "REGEXP(x, pattern)", "GLOB": "LIKE with % and _",
	"AS": "the name before the colon: name: expression", "ASC": "ASC only in order_by", "DESC": "DESC only in order_by", "NULLS": "NULLS FIRST or LAST only in order_by",
	"OVER": "an aggregation with group_by", "WITHIN": "an aggregate without WITHIN GROUP", "AT": "CAST(x AS TIMESTAMP_LTZ(3)) by the session's zone, or CONVERT_TZ(text, from, to)", "COLLATE": "UPPER(x) to compare without case",
	"DIV": "/ (of integers it cuts towards zero)", "MOD": "%", "XOR": "<> between two conditions", "ISNULL": "IS NULL", "NOTNULL": "IS NOT NULL",
	"SELECT": "one expression; the columns are given by select:",
	"FROM":   "one expression; the input is given by from:", "WHERE": "one expression; a condition is given by where:", "GROUP": "one expression; grouping is given by group_by:",
}

// nearest is the name closest to s: the same in other capitals, or a few letters off; "" for none.
func nearest(s string, names []string) string {
	best, least := "", min(len(s)/3, 3)+1
	sorted := append([]string(nil), names...)
	sort.Strings(sorted)
	for _, n := range sorted {
		d := levenshtein.ComputeDistance(strings.ToUpper(s), strings.ToUpper(n))
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// oneOf lists names for a message, the first dozen of them; none where there are no names.
func oneOf(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	sorted := append([]string(nil), names...)
	sort.Strings(sorted)
	return "one of " + listed(sorted)
}

func listed(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
