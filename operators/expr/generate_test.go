package expr

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// genTyped writes expressions over propertySchema that have types, of the kind wanted: the text of
// what a plan might hold. A number may be of any numeric type.
func genTyped(want Kind, depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		g := typedText{t, depth}
		switch want {
		case Boolean:
			return g.condition()
		case String:
			return g.text()
		case Date, Timestamp:
			return g.time(want)
		}
		return g.number()
	})
}

type typedText struct {
	*rapid.T
	depth int
}

func (g typedText) one(options ...string) string { return rapid.SampledFrom(options).Draw(g.T, "one") }

func (g typedText) sub(k Kind) string { return genTyped(k, g.depth-1).Draw(g.T, "sub") }

func (g typedText) subs(k Kind, least int) string {
	parts := make([]string, rapid.IntRange(least, least+2).Draw(g.T, "n"))
	for i := range parts {
		parts[i] = g.sub(k)
	}
	return strings.Join(parts, ", ")
}

// form draws one of n forms, or -1 for a leaf.
func (g typedText) form(n int) int {
	if g.depth == 0 {
		return -1
	}
	return rapid.IntRange(-1, n-1).Draw(g.T, "form")
}

func (g typedText) anyKind() Kind {
	return rapid.SampledFrom([]Kind{Int, String, Date, Timestamp}).Draw(g.T, "kind")
}

