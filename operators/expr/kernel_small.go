package expr

// runFloats computes in 64 bits and rounds to 32, which is the same as computing in 32: 64 bits have
// more than twice the digits and two more.
func runFloats(c *ctx, nd *node, sel []int32) (*vec, error) {
	v, err := runDoubles(c, nd, sel)
	if err == nil && !v.one() {
		for i, x := range v.f64[:c.n] {
			v.f64[i] = float64(float32(x))
		}
	}
	return v, err
}

// smallOp is + - * / % of TINYINT and SMALLINT.
func smallOp(nd *node, i int) error {
	x, y := nd.in[0].num(i), nd.in[1].num(i)
	v := int64(0)
	switch op := nd.e.Name; {
	case op == "/" || op == "%":
		if y == 0 {
			return nd.dividesByZero(i)
		}
		if v = x / y; op == "%" {
			v = x % y
		}
	default:
		v = wholeOp(op, x, y)
	}
	if least, most := nd.e.Type.wholeRange(); v < least || v > most {
		return nd.overflows(i)
	}
	nd.out.i32[i] = int32(v)
	return nil
}
