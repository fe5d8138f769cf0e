package failure

import (
	"bytes"
	"time"
)

// Dress is what programs put in front of every line they pass on: compose names, timestamps of a
// container runtime, a test runner's "E   ", a whole logger header. A trace is undressed by what its
// first line wore, so that a message line which only looks like dress stays as it is.

type garment uint8

const (
	noGarment    garment = iota
	composeName          // "jobmanager-1  | "
	stampPrefix          // "2026-04-22T12:00:00.100000Z ", with the runtime's " stdout F" where it has one
	bracketStamp         // "[2026-04-22 12:00:00] "
	podName              // "[pod/flink-0/main] "
	syslogPrefix         // "Nov 29 12:00:00 host flink[12]: "
	testRunner           // "E   "
	quoted               // "> "
	loggerHeader         // a whole "2026-04-22 12:00:00,000 ERROR x.Y [] - "
)

// maxGarments bounds how many layers one line may wear.
const maxGarments = 4

// undressAll takes off every layer a line wears except a logger's header and says which these were.
func undressAll(line []byte) (worn [maxGarments]garment, n int, stampMs int64, bare []byte) {
	bare = line
	for n < maxGarments {
		kind, size, ms := outerGarment(bare)
		if kind == noGarment {
			break
		}
		if ms != 0 {
			stampMs = ms
		}
		worn[n] = kind
		n++
		bare = bare[size:]
	}
	return worn, n, stampMs, bare
}

// undress takes off the layers given, in their order, as far as the line wears them.
func undress(line []byte, worn []garment) []byte {
	for _, want := range worn {
		if want == loggerHeader {
			if h, ok := parseHeader(line); ok {
				line = line[h.messageAt:]
			}
			continue
		}
		kind, size, _ := outerGarment(line)
		if kind == want {
			line = line[size:]
		} else if want == testRunner && bytes.Equal(line, []byte("E")) {
			line = nil
		}
	}
	return line
}

// outerGarment recognises the outermost layer of a line and how long it is. A timestamp that opens a
// logger's header is no layer, it belongs to the header.
func outerGarment(line []byte) (kind garment, size int, stampMs int64) {
	if len(line) < 2 {
		return noGarment, 0, 0
	}
	c := line[0]
	switch {
	case c == ' ' || c == '\t':
		return indentedGarment(line)
	case c >= '0' && c <= '9':
		if size, ms := stampAt(line); size > 0 && isLayer(line, line[size:]) {
			return stampPrefix, size + runtimeMark(line[size:]), ms
		}
	case c == '[':
		return bracketGarment(line)
	case c == 'E' && bytes.HasPrefix(line, []byte("E   ")):
		return testRunner, 4, 0
	case c == '>':
		if line[1] == ' ' {
			return quoted, 2, 0
		}
		return noGarment, 0, 0
	}
	if size := composeSize(line); size > 0 {
		return composeName, size, 0
	}
	if size := syslogSize(line); size > 0 {
		return syslogPrefix, size, 0
	}
	return noGarment, 0, 0
}

// indentedGarment recognises a layer that was shifted to the right with the whole text.
func indentedGarment(line []byte) (garment, int, int64) {
	n := indentOf(line)
	kind, size, ms := outerGarment(line[n:])
	if kind == noGarment {
		return noGarment, 0, 0
	}
	return kind, n + size, ms
}

// isLayer reports whether a timestamp in front of rest was put there by another program, and is not the
// one of a logger's header: a header that follows has its own.
func isLayer(line, rest []byte) bool {
	if size, _ := stampAt(rest); size > 0 {
		return true
	}
	return !opensHeader(line) || isBanner(rest) || isLoose(rest)
}

// isLoose reports whether a text begins with a level and a colon.
func isLoose(text []byte) bool {
	h, _, ok := parseLevel(text)
	return ok && h.loose
}

func opensHeader(line []byte) bool {
	_, _, ok := parseLevel(line)
	return ok
}

// bracketGarment recognises "[pod/…] " and "[2026-04-22 12:00:00] ".
func bracketGarment(line []byte) (garment, int, int64) {
	end := bytes.IndexByte(line[:min(len(line), 160)], ']')
	if end < 0 || end+1 >= len(line) || line[end+1] != ' ' {
		return noGarment, 0, 0
	}
	inner := line[1:end]
	if bytes.HasPrefix(inner, []byte("pod/")) {
		return podName, end + 2, 0
	}
	if size, ms := stampAt(append(append([]byte{}, inner...), ' ')); size == len(inner)+1 && isLayer(line, line[end+2:]) {
		return bracketStamp, end + 2, ms
	}
	return noGarment, 0, 0
}

