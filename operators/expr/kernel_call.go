package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math"
)

// bindCall chooses the kernel of a call.
func bindCall(nd *node) error {
	bind, ok := kernels[nd.e.Name]
	if !ok {
		return fmt.Errorf("there is no function %s", nd.e.Name)
	}
	return bind(nd)
}

var kernels = map[string]func(*node) error{
	"AND": bindLogic, "OR": bindLogic, "NOT": bindNot,
	"IS NULL": bindIs, "IS NOT NULL": bindIs,
	"IS TRUE": bindIs, "IS NOT TRUE": bindIs, "IS FALSE": bindIs, "IS NOT FALSE": bindIs,
	"=": bindCompare, "<>": bindCompare, "<": bindCompare, "<=": bindCompare, ">": bindCompare, ">=": bindCompare,
	"IS DISTINCT FROM": bindCompare, "IS NOT DISTINCT FROM": bindCompare,
	"LIKE": bindLike, "||": textKernel(concatTexts), "UPPER": textKernel(upper), "LOWER": textKernel(lower),
	"SUBSTRING": textKernel(substring), "TRIM": textKernel(trimText), "CHAR_LENGTH": whole(charLength),
	"EXTRACT": bindExtract, "FLOOR_TO": bindFloorTo, "CEIL_TO": bindFloorTo, "TIMESTAMPADD": bindTimestampAdd, "TIMESTAMPDIFF": bindTimestampDiff,
	"COALESCE": bindCoalesce, "NULLIF": bindNullIf, "IN": bindIn,
	"NEG": bindSign, "ABS": bindSign, "SIGN": bindSignum, "ROUND": bindRound, "FLOOR": bindWhole, "CEIL": bindWhole,
	"+": bindArithmetic, "-": bindArithmetic, "*": bindArithmetic, "/": bindArithmetic, "%": bindArithmetic,
	"GREATEST": bindExtreme, "LEAST": bindExtreme, "POWER": doubles2(math.Pow), "ATAN2": doubles2(math.Atan2), "LOG": doubles2(logBase),
	"SQRT": doubles(math.Sqrt), "EXP": doubles(math.Exp), "LN": doubles(math.Log), "LOG10": doubles(math.Log10), "LOG2": doubles(log2),
	"SIN": doubles(math.Sin), "COS": doubles(math.Cos), "TAN": doubles(math.Tan), "COT": doubles(cotangent),
	"ASIN": doubles(math.Asin), "ACOS": doubles(math.Acos), "ATAN": doubles(math.Atan), "SINH": doubles(math.Sinh), "COSH": doubles(math.Cosh), "TANH": doubles(math.Tanh),
	"DEGREES": doubles(degrees), "RADIANS": doubles(radians),
	"CONCAT_WS": bindConcatWS, "REPLACE": textKernel(replaceText), "LEFT": textKernel(left), "RIGHT": textKernel(right), "REVERSE": textKernel(reverse),
	"INITCAP": textKernel(initcap), "CHR": textKernel(chr), "LPAD": optionalText(pad), "RPAD": optionalText(pad), "REPEAT": optionalText(repeat), "SPLIT_INDEX": optionalText(splitIndex),
	"ASCII": whole(ascii), "POSITION": whole(position), "STARTSWITH": condition(startsWith), "ENDSWITH": condition(endsWith),
	"IS_ALPHA": condition(isAlpha), "IS_DIGIT": condition(isDigits), "IS_DECIMAL": condition(isDecimal),
	"MD5": hash(md5.New), "SHA1": hash(sha1.New), "SHA224": hash(sha256.New224), "SHA256": hash(sha256.New), "SHA384": hash(sha512.New384), "SHA512": hash(sha512.New),
	"REGEXP": bindRegexp, "REGEXP_REPLACE": bindRegexp, "REGEXP_EXTRACT": bindRegexp,
	"SPLIT": bindSplit, "FIELD": bindField, "ITEM": bindItem, "CARDINALITY": bindCardinality, "ELEMENT": bindElement, "ARRAY_CONTAINS": bindContains,
	"REGEXP_COUNT": bindRegexp, "REGEXP_INSTR": bindRegexp, "REGEXP_SUBSTR": bindRegexp,
	"ENCODE": bindEncode, "DECODE": bindDecode, "TO_BASE64": textKernel(toBase64), "FROM_BASE64": bindFromBase64, "HEX": textKernel(hexText), "UNHEX": optionalText(unhex),
	"BIN": textKernel(binaryText), "URL_ENCODE": textKernel(urlEncode), "URL_DECODE": optionalText(urlDecode),
	"OVERLAY": textKernel(overlay), "TRANSLATE": textKernel(translate), "ELT": bindElt, "TRUNCATE": bindTruncate,
	"TO_TIMESTAMP_LTZ": bindToInstant, "UNIX_TIMESTAMP": bindUnixTimestamp, "FROM_UNIXTIME": bindFromUnixtime, "CONVERT_TZ": bindConvertTZ,
	"DATE_FORMAT": bindDateFormat, "TO_TIMESTAMP": bindToTime, "TO_DATE": bindToTime,
}
