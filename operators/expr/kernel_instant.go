package expr

import "fmt"

// bindToInstant is TO_TIMESTAMP_LTZ of a number or of a text.
func bindToInstant(nd *node) error {
	if nd.e.Args[0].Type.Kind == BigInt {
		step := int64(1000)
		if nd.e.Args[1].Value.Int == 0 {
			step = microsPerSecond
		}
		nd.run = optional(func(nd *node, i int) (int64, bool) {
			v, over := mulLong(nd.in[0].num(i), step)
			return v, over >= 0
		})
		return nil
	}
	name := nd.e.Zone
	if len(nd.e.Args) == 3 {
		if nd.e.Args[2].Value.Null {
			name = ""
		} else {
			name = nd.e.Args[2].Value.Text
		}
	}
	z, err := LoadZone(name)
	if err != nil {
		return err
	}
	if len(nd.e.Args) == 1 {
		nd.run = optional(func(nd *node, i int) (int64, bool) { return lenientInstant(nd.in[0].str(i), z) })
		return nil
	}
	read, err := localReader(nd.e)
	if err != nil {
		return err
	}
	nd.run = optional(func(nd *node, i int) (int64, bool) {
		local, ok := read(nd.in[0].str(i))
		if !ok {
			return 0, false
		}
		v, what := z.instant(local - modulo(local, 1000))
		return v, what != localBeyond
	})
	return nil
}

// lenientInstant reads as CAST does, and moves a time on that clocks skip.
func lenientInstant(s []byte, z *Zone) (int64, bool) {
	v, status := ParseTimestampLTZ(s, 3, z)
	if status != Skipped {
		return v, status == OK
	}
	local, status := ParseTimestamp(s, 3)
	if status != OK {
		return 0, false
	}
	v, _ = z.instant(local)
	return v, true
}

// localReader reads local times by a call's pattern, in microseconds.
func localReader(e *Expr) (func(s []byte) (int64, bool), error) {
	parts, _ := timePattern(secondsPattern)
	if len(e.Args) > 1 {
		var err error
		if parts, err = patternOf(e); err != nil {
			return nil, err
		}
	}
	return func(s []byte) (int64, bool) {
		days, micros, ok := readTime(parts, s)
		if !ok {
			return 0, false
		}
		return microsAt(days, micros)
	}, nil
}

const secondsPattern = "yyyy-MM-dd HH:mm:ss"

// bindUnixTimestamp is UNIX_TIMESTAMP(s [, pattern]).
func bindUnixTimestamp(nd *node) error {
	z, err := LoadZone(nd.e.Zone)
	if err != nil {
		return err
	}
	read, err := localReader(nd.e)
	if err != nil {
		return err
	}
	nd.run = optional(func(nd *node, i int) (int64, bool) {
		local, ok := read(nd.in[0].str(i))
		if !ok {
			return 0, false
		}
		v, what := z.instant(local)
		return floorDiv(v, microsPerSecond), what != localBeyond
	})
	return nil
}

// bindFromUnixtime is FROM_UNIXTIME(n [, pattern]).
func bindFromUnixtime(nd *node) error {
	z, err := LoadZone(nd.e.Zone)
	if err != nil {
		return err
	}
	parts, _ := timePattern(secondsPattern)
	if len(nd.e.Args) == 2 {
		if parts, err = patternOf(nd.e); err != nil {
			return err
		}
	}
	k := &calendar{}
	return optionalText(func(nd *node, dst []byte, i int) ([]byte, textOutcome) {
		v, over := mulLong(nd.in[0].num(i), microsPerSecond)
		if over < 0 {
			return dst, noText
		}
		days, micros := z.clock(v)
		k.at(days)
		for _, f := range parts {
			dst = k.appendPart(dst, f, micros)
		}
		return dst, someText
	})(nd)
}

// bindConvertTZ is CONVERT_TZ(s, from, to).
func bindConvertTZ(nd *node) error {
	var zones [2]*Zone
	for i, a := range nd.e.Args[1:] {
		if a.Op != OpLiteral || a.Value == nil {
			return fmt.Errorf("the zones of %s are literals", nd.e.Name)
		}
		name := a.Value.Text
		z, err := LoadZone(name)
		if err != nil {
			return err
		}
		zones[i] = z
	}
	parts, _ := timePattern(secondsPattern)
	return optionalText(func(nd *node, dst []byte, i int) ([]byte, textOutcome) {
		days, micros, ok := readTime(parts, nd.in[0].str(i))
		if !ok {
			return dst, noText
		}
		local, ok := microsAt(days, micros)
		if !ok {
			return dst, noText
		}
		v, what := zones[0].instant(local)
		if what == localBeyond {
			return dst, noText
		}
		return appendLocal(dst, v, 0, zones[1]), someText
	})(nd)
}
