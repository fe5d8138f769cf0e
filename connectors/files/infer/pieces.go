// Package infer finds the types of columns from samples of their values. It knows no format: a connector
// reads the pieces of its files that [Pieces] names, tells a [Column] what stands there, and gets a type
// that all of it fits. Nothing is made a number that would lose something by it.
package infer

// Budget is how many bytes of a source a sample may have.
const Budget = 8 << 20

const (
	mostHeads = 256       // files whose beginning is looked at
	leastHead = 4 << 10   // bytes of a beginning
	mostHead  = 1 << 20   //
	pieceSize = 256 << 10 // bytes of a piece elsewhere
)

// An Extent is an input file as [Pieces] sees it.
type Extent struct {
	Bytes   int64
	InOrder bool // it can only be read from its beginning on, as compressed files
}

// A Piece is a part of a file to look at: Bytes from At on. Of a file that is read in order, At is 0 and
// Bytes are of its text.
type Piece struct {
	File  int // place in the list of files
	At    int64
	Bytes int64
	Whole bool // it is all of the file; of one that is read in order this shows only in reading it
}

// Pieces spreads a sample over files: all of them where they have no more than budget bytes together, else
// the beginnings of the files and pieces at even distances up to the last byte. Equal files give equal
// pieces. They come in the order of the files, and within a file in the order of their places.
func Pieces(list []Extent, budget int64) []Piece {
	var total, inOrder int64
	for _, e := range list {
		total += e.Bytes
		if e.InOrder {
			inOrder++
		}
	}
	var out []Piece
	if total <= budget {
		for i, e := range list {
			p := Piece{File: i, Bytes: e.Bytes, Whole: !e.InOrder}
			if e.InOrder { // it may unpack to much more
				p.Bytes = max(budget/max(inOrder, 1), leastHead)
			}
			out = append(out, p)
		}
		return out
	}
	heads := min(len(list), mostHeads)
	head := min(max(budget/4/int64(heads), leastHead), mostHead)
	spread := spots(list, total, max(budget-head*int64(heads), 0))
	next := 0
	for i, e := range list {
		var p []Piece
		// The files whose beginning is looked at lie evenly; the first and the last are among them.
		if i == 0 || i*(heads-1)/max(len(list)-1, 1) != (i-1)*(heads-1)/max(len(list)-1, 1) {
			p = append(p, Piece{File: i, Bytes: head})
		}
		for next < len(spread) && spread[next].File == i {
			p = append(p, spread[next])
			next++
		}
		out = append(out, settle(e, p, budget/int64(heads))...)
	}
	return out
}

// spots are pieces at even distances over all files, as if they were one; the last ends where that does.
func spots(list []Extent, total, budget int64) []Piece {
	n := budget / pieceSize
	if n == 0 {
		return nil
	}
	var out []Piece
	file, before := 0, int64(0)
	for k := range n {
		end := total / n * (k + 1)
		if k == n-1 {
			end = total
		}
		for end > before+list[file].Bytes {
			before += list[file].Bytes
			file++
		}
		at := max(end-before-pieceSize, 0)
		out = append(out, Piece{File: file, At: at, Bytes: end - before - at})
	}
	return out
}

// settle cuts the pieces of a file to its size and puts those together that touch. A file that is read in
// order has one piece.
func settle(e Extent, list []Piece, inOrder int64) []Piece {
	if e.InOrder {
		if len(list) == 0 {
			return nil
		}
		return []Piece{{File: list[0].File, Bytes: max(inOrder, leastHead)}}
	}
	var out []Piece
	for _, p := range list {
		p.Bytes = min(p.Bytes, e.Bytes-p.At)
		if n := len(out); n > 0 && p.At <= out[n-1].At+out[n-1].Bytes {
			out[n-1].Bytes = max(out[n-1].Bytes, p.At+p.Bytes-out[n-1].At)
			continue
		}
		out = append(out, p)
	}
	if len(out) == 1 && out[0].At == 0 && out[0].Bytes == e.Bytes {
		out[0].Whole = true
	}
	return out
}
