package config

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// An amount is the size of a component while a budget is worked out.
type amount struct {
	name   string
	bytes  int64
	option string
	origin MemoryOrigin
	how    string
}

// A memoryModel works a budget out. The first fault stays in err, and what comes after it counts for nothing.
type memoryModel struct {
	set    map[string]string
	prefix string // "taskmanager.memory."
	notes  []string
	err    *MemoryError
}

func (m *memoryModel) fail(format string, args ...any) {
	if m.err == nil {
		m.err = &MemoryError{Text: fmt.Sprintf(format, args...)}
	}
}

func (m *memoryModel) note(format string, args ...any) {
	if m.err == nil {
		m.notes = append(m.notes, fmt.Sprintf(format, args...))
	}
}

func (m *memoryModel) has(option string) bool {
	_, set := m.set[m.prefix+option]
	return set
}

// size reads an option of the process, its default where it is not set.
func (m *memoryModel) size(option, name string) amount {
	option = m.prefix + option
	a := amount{name: name, option: option, origin: MemorySet}
	text, set := m.set[option]
	a.how = "set to " + text
	if !set {
		a.origin, a.how = MemoryDefault, "default of "+option
		if o := Options().Lookup(option); o != nil {
			text = o.Default
		}
	}
	n, err := spec.ParseBytes(text)
	if err != nil {
		m.fail("Cannot read memory size from config option '%s'.", option)
	}
	a.bytes = n
	return a
}

// memoryBounds are a fraction of a base, and how little and how much it may come to.
type memoryBounds struct {
	option   string // of the fraction
	fraction float64
	min, max amount
}

// bounds reads the three options of a part that is a fraction of another.
func (m *memoryModel) bounds(part string) memoryBounds {
	b := memoryBounds{min: m.size(part+".min", part+".min")}
	if o := Options().Lookup(m.prefix + part + ".max"); m.has(part+".max") || o != nil && o.Default != "" {
		b.max = m.size(part+".max", part+".max")
	} else {
		b.max.bytes = math.MaxInt64
	}
	return m.withFraction(b, part)
}

// freeBounds are those of a part that has a fraction only.
func (m *memoryModel) freeBounds(part string) memoryBounds {
	return m.withFraction(memoryBounds{max: amount{bytes: math.MaxInt64}}, part)
}

func (m *memoryModel) withFraction(b memoryBounds, part string) memoryBounds {
	b.option = m.prefix + part + ".fraction"
	standard := ""
	if o := Options().Lookup(b.option); o != nil {
		standard = o.Default
	}
	text, set := m.set[b.option]
	if !set {
		text = standard
	}
	// Flink keeps fractions in 32 bits, and what it computes with is that number widened.
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 32)
	if err != nil {
		m.fail("Could not parse value '%s' for key '%s'.", text, b.option)
	}
	b.fraction = float64(float32(f))
	if !(b.fraction >= 0 && b.fraction < 1) || b.min.bytes > b.max.bytes {
		m.fail("Inconsistently configured Key: '%s' , default: %s (fallback keys: [%s]) (%s) and its min (%s), max (%s) value",
			b.option, standard, fallbackKeys(b.option), javaDouble(b.fraction), memoryText(b.min.bytes), memoryText(b.max.bytes))
	}
	return b
}

// fallbackKeys are older names of an option, as the message shows them.
func fallbackKeys(option string) string {
	if option == "taskmanager.memory.network.fraction" {
		return "{key=taskmanager.network.memory.fraction, isDeprecated=true}"
	}
	return ""
}

// fraction is a share of a base within bounds.
func (m *memoryModel) fraction(name, words string, base amount, b memoryBounds) amount {
	how := fmt.Sprintf("%s of %s", shortFraction(b.fraction), base.name)
	return m.within(name, words, how, m.times(base.bytes, b.fraction), b)
}

// inverseFraction is a share of the whole, of which the base is the rest.
func (m *memoryModel) inverseFraction(name, words string, base amount, b memoryBounds) amount {
	f := shortFraction(b.fraction)
	how := fmt.Sprintf("%s of the whole: %s / (1 - %s) of %s", f, f, f, base.name)
	return m.within(name, words, how, m.times(base.bytes, b.fraction/(1-b.fraction)), b)
}

func (m *memoryModel) within(name, words, how string, bytes int64, b memoryBounds) amount {
	a := amount{name: name, option: b.option, bytes: bytes, origin: MemoryDerived, how: how}
	switch {
	case bytes > b.max.bytes:
		m.note("The derived from fraction %s (%s) is greater than its max value %s, max value will be used instead", words, memoryText(bytes), memoryText(b.max.bytes))
		a.bytes, a.option, a.how = b.max.bytes, b.max.option, fmt.Sprintf("%s would be %s, more than %s", how, Readable(bytes), b.max.option)
	case bytes < b.min.bytes:
		m.note("The derived from fraction %s (%s) is less than its min value %s, min value will be used instead", words, memoryText(bytes), memoryText(b.min.bytes))
		a.bytes, a.option, a.how = b.min.bytes, b.min.option, fmt.Sprintf("%s would be %s, less than %s", how, Readable(bytes), b.min.option)
	}
	return a
}

// times multiplies exactly with the decimal form of a factor and cuts the fraction of a byte off.
func (m *memoryModel) times(bytes int64, factor float64) int64 {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(factor, 'g', -1, 64))
	if !ok { // NaN or infinite: its bounds have failed already
		return 0
	}
	r.Mul(r, new(big.Rat).SetInt64(bytes))
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() {
		m.fail("long overflow")
		return 0
	}
	return q.Int64()
}

