package docs

// A difference is an expression that gives something else here than in Flink SQL. Here is the value's
// text, or that it fails or is refused, and then Says is a part of the message.
type difference struct{ Expr, Here, Says, Flink, Why string }

const (
	fails   = "fails"
	refused = "refused"
	empty   = "an empty text"
)

// differences are held by a test, which computes what happens here.
func differences() []difference {
	return []difference{
		{"CAST('3.0' AS INT)", fails, "to INT", "3", "Digits are not dropped without a word; write CAST(CAST(x AS DECIMAL(10, 1)) AS INT)."},
		{"SUBSTRING('abc' FROM 1 FOR -1)", empty, "", "NULL", "A text with a length below 0 is empty, not unknown."},
		{"'1' + 1", refused, "CAST", "the text is converted", "Text becomes a number only where the plan says so."},
		{"CURRENT_DATE", refused, "parameter", "the day of the run", "A run over the same files gives the same result; write a parameter, `${today}`."},
		{"RAND()", refused, "whenever it runs", "a number by chance", "As CURRENT_DATE; so are UUID(), NOW() and their like."},
		{"5e0 % 3", "2.0", "", "refused", "The remainder of DOUBLEs is defined; it has the sign of the first."},
		{"ASCII('ü')", "252", "", "-61", "The code point of the first character, not its first byte."},
		{"INITCAP('zürich')", "Zürich", "", "ZüRich", "Words are runs of letters and digits of any script."},
		{"IS_DECIMAL('1d')", "false", "", "TRUE", "What CAST AS DOUBLE reads is a number; Java's suffixes are not."},
		{"TO_DATE('30.02.2024', 'dd.MM.yyyy')", "NULL", "", "2024-02-29", "A day that there is not is no date."},
		{"DATE_FORMAT(TIMESTAMP '2024-01-31 00:00:00', 'MMM')", refused, "MMM", "Jan", "Names of months and zones depend on the language and the machine."},
		{"REGEXP('ab', '(?<=a)b')", refused, "look behind", "TRUE", "Patterns are RE2's, whose time is linear in the text; what only Java has is refused by name."},
		{"REGEXP_REPLACE('baac', 'a*', '-')", "-b-c-", "", "-b--c-", "RE2 finds no empty match right after another."},
		{"REPEAT('ab', 20000000)", fails, "16 MiB", "the text", "One text is at most 16 MiB when it is padded or repeated, so that memory stays bounded."},
		{"CAST(1e300 AS FLOAT)", fails, "to FLOAT", "Infinity", "A value that does not fit is not replaced without a word."},
		{"CAST(100 AS TINYINT) + CAST(100 AS TINYINT)", fails, "overflows TINYINT", "-56", "What does not fit a type fails; Flink goes round to the other end."},
		{"CAST('2024-01-01' AS TIMESTAMP(9))", refused, "0 to 6", "a TIMESTAMP(9)", "64 bits of nanoseconds end in the year 2262; until there is a wider type it is refused."},
		{"CAST('2024-03-31 02:30:00+01:00' AS TIMESTAMP_LTZ(3))", "2024-03-31 01:30:00.000Z", "", "fails", "A text with an offset, or Z, is that instant; without one it is a local time of the session's zone."},
		{"CAST('24:00:00' AS TIME(0))", fails, "no such date or time", "NULL or 00:00:00, by the version", "There is no such time of day."},
		{"UNIX_TIMESTAMP('no time')", "NULL", "", "-9223372036854775808", "What is no time is unknown, not the first second of all."},
		{"UNIX_TIMESTAMP()", refused, "1 to 2", "the second of the run", "As CURRENT_DATE."},
		{"OVERLAY('abc' PLACING 'x' FROM 2 FOR 0)", "axbc", "", "ax", "SQL puts the text before what stands there."},
		{"HEX(x'0aff')", "0AFF", "", "refused", "HEX, TO_BASE64, MD5 and the SHA functions take BYTES too."},
		{"TIME '23:00:00' + INTERVAL '0.000001' SECOND", "23:00:00.000001", "", "23:00:00.000", "A TIME has up to 6 digits of seconds here."},
		{"CEIL(TIME '23:30:00' TO HOUR)", fails, "overflows", "24:00:00, which no TIME is", "There is no such time of day."},
		{"CAST(x'c3' AS STRING)", fails, "no UTF-8", "the character U+FFFD", "What is no text is not replaced without a word."},
	}
}
