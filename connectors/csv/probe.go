package csv

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// Whether the place where a split begins is inside quotes depends on every quote before it. Readers
// find it out without reading all that and without talking to each other:
//
//   - probe derives the answer from the bytes around the place alone. It follows both answers at once.
//     Bytes that break the dialect under one prove the other; and both come to agree where a quote
//     closes a field under one and is data of an unquoted field under the other. Bytes that prove
//     nothing are read as records are: whole records of the right number of fields are outside quotes.
//   - who reads a split knows the exact answer at its end, and compares it with what probe says
//     there. The first split begins at the start of the file, so each comparison proves the next
//     split's start: a wrong answer is never silent.
//
// What proves something is looked for around anchors alone, places at equal distances: what stands at any
// other place follows from the anchor before it, and so do anchors around which nothing proves anything.
// What one split has found out serves the next ones, so that the work is in proportion to the file and not
// to how many splits begin inside a long field.
//
// A fault is found wherever the quotes are wrong, so a comparison fails in a file without faults only
// where a quoted field of more than 16 KiB without a quote holds text that looks like records of the
// same file, and an anchor stands in it. That is refused, see [ambiguous].
const (
	probeNear = 16 << 10
	probeFar  = 256 << 10
	probeStep = 256 << 10
)

// A reach is how far a prober looks around an anchor: ahead, and where that proves nothing back.
type reach struct {
	near, far int
	back      [3]int64
	step      int64 // from one anchor to the next
	most      int64 // how far back an anchor may be that tells what another one is: as far as a record may be long
}

func defaultReach() reach {
	return reach{near: probeNear, far: probeFar, back: [3]int64{4 << 10, 64 << 10, 1 << 20}, step: probeStep, most: text.MaxRecord}
}

// A prober answers what a place is.
type prober struct {
	w window
	reach
	file   int64   // that the rest is about
	anchor learned // the last one
	last   learned // place
}

// A learned place is one whose stand is known.
type learned struct {
	stand
	at   int64
	from int64 // the anchor that it follows from; below 0: there is none within reach
}

// ask is what the byte at an offset stands in. It is a function of the file's bytes, the delimiter and
// the number of fields alone, so every reader gets the same answer.
func (p *prober) ask(file, at int64, in *input) (sit, error) {
	begin := learned{stand: stand{before: '\n'}, at: in.Data, from: in.Data}
	if at <= in.Data {
		return outside, nil
	}
	if p.file != file {
		p.file, p.anchor, p.last = file, begin, begin
	}
	a := at - at%p.step
	if p.last.at > at || p.last.at < a {
		k, err := p.anchored(a, begin, in)
		if err != nil {
			return outside, err
		}
		p.last = k
	}
	s, err := p.w.track(p.last.stand, p.last.at, at)
	if err == nil {
		p.last.stand, p.last.at = s, at
	}
	return s.kind(), err
}

// anchored is the stand at an anchor. An anchor before the first record is that.
func (p *prober) anchored(at int64, begin learned, in *input) (learned, error) {
	if at <= in.Data {
		return begin, nil
	}
	k := learned{at: at, from: -1}
	for h := at; at-h < p.most; h -= p.step {
		if h <= in.Data {
			k = begin
			break
		}
		if h == p.anchor.at {
			k = p.anchor
			break
		}
		s, known, err := p.around(h, in)
		if err != nil {
			return k, err
		}
		if known {
			k = learned{stand: s, at: h, from: h}
			break
		}
	}
	var err error
	if k.from >= 0 {
		k.stand, err = p.w.track(k.stand, k.at, at)
	}
	if k.at = at; err != nil {
		return k, err
	}
	p.anchor = k
	if k.from >= 0 && at-k.from < p.most {
		return k, nil
	}
	// A quoted field that begins further back is longer than a record may be.
	before, err := p.w.byteBefore(at)
	k.stand = stand{outside, before}
	return k, err
}

