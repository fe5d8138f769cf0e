package docs

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A written is how a call may be written, with its name in the list of functions.
type written struct{ Name, Written string }

// forms tell how functions are written that have more than one form, or another than name and
// arguments in brackets; the columns are those of sampleSchema.
func forms() []written {
	return []written{
		{"AND", "b AND n > 1"}, {"OR", "b OR n > 1"}, {"NOT", "NOT b"},
		{"IS NULL", "x IS NULL"}, {"IS NOT NULL", "x IS NOT NULL"},
		{"IS TRUE", "b IS TRUE"}, {"IS NOT TRUE", "b IS NOT TRUE"}, {"IS FALSE", "b IS FALSE"}, {"IS NOT FALSE", "b IS NOT FALSE"},
		{"IS NULL", "b IS UNKNOWN"}, {"IS NOT NULL", "b IS NOT UNKNOWN"},
		{"=", "s = 'a'"}, {"<>", "s <> 'a'"}, {"<>", "s != 'a'"}, {"<", "n < 1"}, {"<=", "n <= 1"}, {">", "n > 1"}, {">=", "n >= 1"},
		{"AND", "n BETWEEN 1 AND 5"}, {"OR", "n BETWEEN SYMMETRIC 5 AND 1"}, {"NOT", "n NOT BETWEEN 1 AND 5"},
		{"IS DISTINCT FROM", "x IS DISTINCT FROM n"}, {"IS NOT DISTINCT FROM", "x IS NOT DISTINCT FROM n"},
		{"IN", "s IN ('a', 'b')"}, {"NOT", "s NOT IN ('a', 'b')"},
		{"LIKE", "s LIKE 'a%'"}, {"LIKE", "s LIKE '50!%' ESCAPE '!'"}, {"NOT", "s NOT LIKE 'a%'"},
		{"+", "n + 1"}, {"-", "n - 1"}, {"*", "d * 2"}, {"/", "d / 3"}, {"%", "n % 7"}, {"%", "MOD(n, 7)"}, {"NEG", "-n"},
		{"ABS", "ABS(n)"}, {"ROUND", "ROUND(d, 1)"}, {"ROUND", "ROUND(d)"}, {"FLOOR", "FLOOR(d)"}, {"CEIL", "CEIL(d)"}, {"CEIL", "CEILING(d)"},
		{"||", "s || '!'"}, {"UPPER", "UPPER(s)"}, {"LOWER", "LOWER(s)"}, {"CHAR_LENGTH", "CHAR_LENGTH(s)"}, {"CHAR_LENGTH", "CHARACTER_LENGTH(s)"},
		{"SUBSTRING", "SUBSTRING(s, 2, 3)"}, {"SUBSTRING", "SUBSTRING(s FROM 2 FOR 3)"}, {"SUBSTRING", "SUBSTR(s, 2)"},
		{"TRIM", "TRIM(s)"}, {"TRIM", "TRIM(LEADING '0' FROM s)"}, {"TRIM", "LTRIM(s)"}, {"TRIM", "RTRIM(s)"}, {"TRIM", "BTRIM(s)"},
		{"EXTRACT", "EXTRACT(YEAR FROM ts)"}, {"EXTRACT", "YEAR(ts)"}, {"EXTRACT", "QUARTER(ts)"}, {"EXTRACT", "MONTH(ts)"}, {"EXTRACT", "WEEK(ts)"},
		{"EXTRACT", "DAYOFYEAR(ts)"}, {"EXTRACT", "DAYOFMONTH(ts)"}, {"EXTRACT", "DAYOFWEEK(ts)"}, {"EXTRACT", "HOUR(ts)"}, {"EXTRACT", "MINUTE(ts)"}, {"EXTRACT", "SECOND(ts)"},
		{"FLOOR_TO", "FLOOR(ts TO MONTH)"}, {"TIMESTAMPADD", "TIMESTAMPADD(DAY, 7, ts)"}, {"TIMESTAMPADD", "ts + INTERVAL '7' DAY"}, {"TIMESTAMPADD", "day - INTERVAL '1' MONTH"}, {"TIMESTAMPDIFF", "TIMESTAMPDIFF(DAY, day, ts)"},
		{"COALESCE", "COALESCE(s, '-')"}, {"COALESCE", "IFNULL(s, '-')"}, {"NULLIF", "NULLIF(n, 0)"},
		{"GREATEST", "GREATEST(n, 1)"}, {"LEAST", "LEAST(n, 1)"}, {"POWER", "POWER(n, 2)"}, {"LN", "LN(f)"}, {"LN", "LOG(f)"}, {"LOG", "LOG(2, f)"},
		{"||", "CONCAT(s, '!')"}, {"CONCAT_WS", "CONCAT_WS(', ', s, 'b')"}, {"REPLACE", "REPLACE(s, 'a', 'b')"}, {"LPAD", "LPAD(s, 5, '0')"}, {"RPAD", "RPAD(s, 5, '.')"},
		{"POSITION", "POSITION('a' IN s)"}, {"POSITION", "INSTR(s, 'a')"}, {"POSITION", "LOCATE('a', s)"}, {"POSITION", "LOCATE('a', s, 2)"},
		{"TRIM", "LTRIM(s, '0')"}, {"SPLIT_INDEX", "SPLIT_INDEX(s, ',', 0)"},
		{"REGEXP", `REGEXP(s, '^\d+$')`}, {"REGEXP_REPLACE", `REGEXP_REPLACE(s, '\s+', ' ')`}, {"REGEXP_EXTRACT", `REGEXP_EXTRACT(s, '(\d+)-(\d+)', 2)`},
		{"CEIL_TO", "CEIL(ts TO MONTH)"}, {"DATE_FORMAT", "DATE_FORMAT(ts, 'yyyy-MM')"}, {"TO_TIMESTAMP", "TO_TIMESTAMP(s)"}, {"TO_TIMESTAMP", "TO_TIMESTAMP(s, 'dd.MM.yyyy HH:mm')"},
		{"TIMESTAMPADD", "ts - INTERVAL '1 02:03:04.5' DAY TO SECOND"}, {"TIMESTAMPADD", "day + INTERVAL '1-6' YEAR TO MONTH"},
		{"ENCODE", "ENCODE(s, 'UTF-8')"}, {"DECODE", "DECODE(o, 'UTF-8')"}, {"TO_BASE64", "TO_BASE64(o)"}, {"FROM_BASE64", "FROM_BASE64(s)"}, {"HEX", "HEX(n)"}, {"HEX", "HEX(o)"}, {"UNHEX", "UNHEX(s)"}, {"BIN", "BIN(n)"},
		{"OVERLAY", "OVERLAY(s PLACING '-' FROM 2 FOR 3)"}, {"TRANSLATE", "TRANSLATE(s, 'äöü', 'aou')"}, {"ELT", "ELT(x, s, 'b')"}, {"TRUNCATE", "TRUNCATE(d, 1)"}, {"TRUNCATE", "TRUNCATE(d)"},
		{"REGEXP_COUNT", `REGEXP_COUNT(s, '\d+')`}, {"REGEXP_INSTR", `REGEXP_INSTR(s, '\d+')`}, {"REGEXP_SUBSTR", `REGEXP_SUBSTR(s, '\d+')`},
		{"TO_TIMESTAMP_LTZ", "TO_TIMESTAMP_LTZ(n, 3)"}, {"TO_TIMESTAMP_LTZ", "TO_TIMESTAMP_LTZ(s, 'dd.MM.yyyy HH:mm', 'Europe/Berlin')"}, {"UNIX_TIMESTAMP", "UNIX_TIMESTAMP(s)"}, {"FROM_UNIXTIME", "FROM_UNIXTIME(n)"}, {"FROM_UNIXTIME", "FROM_UNIXTIME(n, 'HH:mm')"},
		{"CONVERT_TZ", "CONVERT_TZ(s, 'UTC', 'Europe/Berlin')"}, {"SHA256", "SHA256(s)"}, {"SHA256", "SHA2(s, 256)"}, {"MD5", "MD5(o)"},
		{"TO_DATE", "TO_DATE(s)"}, {"TO_DATE", "TO_DATE(s, 'M/d/yyyy')"},
		{"SPLIT", "SPLIT(s, ' ')"}, {"FIELD", "r.city"}, {"ITEM", "a[1]"}, {"ITEM", "m['key']"}, {"CARDINALITY", "CARDINALITY(a)"}, {"ELEMENT", "ELEMENT(a)"}, {"ARRAY_CONTAINS", "ARRAY_CONTAINS(a, 'x')"},
	}
}

