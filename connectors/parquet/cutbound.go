package parquet

import "unicode/utf8"

// cutLeast is a lower bound of a value, short where that can be.
func cutLeast(v []byte, text bool) []byte {
	if len(v) <= maxBytesBound {
		return v
	}
	n := maxBytesBound
	for text && n > 0 && !utf8.RuneStart(v[n]) {
		n--
	}
	return v[:n]
}

// cutMost is a short upper bound of a long value: its beginning, with the last character, or byte, that
// has a next one raised. It is nil where the value is short, or has no such bound.
func cutMost(v []byte, text bool) []byte {
	if len(v) <= maxBytesBound {
		return nil
	}
	cut := append([]byte(nil), cutLeast(v, text)...)
	if !text {
		for n := len(cut); n > 0; n-- {
			if cut[n-1] < 0xff {
				cut[n-1]++
				return cut[:n]
			}
		}
		return nil
	}
	for len(cut) > 0 {
		r, size := utf8.DecodeLastRune(cut)
		cut = cut[:len(cut)-size]
		switch {
		case r == utf8.RuneError && size == 1:
			return nil // no UTF-8: the value itself is the bound
		case r == utf8.MaxRune:
			continue
		case r == 0xd7ff: // surrogates are no characters
			return utf8.AppendRune(cut, 0xe000)
		}
		return utf8.AppendRune(cut, r+1)
	}
	return nil
}