// around is what the bytes around a place say that it is; known is false where they say nothing.
func (p *prober) around(at int64, in *input) (s stand, known bool, err error) {
	before, err := p.w.byteBefore(at)
	s.before = before
	if err != nil {
		return s, false, err
	}
	for _, far := range []int{p.near, p.far} {
		a, err := p.ahead(at, before, far, in)
		if s.sit = a.sit; err != nil || a.sure {
			return s, true, err
		}
		if a.records > 0 && a.fit && in.Fields > 1 {
			s.sit = outside
			return s, true, nil
		}
		if a.back {
			break
		}
	}
	for i, back := range p.back {
		a, err := p.behind(max(in.Data, at-back), at, in)
		if s.sit = a.sit; err != nil || a.sure {
			return s, true, err
		}
		if a.records > 0 && in.Fields > 1 || a.records > 0 && a.fit && i > 1 {
			return s, a.fit, nil // those further back fit as badly
		}
	}
	return s, false, nil
}

// byteBefore is the byte before a place.
func (w *window) byteBefore(at int64) (byte, error) {
	var b [1]byte
	err := text.ReadFull(w.File, w.Path, w.Size, b[:], at-1)
	return b[0], err
}

// track is the stand at a place, as followed from one before it.
func (w *window) track(at stand, pos, to int64) (stand, error) {
	for pos < to {
		if err := w.Fill(pos, int(min(defaultRead, to-pos))); err != nil {
			return at, err
		}
		buf, n := w.look(), w.N
		w.judge(buf, at, w.delimiter, true)
		from := 0
		if p := lastIn(w.nls, n); p >= 0 {
			from, at = p+1, stand{before: '\n'}
		}
		at = at.over(buf[from:n], w.delimiter)
		pos += int64(n)
	}
	return at, nil
}

// An attempt is what the bytes from some place on say about a place.
type attempt struct {
	sit     sit
	sure    bool
	records int  // whole ones, if the place it began at is outside quotes
	fit     bool // all of them have the right number of fields
	back    bool // only what stands before the place can tell
}

// ahead looks at the bytes from a place on.
func (p *prober) ahead(at int64, before byte, far int, in *input) (attempt, error) {
	w := &p.w
	if before == quote {
		return attempt{back: true}, nil // it may open, close or be data
	}
	w.N = 0
	if err := w.Fill(at, far); err != nil {
		return attempt{}, err
	}
	buf := w.look()
	inFault, open, strayIn := w.judge(buf, stand{quoted, before}, w.delimiter, false)
	if w.EOF() && open && inFault < 0 {
		inFault = len(buf) // the file would end inside quotes
	}
	outFault, open, stray := w.judge(buf, stand{outside, before}, w.delimiter, true)
	if w.EOF() && open && outFault < 0 {
		outFault = len(buf)
	}
	switch {
	case inFault >= 0 && outFault < 0:
		return attempt{sure: true}, nil
	case inFault < 0 && outFault >= 0:
		return attempt{sure: true, sit: quoted}, nil
	case inFault >= 0 && outFault >= 0:
		// There is a fault whichever holds: only the whole way from the start can tell.
		s, err := survey(&p.w, in, at)
		return attempt{sure: true, sit: s.kind()}, err
	case stray+strayIn > 0:
		return attempt{back: true}, nil
	}
	return w.wholeRecords(in.Fields), nil
}

// wholeRecords counts the whole records in masks without what is inside quotes.
func (w *window) wholeRecords(fields int) attempt {
	a := attempt{fit: true}
	start := firstIn(w.nls, 0) + 1
	for start > 0 {
		end := firstIn(w.nls, start)
		if end < 0 {
			break
		}
		blank := end == start || end == start+1 && w.Store[front+start] == '\r'
		if !blank || fields == 1 {
			a.records++
			a.fit = a.fit && countIn(w.seps, start, end+1) == fields
		}
		start = end + 1
	}
	return a
}

// A guess is one of the answers that behind follows.
type guess struct {
	stand
	there   sit // what it makes of the place in question
	dead    bool
	begun   bool // behind its first line end
	seps    int  // of the record it is in
	records int
	misfit  bool
}