// runtimeMark returns the length of "stdout F ", which container runtimes put behind their timestamp.
func runtimeMark(rest []byte) int {
	for _, mark := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if bytes.HasPrefix(rest, []byte(mark)) {
			return len(mark)
		}
	}
	return 0
}

// composeSize returns the length of "name  | ", or 0.
func composeSize(line []byte) int {
	n := 0
	for n < len(line) && n < 80 && (isClassByte(line[n]) && line[n] < 0x80 && line[n] != '/') {
		n++
	}
	if n == 0 {
		return 0
	}
	bar := n
	for bar < len(line) && bar < 100 && line[bar] == ' ' {
		bar++
	}
	if bar == n || bar >= len(line) || line[bar] != '|' {
		return 0
	}
	if bar+1 < len(line) && line[bar+1] == ' ' {
		return bar + 2
	}
	return bar + 1
}

// syslogSize returns the length of "Nov 29 12:00:00 host program[12]: ", or 0.
func syslogSize(line []byte) int {
	if len(line) < 20 || !isMonth(line) || line[3] != ' ' || line[6] != ' ' || line[9] != ':' || line[12] != ':' || line[15] != ' ' {
		return 0
	}
	end := bytes.Index(line[:min(len(line), 200)], []byte(": "))
	if end < 0 || bytes.Count(line[16:end], []byte(" ")) != 1 {
		return 0
	}
	return end + 2
}

func isMonth(line []byte) bool {
	if len(line) < 3 {
		return false
	}
	return bytes.Contains([]byte("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"), line[:3])
}

// stampAt recognises a timestamp with its date at the start of a line, as far as the blank behind it,
// and its milliseconds since 1970, taken as UTC where no zone is given.
func stampAt(line []byte) (size int, ms int64) {
	year, n := digits(line, 0, 4)
	if n != 4 || len(line) < 19 || line[4] != '-' && line[4] != '/' || line[7] != line[4] {
		return 0, 0
	}
	month, n1 := digits(line, 5, 2)
	day, n2 := digits(line, 8, 2)
	if n1 != 2 || n2 != 2 || line[10] != ' ' && line[10] != 'T' {
		return 0, 0
	}
	clockMs, end := clockAt(line, 11)
	if end == 0 {
		return 0, 0
	}
	ms = time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC).UnixMilli() + clockMs
	zoneMs, end := zoneAt(line, end)
	if end >= len(line) {
		return end, ms - zoneMs
	}
	if line[end] != ' ' && line[end] != '\t' {
		return 0, 0
	}
	return end + 1, ms - zoneMs
}

// clockAt reads "12:00:00,123" at an offset and returns its milliseconds and where it ends, 0 if none.
func clockAt(line []byte, at int) (ms int64, end int) {
	if at+8 > len(line) || line[at+2] != ':' || line[at+5] != ':' {
		return 0, 0
	}
	h, n1 := digits(line, at, 2)
	m, n2 := digits(line, at+3, 2)
	s, n3 := digits(line, at+6, 2)
	if n1 != 2 || n2 != 2 || n3 != 2 {
		return 0, 0
	}
	end = at + 8
	ms = (h*3600 + m*60 + s) * 1000
	if end < len(line) && (line[end] == ',' || line[end] == '.') {
		scale := int64(100)
		for end++; end < len(line) && line[end] >= '0' && line[end] <= '9'; end++ {
			ms += int64(line[end]-'0') * scale
			scale /= 10
		}
	}
	return ms, end
}

// zoneAt reads "Z" or "+02:00" at an offset.
func zoneAt(line []byte, at int) (offsetMs int64, end int) {
	if at >= len(line) {
		return 0, at
	}
	switch line[at] {
	case 'Z':
		return 0, at + 1
	case '+', '-':
		h, n := digits(line, at+1, 2)
		if n != 2 {
			return 0, at
		}
		end = at + 3
		if end < len(line) && line[end] == ':' {
			end++
		}
		m, n := digits(line, end, 2)
		if n == 2 {
			end += 2
		}
		offsetMs = (h*60 + m) * 60_000
		if line[at] == '-' {
			offsetMs = -offsetMs
		}
		return offsetMs, end
	}
	return 0, at
}

// digits reads up to max digits at an offset.
func digits(line []byte, at, most int) (value int64, n int) {
	for n < most && at+n < len(line) && line[at+n] >= '0' && line[at+n] <= '9' {
		value = value*10 + int64(line[at+n]-'0')
		n++
	}
	return value, n
}