// plainForm is how a function is written that forms does not list: its name and arguments in brackets.
func plainForm(f expr.Function) string {
	args := []string{"a", "b", "c", "d", "e", "f"}
	return f.Name + "(" + strings.Join(args[:min(f.MinArgs, len(args))], ", ") + ")"
}

// otherForms are written without a function's name.
func otherForms() [][2]string {
	return [][2]string{
		{"CASE WHEN n > 10 THEN 'many' WHEN n > 1 THEN 'some' ELSE 'one' END", "The first result whose condition is TRUE, else that of ELSE, which is NULL where it is left out. Branches that are not taken do not fail."},
		{"CASE s WHEN 'a' THEN 1 WHEN 'b' THEN 2 END", "The same with = between the value and each WHEN."},
		{"CAST(s AS INT)", "The value as another type; fails where it is none."},
		{"TRY_CAST(s AS INT)", "The same, giving NULL instead of failing; the report counts the rows by reason."},
		{"12", "INT, or BIGINT where it is too large for one. 1.50 is DECIMAL(3, 2), 1e3 is DOUBLE."},
		{"'it''s'", "STRING; a quote inside is doubled."},
		{"IF(n > 1, 'many', 'one')", "The same as CASE WHEN n > 1 THEN 'many' ELSE 'one' END."},
		{"PI()", "A DOUBLE literal; also E()."},
		{"TYPEOF(n)", "The type as text, 'BIGINT'."},
		{"TRUE", "BOOLEAN; also FALSE, and NULL of the type that is needed."},
		{"DATE '2024-01-31'", "DATE; also TIME '12:00:00' and TIMESTAMP '2024-01-31 12:00:00.000'. A TIMESTAMP_LTZ is written as CAST('2024-01-31 12:00:00Z' AS TIMESTAMP_LTZ(3))."},
		{"x'0aff'", "BYTES, two hexadecimal digits for each."},
	}
}

