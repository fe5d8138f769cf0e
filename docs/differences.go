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
		{"CAST('2024-01-01' AS TIMESTAMP(9))", refused, "0 to 6", "a TIMESTAMP(9)", "64 bits of nanoseconds end in the year 2262; until there is a wider type it is refused."},
		{"CAST('2024-01-01' AS TIMESTAMP_LTZ(3))", refused, "not supported yet", "a TIMESTAMP_LTZ(3)", "Not supported yet."},
	}
}
