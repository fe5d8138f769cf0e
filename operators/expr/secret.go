package expr

// withheld stands for a value that was computed from a secret.
const withheld = "***"

// hasSecret reports whether an expression holds a literal that is not to be shown.
func hasSecret(e *Expr) bool {
	found := false
	Walk(e, func(n *Expr) bool {
		found = found || n.Op == OpLiteral && n.Value != nil && n.Value.Secret
		return !found
	})
	return found
}

// derived reports whether an expression makes other text of a secret: as UPPER does, or SUBSTRING. Whoever
// prints it looks for the secret as it was written and would not find that. Casts and || keep it as it
// is, and a BOOLEAN says nothing of it. A cast to DOUBLE may write its digits in another way.
func derived(e *Expr) bool {
	if e.Op == OpLiteral || e.Op == OpColumn || e.Type.Kind == Boolean || !hasSecret(e) {
		return false
	}
	switch {
	case e.Op == OpCast || e.Op == OpTryCast:
		if keepsText(e.Args[0].Type, e.Type) {
			return derived(e.Args[0])
		}
	case e.Op == OpCall && (e.Name == "||" || e.Name == "CONCAT"):
		for _, a := range e.Args {
			if derived(a) {
				return true
			}
		}
		return false
	}
	return true
}

// keepsText reports whether a cast writes a value as it was, at most with more digits behind the point:
// whole numbers and text among themselves, and these and DECIMAL to a DECIMAL of no smaller scale.
func keepsText(from, to Type) bool {
	if to.Kind == Decimal && (from.Whole() || from.Kind == Decimal) {
		return from.Whole() || from.Scale <= to.Scale
	}
	return (from.Kind == String || from.Whole()) && (to.Kind == String || to.Whole())
}

// withhold leaves out of a failure the values that its expression computed from a secret.
func (e *EvalError) withhold(at *Expr) {
	for _, a := range at.Args {
		if !derived(a) {
			continue
		}
		e.Value = withheld
		e.Message = "the value " + withheld + " is computed from a secret, and cannot be used"
		return
	}
}