// sampleSchema has a column of each type, for the examples.
func sampleSchema() expr.Schema {
	return expr.SchemaOf(
		expr.Field{Name: "b", Type: expr.Of(expr.Boolean)}, expr.Field{Name: "x", Type: expr.Of(expr.Int)}, expr.Field{Name: "n", Type: expr.Of(expr.BigInt)},
		expr.Field{Name: "d", Type: expr.DecimalOf(12, 2)}, expr.Field{Name: "f", Type: expr.Of(expr.Double)}, expr.Field{Name: "s", Type: expr.Of(expr.String)},
		expr.Field{Name: "day", Type: expr.Of(expr.Date)}, expr.Field{Name: "ts", Type: expr.TimestampOf(3)},
		expr.Field{Name: "ltz", Type: expr.TimestampLTZOf(3)}, expr.Field{Name: "tod", Type: expr.TimeOf(0)}, expr.Field{Name: "o", Type: expr.Of(expr.Bytes)},
		expr.Field{Name: "a", Type: expr.ArrayOf(expr.Of(expr.String))}, expr.Field{Name: "m", Type: expr.MapOf(expr.Of(expr.String), expr.Of(expr.Int))},
		expr.Field{Name: "r", Type: expr.RowOf(expr.Field{Name: "city", Type: expr.Of(expr.String)}, expr.Field{Name: "zip", Type: expr.Of(expr.Int)})},
	)
}

