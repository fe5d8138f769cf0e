package failure

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	sourcePlace = regexp.MustCompile(`line: (\d+), column: (\d+)`)
	badField    = regexp.MustCompile(`(?i)\b(?:column|field)s? ['"]([A-Za-z_]\w*)['"]|at field: (\w+)`)
	badInput    = regexp.MustCompile(`For input string: ["']([^"']*)["']|from String "([^"]*)"|Invalid date '([^']*)'|Text '([^']*)' could not be parsed`)
	jsonField   = regexp.MustCompile(`through reference chain: .*\["([^"]+)"\]`)
	filePath    = regexp.MustCompile(`(?:file:|hdfs:|s3[an]?:|gs:|oss:|abfss?:|wasbs?:)/[^\s'",;)\]]+|^(/[^\s'",;:)\]]+)`)
)

// locate fills the place and the datum that the messages of a chain tell, from the root outwards.
func locate(c *Cause, chain []*node) {
	for i := len(chain) - 1; i >= 0; i-- {
		message := chain[i].message[:min(len(chain[i].message), maxJudgedBytes)]
		if m := sourcePlace.FindStringSubmatch(message); m != nil && c.Line == 0 {
			c.Line, _ = strconv.ParseInt(m[1], 10, 64)
			c.Column, _ = strconv.ParseInt(m[2], 10, 64)
		}
		if m := jsonField.FindStringSubmatch(message); m != nil && c.Field == "" {
			c.Field = m[1]
		} else if m := badField.FindStringSubmatch(message); m != nil && c.Field == "" {
			c.Field = m[1] + m[2]
		}
		if m := badInput.FindStringSubmatch(message); m != nil && c.Value == "" {
			c.Value = m[1] + m[2] + m[3] + m[4]
		}
	}
	if m := filePath.FindString(c.Message); m != "" && c.File == "" {
		c.File = strings.TrimRight(m, ".")
	}
}