// behind follows both answers from a place before the one in question up to it and on.
func (p *prober) behind(from, at int64, in *input) (attempt, error) {
	w := &p.w
	w.N = 0
	lead := min(from-in.Data, block)
	if err := w.Fill(from-lead, int(at-from+lead)+p.near); err != nil {
		return attempt{}, err
	}
	buf := w.Store[front : front+w.N]
	k := int(lead)
	// Behind a quote there are more than two answers.
	for k > 0 && buf[k-1] == quote {
		k--
	}
	var g [2]guess
	if w.Base+int64(k) == in.Data {
		g = [2]guess{{stand: stand{before: '\n'}, begun: true}, {dead: true}}
	} else if k == 0 {
		s, err := survey(w, in, at)
		return attempt{sure: true, sit: s.kind()}, err
	} else {
		g = [2]guess{{stand: stand{outside, buf[k-1]}, begun: buf[k-1] == '\n'}, {stand: stand{quoted, buf[k-1]}}}
	}
	there := int(at - w.Base)
	for ; k < len(buf); k++ {
		if k >= there {
			if k == there {
				g[0].there, g[1].there = g[0].kind(), g[1].kind()
			}
			if g[0].dead || g[1].dead || g[0].there == g[1].there {
				break
			}
		}
		g[0].step(buf[k], w.delimiter, in.Fields)
		g[1].step(buf[k], w.delimiter, in.Fields)
		if !g[0].dead && !g[1].dead && g[0].stand == g[1].stand {
			if k >= there && g[0].there != g[1].there {
				break // they agree too late: what closes a field under one is data under the other
			}
			g[1].dead = true
		}
		if g[0].dead && g[1].dead {
			break
		}
	}
	if k == len(buf) && w.EOF() {
		g[0].dead = g[0].dead || g[0].sit == quoted
		g[1].dead = g[1].dead || g[1].sit == quoted
	}
	switch {
	case g[0].dead && g[1].dead:
		s, err := survey(w, in, at)
		return attempt{sure: true, sit: s.kind()}, err
	case g[0].dead:
		return attempt{sure: true, sit: g[1].there}, nil
	case g[1].dead || g[0].there == g[1].there:
		return attempt{sure: true, sit: g[0].there}, nil
	}
	return attempt{sit: g[0].there, records: g[0].records, fit: !g[0].misfit}, nil
}

// step follows an answer over a byte.
func (g *guess) step(c, delimiter byte, fields int) {
	if g.dead {
		return
	}
	s, ok := g.next(c, delimiter)
	g.dead = !ok
	if s.sit == outside {
		switch c {
		case delimiter:
			g.seps++
		case '\n':
			if g.begun && (g.before != '\n' || fields == 1) {
				g.records++
				g.misfit = g.misfit || g.seps+1 != fields
			}
			g.begun, g.seps = true, 0
		}
	}
	g.stand = s
}

// A course is what following a file from its start showed.
type course struct {
	sit
	record int64 // where the record begins that the fault or the end is in
	fault  int64 // -1: none
}

// survey follows the quotes of a file from its first record to an offset, or to the first fault.
func survey(w *window, in *input, to int64) (course, error) {
	c := course{record: in.Data, fault: -1}
	at := stand{before: '\n'}
	for pos := in.Data; pos < to; {
		if err := w.Fill(pos, defaultRead); err != nil {
			return c, err
		}
		buf := w.look()
		n := int(min(int64(w.N), to-pos))
		fault, _, _ := w.judge(buf, at, w.delimiter, true)
		last := n
		if fault >= 0 && fault < n {
			last = fault
		}
		from := 0
		if p := lastIn(w.nls, last); p >= 0 {
			from = p + 1
			c.record = pos + int64(from)
			at = stand{before: '\n'}
		}
		if last < n {
			c.fault = pos + int64(fault)
			return c, nil
		}
		at = at.over(buf[from:n], w.delimiter)
		c.sit = at.sit
		pos += int64(n)
	}
	return c, nil
}

// ambiguous is the fault of a split whose end is not what probe says of it, in a file without faults.
func ambiguous(in *input, file, record, at int64) *fault {
	return &fault{
		kind: "CsvFormatError", file: file, record: record, spot: -1, place: -1,
		message: fmt.Sprintf("a quoted field is so long that a split of the file begins inside it, at byte %d, where its text looks like records; read the file in larger splits (option runner.source.split-size)", at),
	}
}