// functionsPage lists types, functions, aggregates and casts, and where they differ from Flink's.
func functionsPage() ([]byte, error) {
	p := newPage("Expressions")
	p.paragraph("Expressions are Flink SQL. Names of functions and keywords may be in any case, names of columns may not; a name that is a keyword or has other " +
		"characters stands in backticks. The columns of the examples: " + sampleColumns() + ".")
	p.heading("Types")
	typeTable(p)
	p.heading("Functions")
	p.paragraph("NULL: *strict* functions give NULL if an argument is NULL; *never* means that the result is not NULL; *special* ones say what they do. " +
		"In the descriptions N is any number, T any type. A function fails only where it says so, and only for rows that need it: AND, OR, CASE and COALESCE do not look " +
		"at what they do not need.")
	p.paragraph("What takes a TIMESTAMP takes a TIMESTAMP_LTZ too and computes with its local time in the session's zone, `table.local-time-zone`. There a DAY and shorter units are of one length, 24 hours for a DAY, as in Flink; " +
		"months and years are counted, and units of a day and more are rounded to, by the local calendar. Of two instants that have one local time the earlier one is taken, and a local time that clocks skip is moved on by what they skip, as in Java; " +
		"only a text that CAST or a source reads fails for such a time. EXTRACT, FLOOR … TO, CEIL … TO and TIMESTAMPADD take a TIME with units below a day; adding to one goes round at midnight. " +
		"CURRENT_TIMESTAMP, NOW and their like are refused: a run over the same files gives the same result whenever it runs; write a parameter.")
	examples := map[string][]string{}
	for _, f := range forms() {
		examples[f.Name] = append(examples[f.Name], f.Written)
	}
	var rows [][]string
	for _, f := range expr.Functions() {
		if examples[f.Name] == nil {
			examples[f.Name] = []string{plainForm(f)}
		}
		rows = append(rows, []string{code(f.Name), codes(examples[f.Name]), arity(f), nullRule(f.Nulls), cell(f.Doc)})
	}
	p.table([]string{"Name", "Written", "Arguments", "NULL", ""}, rows)
	p.paragraph("Beside functions:")
	rows = nil
	for _, f := range otherForms() {
		rows = append(rows, []string{code(f[0]), cell(f[1])})
	}
	p.table([]string{"Written", ""}, rows)
	p.heading("Aggregates")
	p.paragraph("In `measures` and `having` alone. Each takes `DISTINCT` and `FILTER (WHERE condition)`. NULLs are passed over, and all but COUNT give NULL where no value is left.")
	if err := aggregateTable(p); err != nil {
		return nil, err
	}
	p.heading("Casts")
	p.paragraph("From the type of the row to that of the column. *yes*: never fails. *checked*: fails for values that do not fit, with their place; `TRY_CAST` gives NULL instead. *no*: refused before the run.")
	castTable(p)
	p.heading("Differences from Flink")
	p.paragraph("What a plan gives here and would give otherwise in Flink SQL. A *refused* expression is found before the run.")
	rows = nil
	for _, d := range differences() {
		rows = append(rows, []string{code(d.Expr), cell(d.Here), cell(d.Flink), cell(d.Why)})
	}
	p.table([]string{"Expression", "Here", "Flink", "Why"}, rows)
	return p.bytes(), nil
}

func sampleColumns() string {
	var out []string
	for _, f := range sampleSchema().Fields {
		out = append(out, code(f.Name)+" "+f.Type.String())
	}
	return strings.Join(out, ", ")
}

