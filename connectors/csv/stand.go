package csv

// A sit says where a place is with regard to quotes.
type sit uint8

const (
	outside sit = iota // at the start of a field or in an unquoted one: the byte before tells which
	quoted             // inside quotes
	closing            // right behind a closing quote, or between the two of a doubled one
	ending             // behind the CR that follows a closing quote: LF has to come
)

// A stand is a place in a file as far as what follows depends on what came before.
type stand struct {
	sit
	before byte // the byte before; LF at the start of a record
}

// next is the stand behind a byte; ok is false where the byte may not stand there.
func (s stand) next(c, delimiter byte) (_ stand, ok bool) {
	ok = true
	to := s.sit
	switch s.sit {
	case quoted:
		if c == quote {
			to = closing
		}
	case closing:
		switch c {
		case quote:
			to = quoted
		case delimiter, '\n':
			to = outside
		case '\r':
			to = ending
		default:
			to, ok = outside, false
		}
	case ending:
		to, ok = outside, c == '\n'
	default:
		if c == quote && (s.before == delimiter || s.before == '\n') {
			to = quoted
		}
	}
	return stand{to, c}, ok
}

// over is the stand behind some bytes that have no fault.
func (s stand) over(b []byte, delimiter byte) stand {
	for _, c := range b {
		s, _ = s.next(c, delimiter)
	}
	return s
}

// kind is the sit without what only matters to the bytes of one line end, so that two ways to find it
// out may be compared.
func (s sit) kind() sit {
	if s == ending {
		return outside
	}
	return s
}
