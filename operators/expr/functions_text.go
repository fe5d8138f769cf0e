package expr

// textFunctions are the calls on text beyond those that every dialect has.
var textFunctions = []Function{
	{"CONCAT_WS", 2, -1, Special, "STRING separator, STRING … -> STRING: the texts that are not NULL with the separator between them; NULL where the separator is.", nil},
	{"REPLACE", 3, 3, Strict, "STRING s, STRING old, STRING new -> STRING: every old in s becomes new, from the left; an empty old stands between all characters.", nil},
	{"LEFT", 2, 2, Strict, "STRING s, INT n -> STRING: the first n characters; '' where n is below 1.", nil},
	{"RIGHT", 2, 2, Strict, "STRING s, INT n -> STRING: the last n characters; '' where n is below 1.", nil},
	{"LPAD", 3, 3, Special, "STRING s, INT n, STRING pad -> STRING: s with pad repeated before it, cut to n characters: s alone is cut at its end. NULL where n is below 0 or pad is ''. " +
		"Fails: EvaluationError beyond 16 MiB.", failsPad},
	{"RPAD", 3, 3, Special, "STRING s, INT n, STRING pad -> STRING: s with pad repeated after it, cut to n characters. NULL where n is below 0 or pad is ''. " +
		"Fails: as LPAD.", failsPad},
	{"REPEAT", 2, 2, Strict, "STRING s, INT n -> STRING: s n times; '' where n is below 1. Fails: EvaluationError beyond 16 MiB.", always},
	{"REVERSE", 1, 1, Strict, "STRING -> STRING: the characters from last to first.", nil},
	{"INITCAP", 1, 1, Strict, "STRING -> STRING: the first character of each word in upper case, the others in lower case. A word is a run of letters and digits " +
		"(in Flink of A to Z, a to z and digits alone).", nil},
	{"ASCII", 1, 1, Strict, "STRING -> INT: the code point of the first character, 0 of '' (in Flink the first byte, below 0 where it is not ASCII).", nil},
	{"CHR", 1, 1, Strict, "BIGINT n -> STRING: the character of code point n modulo 256; '' where n is below 0.", nil},
	{"POSITION", 2, 3, Strict, "STRING part, STRING s [, INT from] -> INT: where part begins in s, in characters from 1, at or after from; 0 where it does not, and where from is below 1.", nil},
	{"STARTSWITH", 2, 2, Strict, "STRING s, STRING start -> BOOLEAN.", nil},
	{"ENDSWITH", 2, 2, Strict, "STRING s, STRING end -> BOOLEAN.", nil},
	{"SPLIT_INDEX", 3, 3, Special, "STRING s, STRING separator, INT n -> STRING: part n of s, counted from 0, between separators; white space separates where separator is ''. " +
		"NULL where there is no such part; '' has no parts. (A separator given as a number, which Flink takes too, is CHR(n).)", nil},
	{"REGEXP", 2, 2, Strict, "STRING s, STRING pattern -> BOOLEAN: whether the pattern matches a part of s; '' matches nothing. " + patternDoc, nil},
	{"REGEXP_REPLACE", 3, 3, Strict, "STRING s, STRING pattern, STRING new -> STRING: every match of the pattern becomes new, which is taken as it is, $1 included. " +
		"After a match there is no empty one at its end, as there is in Java. " + patternDoc, nil},
	{"REGEXP_EXTRACT", 2, 3, Special, "STRING s, STRING pattern [, INT group] -> STRING: what the group (0, the default: the whole) of the pattern's first match holds; NULL where there is no match or no such group. " + patternDoc, nil},
	{"IS_ALPHA", 1, 1, Strict, "STRING -> BOOLEAN: whether there are only letters, and at least one.", nil},
	{"IS_DIGIT", 1, 1, Strict, "STRING -> BOOLEAN: whether there are only digits, and at least one.", nil},
	{"IS_DECIMAL", 1, 1, Strict, "STRING -> BOOLEAN: whether it is the text of a number, as CAST to DOUBLE reads it, of any size (Java's suffixes and hexadecimal, which Flink takes, are not).", nil},
	{"MD5", 1, 1, Strict, "STRING -> STRING: the MD5 hash of its UTF-8 bytes, as lower-case hexadecimal digits.", nil},
	{"SHA1", 1, 1, Strict, "STRING -> STRING: as MD5.", nil},
	{"SHA224", 1, 1, Strict, "STRING -> STRING: as MD5.", nil},
	{"SHA256", 1, 1, Strict, "STRING -> STRING: as MD5.", nil},
	{"SHA384", 1, 1, Strict, "STRING -> STRING: as MD5.", nil},
	{"SHA512", 1, 1, Strict, "STRING -> STRING: as MD5.", nil},
}