func typeTable(p *page) {
	var rows [][]string
	for _, t := range []struct{ typ, aka, values string }{
		{"BOOLEAN", "", "TRUE, FALSE"},
		{"TINYINT", "", "whole numbers of 8 bits: -128 to 127"},
		{"SMALLINT", "", "16 bits: -32768 to 32767"},
		{"INT", "INTEGER", "32 bits"},
		{"BIGINT", "", "64 bits"},
		{"DECIMAL(12, 2)", "DEC, NUMERIC", fmt.Sprintf("exact, 1 to %d digits of which 0 to all stand after the point; DECIMAL alone is DECIMAL(10, 0)", expr.MaxDecimal)},
		{"FLOAT", "REAL", "32 bits, IEEE 754; beside a whole number FLOAT, beside a DECIMAL or DOUBLE a DOUBLE"},
		{"DOUBLE", "", "64 bits, IEEE 754; CAST to STRING writes it as Java and Flink do (1.0E20, 1.2345678E7), files have it plainly from 0.0001 to below 1E16 (12345678.0, 1e+20), which JSON and every reader takes for the same number"},
		{"STRING", "", "Unicode text; ordered by its UTF-8 bytes"},
		{"DATE", "", "days of the Gregorian calendar, in 32 bits, so years beyond 9999 too"},
		{"TIME(0)", "", "time of day, with 0 to 6 digits of seconds (Flink computes with at most 3); TIME alone is TIME(0)"},
		{"TIMESTAMP(3)", "", "date and time without zone, with 0 to 6 digits of seconds; TIMESTAMP alone is TIMESTAMP(6)"},
		{"TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "an instant, with 0 to 6 digits of seconds; its local time is that of table.local-time-zone, UTC by default. In files it stands in UTC with a Z"},
		{"BYTES", "", "bytes; ordered as unsigned numbers. In files of text they are base64, as in Flink"},
		{"ARRAY<INT>", "", "elements of one type, counted from 1; NULL may be among them"},
		{"MAP<STRING, INT>", "", "values by keys; a key is never NULL"},
		{"ROW<a INT, b STRING>", "ROW(a INT, b STRING)", "named fields, each of its own type. ARRAY, MAP and ROW may hold one another, 64 deep; they are no keys of group_by, order_by and distinct, and have no order. CAST to STRING gives [1, 2], {k=1} and (1, x)"},
	} {
		rows = append(rows, []string{code(t.typ), t.aka, cell(t.values)})
	}
	p.table([]string{"Type", "Also", "Values"}, rows)
	p.paragraph("`NOT NULL` may follow a type. In comparisons, keys and sorting NaN equals NaN and is larger than every other number, and -0.0 equals 0.0.")
}

func arity(f expr.Function) string {
	switch {
	case f.MaxArgs < 0:
		return fmt.Sprintf("%d or more", f.MinArgs)
	case f.MaxArgs == f.MinArgs:
		return fmt.Sprint(f.MinArgs)
	}
	return fmt.Sprintf("%d to %d", f.MinArgs, f.MaxArgs)
}

func nullRule(r expr.NullRule) string {
	switch r {
	case expr.Strict:
		return "strict"
	case expr.Never:
		return "never"
	}
	return "special"
}

// aggregateTable gives the result types of the aggregates.
func aggregateTable(p *page) error {
	head := []string{"Argument", "COUNT", "SUM", "AVG", "MIN, MAX"}
	var rows [][]string
	for _, f := range sampleSchema().Fields {
		row := []string{f.Type.String()}
		for _, fn := range []string{"COUNT", "SUM", "AVG", "MIN"} {
			t, err := expr.AggType(fn, f.Type, false)
			switch {
			case err != nil && fn != "SUM" && fn != "AVG" && f.Type.Kind != expr.Bytes:
				return fmt.Errorf("the type of %s(%s): %w", fn, f.Type, err)
			case err != nil:
				row = append(row, "-")
			default:
				row = append(row, t.Nullable(true).String())
			}
		}
		rows = append(rows, row)
	}
	p.table(head, rows)
	p.paragraph("`COUNT(*)` counts rows. Integers and decimals are added exactly in a wider type, and only a final value that does not fit is an Overflow, so that whether a run fails " +
		"does not depend on its parallelism. Sums of DOUBLE are exact too and rounded once: the result is the same bit for bit at every parallelism.")
	return nil
}

func castTable(p *page) {
	fields := sampleSchema().Fields
	head := []string{"from \\ to"}
	for _, to := range fields {
		head = append(head, to.Type.String())
	}
	var rows [][]string
	for _, from := range fields {
		row := []string{from.Type.String()}
		for _, to := range fields {
			allowed, fails := expr.CastRule(from.Type, to.Type)
			switch {
			case !allowed:
				row = append(row, "no")
			case fails:
				row = append(row, "checked")
			default:
				row = append(row, "yes")
			}
		}
		rows = append(rows, row)
	}
	p.table(head, rows)
}

// anchor is the link target that a heading gets.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-':
			b.WriteRune(r)
		case r == ' ':
			b.WriteRune('-')
		}
	}
	return b.String()
}
