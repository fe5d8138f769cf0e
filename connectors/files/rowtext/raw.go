package rowtext

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Raw is the way to the values of a column, NULL included, as [JSON] writes them, for showing what stands
// in a file: bytes that are no text are U+FFFD, one for each, where JSON fails.
func Raw(arr arrow.Array, f expr.Field) func(dst []byte, row int) []byte {
	e := &JSON{lenient: true}
	return e.cellOf(arr, f)
}

// AppendRaw appends a value of which only its text is known: a number as one, all else as a text.
func AppendRaw(dst []byte, value string) []byte {
	if isNumber(value) {
		return append(dst, value...)
	}
	return AppendText(dst, value)
}

// AppendText appends a text as JSON has it; bytes that are no text are U+FFFD.
func AppendText(dst []byte, text string) []byte { return appendJSON(dst, plain(text)) }

// isNumber holds for whole numbers and decimals without an exponent, as JSON writes them.
func isNumber(s string) bool {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && c != '.' && (c != '-' || i > 0) {
			return false
		}
	}
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	return digits[0] != '.' && digits[len(digits)-1] != '.' && (digits[0] != '0' || len(digits) == 1 || digits[1] == '.')
}

// plain is a text with U+FFFD for each byte that is no UTF-8.
func plain(s string) string { return string([]rune(s)) }
