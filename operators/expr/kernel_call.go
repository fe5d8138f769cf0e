package expr

import "fmt"

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
	"SUBSTRING": textKernel(substring), "TRIM": textKernel(trimText), "CHAR_LENGTH": bindCharLength,
	"EXTRACT": bindExtract, "FLOOR_TO": bindFloorTo, "TIMESTAMPADD": bindTimestampAdd, "TIMESTAMPDIFF": bindTimestampDiff,
	"COALESCE": bindCoalesce, "NULLIF": bindNullIf, "IN": bindIn,
	"NEG": bindSign, "ABS": bindSign, "ROUND": bindRound, "FLOOR": bindWhole, "CEIL": bindWhole,
	"+": bindArithmetic, "-": bindArithmetic, "*": bindArithmetic, "/": bindArithmetic, "%": bindArithmetic,
}
