package failure

// Programs that show several logs at once put a name in front of each line, and lines of one log stand
// between those of another: a trace goes on where its log does. So each name has a lane, a scanner of
// its own; what they find is put together at the end.

// maxLanes bounds the names; lines of further ones are read as if they had none.
const maxLanes = 64

// lane returns the scanner for the name in front of a line; nil where there is none. Inside of a trace
// that has no name in front, a line that seems to have one is part of its message.
func (s *scanner) lane(line []byte) *scanner {
	if s.within != nil || s.depth > 0 || s.trace != nil || s.doc.open || len(line) == 0 {
		return nil
	}
	if c := line[0]; c >= '0' && c <= '9' || c == '{' || c == '\t' {
		return nil // most lines of a log; names do not begin so
	}
	kind, size, _ := outerGarment(line)
	if kind != composeName && kind != podName {
		return nil
	}
	name := string(line[:size])
	l := s.lanes[name]
	if l == nil && len(s.lanes) < maxLanes {
		if s.lanes == nil {
			s.lanes = map[string]*scanner{}
		}
		l = &scanner{within: s}
		s.lanes[name] = l
		s.laneNames = append(s.laneNames, name)
	}
	return l
}

func (s *scanner) root() *scanner {
	if s.within != nil {
		return s.within
	}
	return s
}

// nextOrder numbers what is found in the order of the whole text.
func (s *scanner) nextOrder() int {
	r := s.root()
	r.order++
	return r.order
}

// endLanes puts together what the lanes found.
func (s *scanner) endLanes() {
	for _, name := range s.laneNames {
		l := s.lanes[name]
		l.end()
		s.findings = append(s.findings, l.findings...)
		if s.own == nil {
			s.own, s.ownForm = l.own, l.ownForm
		}
		if s.suppressed == "" {
			s.suppressed = l.suppressed
		}
		for task, id := range l.ranOn {
			if s.ranOn == nil {
				s.ranOn = map[string]string{}
			}
			s.ranOn[task] = id
		}
		s.noneSeen = s.noneSeen || l.noneSeen
		s.sawLog = s.sawLog || l.sawLog
		s.sawSQL = s.sawSQL || l.sawSQL
		s.sawJSON = s.sawJSON || l.sawJSON
		s.k8s.seen = s.k8s.seen || l.k8s.seen
	}
}
