// Package spec makes everything of one declaration: an options struct with the tags yaml, validate,
// doc and default is decoder, checker, JSON Schema and reference table at once.
//
// It knows no file format. Who reads one hands in the light syntax tree of this package, in which
// every value keeps its text as written and its place.
//
// The tags of a field:
//
//	yaml:"name"        the key; "-" or no tag leaves the field out
//	default:"text"     the value where the key is left out, read like a written one
//	validate:"rules"   rules of go-playground/validator
//	unit:"bytes"       an int64 written as a size ("4 mb"); also "ms" (int64, "500 ms") and
//	                   "share" (float64 0..1, "0.1 %")
//	doc:"sentence"     for people
package spec

// Kind is the form of a node.
type Kind uint8

// The forms.
const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// A Pos is a place in a file: line and column from 1, the column in characters.
type Pos struct{ Line, Column int }

// A Node is a value as it was written.
type Node struct {
	Kind   Kind
	Pos    Pos
	Text   string  // of a scalar: letter for letter, without its quotes
	Quoted bool    // quotes or a block: text in any case, never a number or nothing
	Null   bool    // nothing was written, or ~ or null; Text says which
	Flow   bool    // [ ] or { }
	Bad    bool    // something in it is reported already, so that it is not what was meant
	Keys   []Entry // of a mapping, in order
	Items  []*Node // of a sequence
	// At maps a byte offset in Text to the place in the file; nil: everything is at Pos.
	At func(offset int) Pos
}

// An Entry is one key of a mapping with its value.
type Entry struct {
	Key   string
	Pos   Pos // of the key
	Value *Node
}

// Get is the first entry of a key, nil where there is none.
func (n *Node) Get(key string) *Entry {
	if n == nil {
		return nil
	}
	for i := range n.Keys {
		if n.Keys[i].Key == key {
			return &n.Keys[i]
		}
	}
	return nil
}

// Nothing reports whether no value was written at all.
func (n *Node) Nothing() bool { return n == nil || n.Null && n.Text == "" }

// Describe names what was written, for messages: "a list", "a mapping", "nothing", "\"x\"".
func (n *Node) Describe() string {
	switch {
	case n.Nothing():
		return "nothing"
	case n.Kind == Mapping && len(n.Keys) == 0:
		return "an empty mapping"
	case n.Kind == Mapping:
		return "a mapping"
	case n.Kind == Sequence && len(n.Items) == 0:
		return "an empty list"
	case n.Kind == Sequence:
		return "a list"
	}
	return quote(n.Text)
}

// A Problem is something wrong with what was written.
type Problem struct {
	Rule     string // stable id, see the Rule constants
	Pos      Pos
	Path     string // "sources.orders.csv.delimiter"
	Message  string
	Expected string // what would be right
	Near     string // the nearest right name
	Hint     string
}

// The rules that decoding knows.
const (
	RuleUnknownKey   = "unknown-key"
	RuleDuplicateKey = "duplicate-key"
	RuleMissingKey   = "missing-key"
	RuleWrongType    = "wrong-type"
	RuleInvalidValue = "invalid-value"
)