func (g typedText) condition() string {
	k := g.anyKind()
	switch g.form(9) {
	case 0:
		return fmt.Sprintf("(%s) %s (%s)", g.sub(k), g.one("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), g.sub(k))
	case 1:
		return fmt.Sprintf("(%s) %s (%s) %[2]s (%[4]s)", g.sub(Boolean), g.one("AND", "OR"), g.sub(Boolean), g.sub(Boolean))
	case 2:
		return "NOT (" + g.sub(Boolean) + ")"
	case 3:
		return fmt.Sprintf("(%s) IS %s", g.sub(Boolean), g.one("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "NULL", "NOT NULL", "UNKNOWN", "NOT UNKNOWN"))
	case 4:
		return fmt.Sprintf("(%s) IS %s", g.sub(k), g.one("NULL", "NOT NULL"))
	case 5:
		return fmt.Sprintf("(%s) %s (%s)", g.sub(k), g.one("IN", "NOT IN"), g.subs(k, 1))
	case 6:
		return fmt.Sprintf("(%s) %s '%s' %s", g.sub(String), g.one("LIKE", "NOT LIKE"), g.one("%", "a%", "_b%", "", "%!%%"), g.one("", "ESCAPE '!'"))
	case 7:
		return fmt.Sprintf("(%s) %s (%s) AND (%s)", g.sub(k), g.one("BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC"), g.sub(k), g.sub(k))
	case 8:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.sub(Boolean), g.sub(Boolean), g.sub(Boolean))
	}
	return g.one("b", "o = x'00ff'", "c < '12:30'", "g BETWEEN ts AND d", "o IN (x'', x'61')", "c IS DISTINCT FROM CAST(g AS TIME(3))", "TO_TIMESTAMP_LTZ(n) > g", "TRUE", "FALSE", "b IS NOT NULL", "i > 3", "CAST(NULL AS BOOLEAN)")
}

func (g typedText) number() string {
	switch g.form(11) {
	case 9:
		return fmt.Sprintf("%s(%s)", g.one("SIGN", "SQRT", "EXP", "LN", "LOG10", "SIN", "GREATEST"), g.sub(Int))
	case 10:
		return fmt.Sprintf(g.one("POWER(%s, %s)", "LEAST(%s, %s)", "LOG(%s, %s)", "(%s) %% (%s)"), g.sub(Int), g.sub(Int))
	case 0:
		return fmt.Sprintf("(%s) %s (%s)", g.sub(Int), g.one("+", "-", "*", "/"), g.sub(Int))
	case 1:
		return fmt.Sprintf("%s(%s)", g.one("-", "ABS", "FLOOR", "CEIL", "ROUND"), g.sub(Int))
	case 2:
		return fmt.Sprintf("ROUND(%s, %s)", g.sub(Int), g.one("-1", "0", "2"))
	case 3:
		return fmt.Sprintf("CASE WHEN %s THEN %s END", g.sub(Boolean), g.sub(Int))
	case 4:
		return fmt.Sprintf("COALESCE(%s)", g.subs(Int, 1))
	case 5:
		return fmt.Sprintf("NULLIF(%s, %s)", g.sub(Int), g.sub(Int))
	case 6:
		return fmt.Sprintf("CAST(%s AS %s)", g.sub(Int), g.one("INT", "TINYINT", "SMALLINT", "FLOAT", "BIGINT", "DOUBLE", "DECIMAL(12, 2)", "DECIMAL(30, 5)"))
	case 7:
		return g.one("CHAR_LENGTH("+g.sub(String)+")", "EXTRACT(YEAR FROM "+g.sub(Date)+")", "EXTRACT(MINUTE FROM "+g.sub(Timestamp)+")",
			"UNIX_TIMESTAMP("+g.sub(String)+")", "TRUNCATE("+g.sub(Int)+", 1)", "EXTRACT(HOUR FROM c)", "TIMESTAMPDIFF(HOUR, g, "+g.sub(Timestamp)+")", "REGEXP_COUNT(s, 'a')", "TIMESTAMPDIFF(DAY, "+g.sub(Date)+", "+g.sub(Timestamp)+")", "TRY_CAST("+g.sub(String)+" AS BIGINT)", "i % 7", "n % i")
	case 8:
		return fmt.Sprintf("(%s) + (%s) - (%s)", g.sub(Int), g.sub(Int), g.sub(Int))
	}
	return g.one("i", "n", "x", "p", "big", "count", "0", "1", "-1", "2147483648", "0.05", "-12.50", "1.5E0", "CAST(NULL AS INT)", "99999999999999999999.5")
}

func (g typedText) text() string {
	switch g.form(9) {
	case 7:
		return fmt.Sprintf(g.one("REPLACE(%s, 'a', s)", "LEFT(%s, i)", "LPAD(%s, 4, 'xy')", "RPAD(%s, i, '')", "REVERSE(%s)", "INITCAP(%s)", "REPEAT(%s, 2)", "SPLIT_INDEX(%s, 'a', i)", "REGEXP_REPLACE(%s, '[a-c]+', '$1')",
			"REGEXP_EXTRACT(%s, '(a)|b', 1)", "CONCAT(%s, s, 'x')", "CONCAT_WS('-', s, %s)", "SHA256(%s)", "IFNULL(%s, '')", "IF(b, s, %s)"), g.sub(String))
	case 8:
		return g.one("DATE_FORMAT(g, 'HH')", "HEX(o)", "DECODE(o, 'UTF-8')", "TO_BASE64(s)", "MD5(o)", "OVERLAY(s PLACING 'x' FROM i)", "TRANSLATE(s, 'ab', 'c')", "ELT(i, s, 'b')", "FROM_UNIXTIME(n)", "CAST(g AS STRING)", "CAST(c AS STRING)", "TYPEOF(g)", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')", "CHR(i)", "GREATEST(s, 'a')", "DATE_FORMAT("+g.sub(Date)+", 'd.M.yyyy')")
	case 0:
		return fmt.Sprintf("(%s) || (%s)", g.sub(String), g.sub(String))
	case 1:
		return fmt.Sprintf("%s(%s)", g.one("UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM"), g.sub(String))
	case 2:
		return fmt.Sprintf("SUBSTRING(%s FROM %s FOR %s)", g.sub(String), g.one("1", "0", "-2", "i", "100"), g.one("2", "0", "-1", "i"))
	case 3:
		return fmt.Sprintf("TRIM(%s %s FROM %s)", g.one("BOTH", "LEADING", "TRAILING"), g.one("'x'", "'ab'", "s"), g.sub(String))
	case 4:
		return fmt.Sprintf("COALESCE(%s)", g.subs(String, 1))
	case 5:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.sub(Boolean), g.sub(String), g.sub(String))
	case 6:
		return fmt.Sprintf("CAST(%s AS STRING)", g.sub(g.anyKind()))
	}
	return g.one("s", "`a``b`", "''", "'ab'", "'it''s'", "'größe'", "CAST(NULL AS STRING)")
}

func (g typedText) time(k Kind) string {
	switch g.form(4) {
	case 0:
		if k == Timestamp {
			return fmt.Sprintf("(%s %s INTERVAL %s)", g.sub(k), g.one("+", "-"), g.one("'1' DAY", "'-40' HOUR", "'7' YEAR", "'1-2' YEAR TO MONTH", "'1 02:03:04.5' DAY TO SECOND", "'-2:03' HOUR TO MINUTE", "'0.000001' SECOND"))
		}
		return fmt.Sprintf("TIMESTAMPADD(%s, %s, %s)", g.one("DAY", "WEEK", "MONTH", "QUARTER", "YEAR"), g.one("1", "-4", "i"), g.sub(k))
	case 1:
		return fmt.Sprintf("%s(%s TO %s)", g.one("FLOOR", "CEIL"), g.sub(k), g.one("DAY", "WEEK", "MONTH", "QUARTER", "YEAR"))
	case 2:
		return fmt.Sprintf("COALESCE(%s)", g.subs(k, 1))
	case 3:
		if k == Date {
			return fmt.Sprintf("CAST(%s AS DATE)", g.sub(Timestamp))
		}
		return fmt.Sprintf("CAST(%s AS TIMESTAMP(%s))", g.sub(Date), g.one("0", "3", "6"))
	}
	if k == Date {
		return g.one("d", "`Flight Date`", "DATE '1998-09-02'", "CAST(NULL AS DATE)", "DATE '13357-01-01'")
	}
	return g.one("ts", "TIMESTAMP '2020-02-29 10:20:30.123'", "TIMESTAMP '1969-12-31 23:59:59'")
}
