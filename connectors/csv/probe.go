package csv

import (
	"fmt"
)

// Whether the place where a split begins is inside quotes depends on every quote before it. Readers
// find it out without reading all that and without talking to each other:
//
//   - probe derives the answer from the bytes around the place alone. In a file that keeps to the
//     dialect at most one of the two answers goes on without a fault, so bytes that break one prove
//     the other. Bytes that prove nothing are read as records are: whole records of the right
//     number of fields are outside quotes.
//   - who reads a split knows the exact answer at its end, and compares it with what probe says
//     there. The first split begins at the start of the file, so each comparison proves the next
//     split's start: a wrong answer is never silent.
//
// A fault is found wherever the quotes are wrong, so a comparison fails in a file without faults only
// where a quoted field of more than 16 KiB without a quote holds text that looks like records of the
// same file, and a split begins in it. That is refused, see [ambiguous].
const (
	probeNear = 16 << 10
	probeFar  = 256 << 10
)

// A reach is how far a prober looks around a place: ahead, and where that proves nothing back.
type reach struct {
	near, far int
	back      [3]int64 // the last one as far as a record may be long
}

func defaultReach() reach {
	return reach{near: probeNear, far: probeFar, back: [3]int64{64 << 10, 1 << 20, maxRecord}}
}

// A prober answers whether a place is inside quotes.
type prober struct {
	w window
	reach
	file   int64 // of the last answer
	at     int64
	inside bool
}

// ask is whether the byte at an offset is inside quotes. It is a function of the file's bytes, the
// delimiter and the number of fields alone, so every reader gets the same answer.
func (p *prober) ask(file, at int64, in *input) (inside bool, err error) {
	if p.file == file && p.at == at {
		return p.inside, nil
	}
	inside, err = p.answer(at, in)
	if err == nil {
		p.file, p.at, p.inside = file, at, inside
	}
	return inside, err
}

func (p *prober) answer(at int64, in *input) (bool, error) {
	if at <= in.Data {
		return false, nil
	}
	for _, ahead := range []int{p.near, p.far} {
		a, err := p.try(at, at, ahead, in)
		if err != nil || a.sure {
			return a.inside, err
		}
		if a.records > 0 && a.fit && in.Fields > 1 {
			return false, nil
		}
	}
	for i, back := range p.back {
		from := max(in.Data, at-back)
		a, err := p.try(from, at, p.near, in)
		if err != nil || a.sure {
			return a.inside, err
		}
		if a.records > 0 && a.fit && (in.Fields > 1 || i > 0) {
			return false, nil
		}
	}
	// A quoted field that begins further back is longer than a record may be.
	return false, nil
}

// An attempt is what the bytes from some place on say about whether `at` is inside quotes.
type attempt struct {
	sure, inside bool
	records      int  // whole ones, if the place it began at is outside quotes
	fit          bool // all of them have the right number of fields
}

// try looks at the bytes from a place at or before `at` to ahead bytes after it.
func (p *prober) try(from, at int64, ahead int, in *input) (attempt, error) {
	w := &p.w
	before := [1]byte{'\n'}
	if from > in.Data {
		if err := readFull(w.file, w.path, w.size, before[:], from-1); err != nil {
			return attempt{}, err
		}
	}
	w.n = 0
	if err := w.fill(from, int(at-from)+ahead); err != nil {
		return attempt{}, err
	}
	buf := w.look()
	odd := countIn(w.quotes, 0, int(at-from))%2 == 1
	if from == in.Data {
		return attempt{sure: true, inside: odd}, nil
	}
	inFault, open := w.judge(buf, stand{inside: true, before: before[0]}, w.delimiter, false)
	if w.eof() && open && inFault < 0 {
		inFault = len(buf) // the file would end inside quotes
	}
	outFault, open := w.judge(buf, stand{before: before[0]}, w.delimiter, true)
	if w.eof() && open && outFault < 0 {
		outFault = len(buf)
	}
	switch {
	case inFault >= 0 && outFault < 0:
		return attempt{sure: true, inside: odd}, nil
	case inFault < 0 && outFault >= 0:
		return attempt{sure: true, inside: !odd}, nil
	case inFault >= 0 && outFault >= 0:
		// There is a fault whichever holds: only the whole way from the start can tell.
		s, err := survey(&p.w, in, at)
		return attempt{sure: true, inside: s.inside}, err
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
		blank := end == start || end == start+1 && w.store[front+start] == '\r'
		if !blank || fields == 1 {
			a.records++
			a.fit = a.fit && countIn(w.seps, start, end+1) == fields
		}
		start = end + 1
	}
	return a
}

// A course is what following a file from its start showed.
type course struct {
	inside bool
	record int64 // where the record begins that the fault or the end is in
	fault  int64 // -1: none
}

// survey follows the quotes of a file from its first record to an offset, or to the first fault.
func survey(w *window, in *input, to int64) (course, error) {
	c := course{record: in.Data, fault: -1}
	at := stand{before: '\n'}
	for pos := in.Data; pos < to; {
		if err := w.fill(pos, defaultRead); err != nil {
			return c, err
		}
		buf := w.look()
		n := int(min(int64(w.n), to-pos))
		fault, _ := w.judge(buf, at, w.delimiter, true)
		last := n
		if fault >= 0 && fault < n {
			last = fault
		}
		if p := lastIn(w.nls, last); p >= 0 {
			c.record = pos + int64(p) + 1
		}
		if last < n {
			c.fault = pos + int64(fault)
			return c, nil
		}
		c.inside = at.inside != (countIn(w.quotes, 0, n)%2 == 1)
		at = stand{inside: c.inside, before: buf[n-1]}
		pos += int64(n)
	}
	return c, nil
}

// ambiguous is the fault of a split whose end is not what probe says of it, in a file without faults.
func ambiguous(in *input, file, record, at int64) *fault {
	return &fault{
		kind: "CsvFormatError", file: file, record: record, at: -1, place: -1,
		message: fmt.Sprintf("a quoted field is so long that a split of the file begins inside it, at byte %d, where its text looks like records; read the file in larger splits (option runner.source.split-size)", at),
	}
}
