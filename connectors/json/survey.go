package json

import (
	"bytes"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
)

// A Survey finds out what records hold.
type Survey struct {
	Root     Member
	Rows     int64 // records that are objects
	Faults   int64 // texts that are no JSON, or no object
	Fault    string
	FaultAt  int64 // line of the first one; 0 where that is not known
	Doubled  string
	DoubleAt int64 // line of the first key that stands twice in an object, and which one

	deep  int
	k     chunk
	spare []byte
}

// mostMembers is how many members of an object are told apart.
const mostMembers = 2000

// A Member is a value at a path, over all records.
type Member struct {
	Name    string
	Path    string
	Values  infer.Column // what its scalars look like, and every object and array as a text
	Seen    int64        // how often it is there
	Nulls   int64
	Objects int64
	Arrays  int64
	Numbers int64 // written as numbers
	Strings int64
	// Quoted is how many strings look like numbers, and Big how many numbers a DOUBLE would not hold exactly.
	Quoted, Big int64
	BigAt       int64 // line of the first of those
	Kids        []*Member
	last        int64 // the record that had it last
	// Others is a member of whose names no account is kept: there are more than mostMembers.
	Others *Member
}

// NewSurvey makes a survey that looks at members so many objects deep.
func NewSurvey(deep int) *Survey {
	v := &Survey{deep: deep}
	v.k.wants(nil, nil, nil, true)
	return v
}

// Record looks at one record, which is a line or an element without line feeds. line is 0 where nobody knows
// it. rules says how the values of a member of the record itself are written; nil: as JSON has them.
func (v *Survey) Record(raw []byte, file string, line int64, rules func(name string) infer.Rules) {
	if len(bytes.Trim(raw, " \t\r")) == 0 {
		return
	}
	k := &v.k
	n := k.copies(raw)
	k.begin(&k.alt, n, 0)
	i := k.blanks(0)
	_, f := k.one(i, n, false)
	if f != nil {
		if v.Faults++; v.Faults == 1 {
			v.Fault, v.FaultAt = f.message, line
			if f.wanted != "" {
				v.Fault += ": expected " + f.wanted
			}
		}
		return
	}
	v.Rows++
	v.object(&v.Root, i, 1, file, line, rules)
}

// object looks at the members of an object whose syntax is right, and gives the place behind it.
func (v *Survey) object(m *Member, i, depth int, file string, line int64, rules func(name string) infer.Rules) int {
	k := &v.k
	for first, next := true, 0; ; first = false {
		var key []byte
		if i, key = k.key(i, first); key == nil {
			return i
		}
		kid := m.member(key, &next)
		if kid.Seen == 0 && rules != nil && depth == 1 {
			kid.Values.Rules = rules(kid.Name)
		}
		if kid.last == v.Rows && v.Doubled == "" && kid != m.Others {
			v.Doubled, v.DoubleAt = kid.Path, line
		}
		kid.last = v.Rows
		kid.Values.File = file
		i = v.value(kid, i, depth, file, line)
	}
}

// member is the member of a name; next is the place of the one that is expected.
func (m *Member) member(key []byte, next *int) *Member {
	if *next < len(m.Kids) && m.Kids[*next].Name == string(key) {
		*next++
		return m.Kids[*next-1]
	}
	at := slices.IndexFunc(m.Kids, func(k *Member) bool { return k.Name == string(key) })
	if at < 0 && len(m.Kids) == mostMembers {
		if m.Others == nil {
			m.Others = &Member{Path: m.Path}
		}
		return m.Others
	}
	if at < 0 {
		at = len(m.Kids)
		step := writePath([]step{{name: string(key), index: -1}})
		if m.Path != "" {
			step = m.Path + "." + step
		}
		m.Kids = append(m.Kids, &Member{Name: string(key), Path: step})
	}
	*next = at + 1
	return m.Kids[at]
}

// value looks at a value and gives the place behind it.
func (v *Survey) value(m *Member, i, depth int, file string, line int64) int {
	k := &v.k
	m.Seen++
	start := i
	switch c := k.byte(i); c {
	case 'n':
		m.Nulls++
		return i + 4
	case '{':
		m.Objects++
		if depth < v.deep {
			i = v.object(m, i, depth+1, file, line, nil)
		} else {
			i = k.skip(i, 0)
		}
		m.Values.Text(k.bytes(start, i), line)
		return i
	case '[':
		m.Arrays++
		i = k.skip(i, 0)
		m.Values.Text(k.bytes(start, i), line)
		return i
	case '"':
		end, escaped := k.text(i + 1)
		m.Strings++
		b := k.bytes(i+1, end)
		if escaped {
			v.spare, _ = appendUnescaped(v.spare[:0], b)
			b = v.spare
		}
		m.text(b, line)
		return end + 1
	default:
		i = k.scalar(i, c)
		if c != 't' && c != 'f' {
			m.Numbers++
			if inexact(k.bytes(start, i)) {
				if m.Big++; m.Big == 1 {
					m.BigAt = line
				}
			}
		}
		m.Values.Add(k.bytes(start, i), line)
		return i
	}
}

// text looks at a string: it may be a date or a time, and stays a text whatever else it looks like.
func (m *Member) text(b []byte, line int64) {
	if len(b) > 0 && (b[0]-'0' <= 9 || b[0] == '-') && len(bytes.Trim(b, "0123456789.eE+-")) == 0 {
		m.Quoted++
	}
	dated := len(b) >= 10 && b[4] == '-' && b[7] == '-'
	if dated || m.Values.Rules.Match != nil && m.Values.Rules.Match(b) {
		m.Values.Add(b, line)
		return
	}
	m.Values.Text(b, line)
}

// inexact reports whether a whole number has more digits than every DOUBLE holds.
func inexact(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	return len(b) >= 16 && bytes.Trim(b, "0123456789") == nil && (len(b) > 16 || string(b) > "9007199254740992")
}
