package expr

// bytesFunctions are the calls between texts and bytes, and what is written with them.
var bytesFunctions = []Function{
	{"ENCODE", 2, 2, Strict, "STRING s, STRING charset -> BYTES: " + charsetDoc + " A character that the charset does not have becomes ?, as in Java.", nil},
	{"DECODE", 2, 2, Strict, "BYTES b, STRING charset -> STRING: " + charsetDoc + " What is no text in it becomes U+FFFD, as in Java.", nil},
	{"TO_BASE64", 1, 1, Strict, "STRING or BYTES -> STRING: the base64 of the bytes, those of UTF-8 for a STRING.", nil},
	{"FROM_BASE64", 1, 1, Strict, "STRING -> STRING: the text whose UTF-8 the base64 stands for. Fails: EvaluationError where it is none.", always},
	{"HEX", 1, 1, Strict, "BIGINT, STRING or BYTES -> STRING: the number, or each byte, in upper-case hexadecimal digits; a number below 0 as its 64 bits.", nil},
	{"UNHEX", 1, 1, Special, "STRING -> BYTES: two hexadecimal digits make a byte, the first of an odd number stands for a byte alone; NULL where there are others.", nil},
	{"BIN", 1, 1, Strict, "BIGINT -> STRING: the number in binary digits; one below 0 as its 64 bits.", nil},
	{"URL_ENCODE", 1, 1, Strict, "STRING -> STRING: as in the query of a URL, a blank as +.", nil},
	{"URL_DECODE", 1, 1, Special, "STRING -> STRING: what URL_ENCODE gives back to text; NULL where it is none.", nil},
}

const charsetDoc = "the charset is a literal, one of US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16 (with a byte-order mark)."

// furtherTextFunctions are more calls on text.
var furtherTextFunctions = []Function{
	{"OVERLAY", 3, 4, Strict, "STRING s, STRING new, INT from [, INT length] -> STRING: s with new in place of so many characters from a place on, as many as new has by default; " +
		"s itself where there is no such place. A length below 1 replaces nothing (in Flink everything from there on).", nil},
	{"TRANSLATE", 3, 3, Strict, "STRING s, STRING from, STRING to -> STRING: each character of from that stands in s becomes the one at its place in to, and is left out where to is shorter.", nil},
	{"ELT", 2, -1, Special, "INT n, STRING … -> STRING: the n-th text, counted from 1; NULL where there is none.", nil},
	{"REGEXP_COUNT", 2, 2, Strict, "STRING s, STRING pattern -> INT: how many matches the pattern has. " + patternDoc, nil},
	{"REGEXP_INSTR", 2, 2, Strict, "STRING s, STRING pattern -> INT: where the first match begins, in characters from 1; 0 where there is none. " + patternDoc, nil},
	{"REGEXP_SUBSTR", 2, 2, Special, "STRING s, STRING pattern -> STRING: the first match; NULL where there is none. " + patternDoc, nil},
	{"TRUNCATE", 2, 2, Strict, "N x, INT literal n -> the type of ROUND(x, n): cut towards zero to n places after the point, n < 0 before it. Of a DOUBLE the shortest decimal text is cut.", nil},
}

// instantFunctions are the calls that read the session's time zone, and one that is given two.
var instantFunctions = []Function{
	{"TO_TIMESTAMP_LTZ", 1, 3, Special, "BIGINT n [, INT literal 0 or 3] -> TIMESTAMP_LTZ(3): n seconds (0) or milliseconds (3, the default) since 1970-01-01 00:00:00 UTC; NULL where it is too far away. " +
		"STRING s [, STRING pattern [, STRING zone]] -> TIMESTAMP_LTZ(3): the local time in the zone, the session's by default, and without a pattern also one with an offset; NULL where s is none. " +
		"Of two instants it is the earlier, and a time that clocks skip is moved on, as in Java. Pattern and zone are literals; the pattern is that of TO_TIMESTAMP.", nil},
	{"UNIX_TIMESTAMP", 1, 2, Special, "STRING s [, STRING pattern] -> BIGINT: the seconds since 1970-01-01 00:00:00 UTC of a local time in the session's zone, read by the pattern, " +
		"yyyy-MM-dd HH:mm:ss by default; NULL where s is none (in Flink the least BIGINT).", nil},
	{"FROM_UNIXTIME", 1, 2, Special, "BIGINT seconds [, STRING pattern] -> STRING: the local time in the session's zone, written by the pattern of DATE_FORMAT, yyyy-MM-dd HH:mm:ss by default; NULL where it is too far away.", nil},
	{"CONVERT_TZ", 3, 3, Special, "STRING s, STRING from, STRING to -> STRING: the local time yyyy-MM-dd HH:mm:ss of one zone as that of another; NULL where s is none. The zones are literals.", nil},
}
