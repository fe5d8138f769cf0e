package table

// A span is where a slot's byte string lies in its column's arena.
type span struct {
	from   uint64
	length uint32
	room   uint32
}

const spanSize = 16

// bytesColumn is a byte-string value column: spans into one arena. A value that grows moves to the
// end of the arena; when more than half of the arena is left behind it is packed. Spans reach only
// to the last slot that was ever set, since most columns hold values for few slots or for none.
type bytesColumn struct {
	acc    *account
	spans  []span
	arena  []byte
	waste  int
	unpaid int64 // grown by since the last settle; negative never
}

// Get is the value of a slot, valid until the next Set.
func (b *bytesColumn) Get(slot uint32) []byte {
	if int(slot) >= len(b.spans) {
		return nil
	}
	s := b.spans[slot]
	return b.arena[s.from : s.from+uint64(s.length)]
}

// Set copies v. It cannot fail, so memory the slot does not have is only asked for by the table's
// next Upsert, which then fails with ErrMemory and has its owner spill.
func (b *bytesColumn) Set(slot uint32, v []byte) {
	if int(slot) >= len(b.spans) {
		if len(v) == 0 {
			return
		}
		before := cap(b.spans)
		b.spans = append(b.spans, make([]span, int(slot)+1-len(b.spans))...)
		b.unpaid += int64(cap(b.spans)-before) * spanSize
	}
	s := &b.spans[slot]
	if len(v) > int(s.room) {
		b.waste += int(s.room)
		if b.waste > len(b.arena)/2 && b.waste > 4096 {
			s.length, s.room = 0, 0
			b.pack()
		}
		s.from = uint64(len(b.arena))
		s.room = uint32(len(v))
		before := cap(b.arena)
		b.arena = append(b.arena, v...)
		b.unpaid += int64(cap(b.arena) - before)
	} else {
		copy(b.arena[s.from:], v)
	}
	s.length = uint32(len(v))
}

// Empty reports that no slot has a value.
func (b *bytesColumn) Empty() bool { return len(b.arena) == 0 }

// move gives a slot the value of a later one.
func (b *bytesColumn) move(to, from uint32) {
	switch {
	case int(from) < len(b.spans):
		b.spans[to] = b.spans[from]
	case int(to) < len(b.spans):
		b.spans[to] = span{}
	}
}

func (b *bytesColumn) pack() {
	fresh := make([]byte, 0, cap(b.arena))
	for i := range b.spans {
		s := &b.spans[i]
		at := len(fresh)
		fresh = append(fresh, b.arena[s.from:s.from+uint64(s.length)]...)
		s.from, s.room = uint64(at), s.length
	}
	b.arena, b.waste = fresh, 0
}

// settle reserves the growth since the last call.
func (b *bytesColumn) settle() error {
	if b.unpaid == 0 {
		return nil
	}
	if err := b.acc.grow(b.unpaid); err != nil {
		return err
	}
	b.unpaid = 0
	return nil
}

// cut forgets the slots n and above; with none left the arena starts over. Unpaid growth of an empty
// column is given up, so that the owner's retry after a spill does not fail on it again.
func (b *bytesColumn) cut(n int) {
	if n < len(b.spans) {
		clear(b.spans[n:])
		b.spans = b.spans[:n]
	}
	if n > 0 {
		return
	}
	if b.unpaid > 0 {
		b.acc.shrink(int64(cap(b.arena)) + int64(cap(b.spans))*spanSize - b.unpaid)
		b.arena, b.spans, b.unpaid = nil, nil, 0
	}
	b.arena, b.waste = b.arena[:0], 0
}