const patternDoc = "The pattern is a literal in RE2's syntax; what Java has beyond it is refused. " +
	"$ is the very end and not before a last line end too, . leaves out \\n alone, \\s leaves out the vertical tab, (?i) takes all of Unicode."

// failsPad: a text padded to few characters is short enough.
func failsPad(e *Expr) bool {
	n := e.Args[1]
	return n.Op != OpLiteral || n.Value == nil || n.Value.Int > longestText/utf8Max
}

// longestText is the length in bytes to which one text may be padded or repeated, and utf8Max the
// bytes of the longest character.
const (
	longestText = 16 << 20
	utf8Max     = 4
)

// numberFunctions are the calls on numbers whose result is a DOUBLE, and the sign.
var numberFunctions = []Function{
	{"SIGN", 1, 1, Strict, "N -> N, the same type: 1, 0 or -1; NaN of NaN. Fails: Overflow of a DECIMAL(p, p), which holds no 1.", failsSign},
	{"POWER", 2, 2, Strict, "DOUBLE, DOUBLE -> DOUBLE. " + doubleDoc, nil},
	{"SQRT", 1, 1, Strict, "DOUBLE -> DOUBLE: NaN below 0.", nil},
	{"EXP", 1, 1, Strict, "DOUBLE -> DOUBLE. " + doubleDoc, nil},
	{"LN", 1, 1, Strict, "DOUBLE -> DOUBLE: NaN below 0, -Infinity of 0. " + doubleDoc, nil},
	{"LOG", 2, 2, Strict, "DOUBLE base, DOUBLE x -> DOUBLE: LN(x) / LN(base). " + doubleDoc, nil},
	{"LOG10", 1, 1, Strict, "DOUBLE -> DOUBLE: as LN.", nil},
	{"LOG2", 1, 1, Strict, "DOUBLE -> DOUBLE: as LN.", nil},
	{"SIN", 1, 1, Strict, "DOUBLE -> DOUBLE. " + doubleDoc, nil},
	{"COS", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"TAN", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"COT", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"ASIN", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"ACOS", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"ATAN", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"ATAN2", 2, 2, Strict, "DOUBLE y, DOUBLE x -> DOUBLE: as SIN.", nil},
	{"SINH", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"COSH", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"TANH", 1, 1, Strict, "DOUBLE -> DOUBLE: as SIN.", nil},
	{"DEGREES", 1, 1, Strict, "DOUBLE radians -> DOUBLE: as SIN.", nil},
	{"RADIANS", 1, 1, Strict, "DOUBLE degrees -> DOUBLE: as SIN.", nil},
	{"GREATEST", 1, -1, Strict, "T … -> T: the largest; NULL where any is NULL. NaN is the largest DOUBLE.", nil},
	{"LEAST", 1, -1, Strict, "T … -> T: the smallest; NULL where any is NULL.", nil},
}

const doubleDoc = "The last digit may differ from Flink's and between kinds of processors."

// timeFunctions are the calls between text and time.
var timeFunctions = []Function{
	{"CEIL_TO", 2, 2, Strict, "STRING unit, DATE or TIMESTAMP(p) -> the same type: x where a unit begins at it, else the begin of the next; units as FLOOR_TO. Fails: Overflow.", always},
	{"DATE_FORMAT", 2, 2, Strict, "TIMESTAMP(p) x, STRING pattern -> STRING. " + timePatternDoc + " Years before 1 are written as years BC without a sign, those beyond 9999 with a +, as in Java.", nil},
	{"TO_TIMESTAMP", 1, 2, Special, "STRING s [, STRING pattern] -> TIMESTAMP(3): NULL where s is none, as in Flink; CAST fails there. Without a pattern s is read as CAST reads it. " + timePatternDoc + timeReadDoc, nil},
	{"TO_DATE", 1, 2, Special, "STRING s [, STRING pattern] -> DATE: as TO_TIMESTAMP.", nil},
}

const timePatternDoc = "The pattern is a literal of yyyy, MM, dd, HH, mm, ss, SSS (1 to 9 digits of the second's fraction), of M, d, H, m, s without leading zeros, " +
	"of text in '…' and of any other characters but letters, which Java has for what depends on language or zone, and [ ] { } #."

const timeReadDoc = " Text is read with just as many digits as the pattern has letters (one or two for a single letter) and nothing after it; " +
	"what the pattern leaves out is 1970-01-01 00:00:00; a day that its month does not have gives NULL (in Flink the month's last)."
