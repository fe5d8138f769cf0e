package connectors

import (
	"fmt"
	"strings"
)

// An Inference is how a source whose columns the plan leaves out came by them: from a sample of its
// input. It stands in explain, on the console and in the report.
type Inference struct {
	Columns []InferredColumn `json:"columns"`
	Files   int              `json:"files"`   // whose values were looked at
	Of      int              `json:"of"`      // files of the source
	Rows    int64            `json:"rows"`    // looked at
	Bytes   int64            `json:"bytes"`   // looked at; of compressed files those of the text
	OfBytes int64            `json:"ofBytes"` // of the files
	Whole   bool             `json:"whole"`   // every row was looked at, so that none can be a surprise
	// Unpacked: some of the files are compressed, so that Bytes is more than was read of OfBytes.
	Unpacked bool `json:"unpacked,omitempty"`
}

// An InferredColumn is a column with the type that fits all values that were looked at.
type InferredColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Note string `json:"note,omitempty"` // why this type, where that is not plain, and what the plan could say
}

// Sample says what was looked at: "all 27 rows of 1 file", "a sample of 9000 rows of 2 of 3 files".
func (i *Inference) Sample() string {
	switch {
	case i.Whole && i.Rows == 1:
		return "the only row of " + counted(int64(i.Of), "file")
	case i.Whole:
		return fmt.Sprintf("all %s of %s", counted(i.Rows, "row"), counted(int64(i.Of), "file"))
	}
	of := counted(int64(i.Of), "file")
	if i.Files < i.Of {
		of = fmt.Sprintf("%d of %d files", i.Files, i.Of)
	}
	bytes := fmt.Sprintf("%d bytes of %d", i.Bytes, i.OfBytes)
	if i.Unpacked {
		bytes = fmt.Sprintf("%d bytes of text, of %d bytes compressed", i.Bytes, i.OfBytes)
	}
	return fmt.Sprintf("a sample of %s of %s (%s)", counted(i.Rows, "row"), of, bytes)
}

// String lists the columns with their types and says what they were taken from.
func (i *Inference) String() string {
	cols := make([]string, len(i.Columns))
	for k, c := range i.Columns {
		cols[k] = c.Name + " " + c.Type
	}
	return fmt.Sprintf("columns inferred from %s: %s", i.Sample(), strings.Join(cols, ", "))
}

// Notes say of columns why they have their type, where that is not plain.
func (i *Inference) Notes() []string {
	var out []string
	for _, c := range i.Columns {
		if c.Note != "" {
			out = append(out, fmt.Sprintf("%s %s: %s", c.Name, c.Type, c.Note))
		}
	}
	return out
}

func counted(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