func (m *memoryModel) sum(name string, parts ...amount) amount {
	out := amount{name: name, origin: MemoryDerived, how: "sum of its parts"}
	for _, p := range parts {
		if out.bytes > math.MaxInt64-p.bytes {
			m.fail("long overflow")
			return amount{name: name}
		}
		out.bytes += p.bytes
	}
	return out
}

// rest is what parts leave of a whole; whoever calls it has made sure that they fit.
func (m *memoryModel) rest(name string, whole amount, parts ...amount) amount {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return amount{name: name, bytes: whole.bytes - m.sum("", parts...).bytes, origin: MemoryDerived,
		how: fmt.Sprintf("%s less %s", whole.name, spec.And(names))}
}

// processMemory is what both kinds of process have.
type processMemory struct{ total, flink, metaspace, overhead amount }

// process works the whole out from whichever of three ways is set: all of the fine parts, Total Flink
// Memory, or Total Process Memory.
func (m *memoryModel) process(fineOptions []string, fine func() amount, divide func(flink amount)) processMemory {
	isFine := true
	for _, o := range fineOptions {
		_, set := m.set[o]
		isFine = isFine && set
	}
	switch {
	case isFine:
		flink := fine()
		if m.has("flink.size") {
			flink = m.size("flink.size", TotalFlink)
		}
		return m.around(flink)
	case m.has("flink.size"):
		flink := m.size("flink.size", TotalFlink)
		divide(flink)
		return m.around(flink)
	case m.has("process.size"):
		p := m.inside()
		divide(p.flink)
		return p
	}
	m.fail("Either required fine-grained memory (%s), or Total Flink Memory size (Key: '%sflink.size' , default: null (fallback keys: [])), "+
		"or Total Process Memory size (Key: '%sprocess.size' , default: null (fallback keys: [])) need to be configured explicitly.",
		strings.Join(fineOptions, " and "), m.prefix, m.prefix)
	return processMemory{}
}

// inside takes what every process needs off Total Process Memory.
func (m *memoryModel) inside() processMemory {
	p := processMemory{total: m.size("process.size", TotalProcess)}
	p.metaspace = m.size("jvm-metaspace.size", JVMMetaspace)
	p.overhead = m.fraction(JVMOverhead, "jvm overhead memory", p.total, m.bounds("jvm-overhead"))
	if m.sum("", p.metaspace, p.overhead).bytes > p.total.bytes {
		m.fail("Sum of configured JVM Metaspace (%s) and JVM Overhead (%s) exceed configured Total Process Memory (%s).",
			memoryText(p.metaspace.bytes), memoryText(p.overhead.bytes), memoryText(p.total.bytes))
	}
	p.flink = m.rest(TotalFlink, p.total, p.metaspace, p.overhead)
	return p
}

// around adds what every process needs to Total Flink Memory, or fills a total that is set too.
func (m *memoryModel) around(flink amount) processMemory {
	p := processMemory{flink: flink, metaspace: m.size("jvm-metaspace.size", JVMMetaspace)}
	inner := m.sum("Total Flink Memory and JVM Metaspace", flink, p.metaspace)
	if !m.has("process.size") {
		p.overhead = m.inverseFraction(JVMOverhead, "jvm overhead memory", inner, m.bounds("jvm-overhead"))
		p.total = m.sum(TotalProcess, flink, p.metaspace, p.overhead)
		return p
	}
	p.total = m.size("process.size", TotalProcess)
	if inner.bytes > p.total.bytes {
		m.fail("The configured Total Process Memory size (%s) is less than the sum of the derived Total Flink Memory size (%s) "+
			"and the configured or default JVM Metaspace size  (%s).", memoryText(p.total.bytes), memoryText(flink.bytes), memoryText(p.metaspace.bytes))
	}
	p.overhead = m.rest(JVMOverhead, p.total, flink, p.metaspace)
	if b := m.bounds("jvm-overhead"); p.overhead.bytes < b.min.bytes || p.overhead.bytes > b.max.bytes {
		m.fail("Derived JVM Overhead size (%s) is not in configured JVM Overhead range [%s, %s].",
			memoryText(p.overhead.bytes), memoryText(b.min.bytes), memoryText(b.max.bytes))
	}
	return p
}

// memoryText writes a size as Flink's messages do: in the largest unit that it exceeds.
func memoryText(n int64) string {
	for _, u := range []struct {
		name  string
		shift uint
	}{{"tb", 40}, {"gb", 30}, {"mb", 20}, {"kb", 10}} {
		if n > 1<<u.shift {
			return fmt.Sprintf("%.3f%s (%d bytes)", float64(n)/float64(int64(1)<<u.shift), u.name, n)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// javaDouble writes a number as Java does.
func javaDouble(x float64) string {
	switch abs := math.Abs(x); {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+") + "inity"
	case x != 0 && (abs < 1e-3 || abs >= 1e7):
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'E', -1, 64), "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return mantissa + "E" + exponent
		}
		return fmt.Sprintf("%sE%d", mantissa, n)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func shortFraction(f float64) string { return strconv.FormatFloat(f, 'g', -1, 32) }

// Readable writes a size for people, in units of 1024: "1.43 GB".
func Readable(n int64) string {
	const k = 1024
	v := float64(n)
	for _, unit := range []string{"bytes", "kB", "MB", "GB", "TB"} {
		if v < k || unit == "TB" {
			if unit == "bytes" {
				return fmt.Sprintf("%d bytes", n)
			}
			return fmt.Sprintf("%.2f %s", v, unit)
		}
		v /= k
	}
	return fmt.Sprint(n)
}
