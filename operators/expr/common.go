package expr

// CommonType is the type that values of a and b can both be brought to, as the branches of a CASE or
// the inputs of a UNION are; ok is false where there is none.
func CommonType(a, b Type) (t Type, ok bool) { return commonType(a, b, false) }
