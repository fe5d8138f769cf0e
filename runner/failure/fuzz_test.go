package failure

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are the texts in the scripts, each a start for the fuzzer.
func seeds(f *testing.F) []string {
	var out []string
	paths, err := filepath.Glob("testdata/parse/*")
	if err != nil || len(paths) == 0 {
		f.Fatal("no scripts", err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(raw), "\nparse") {
			_, text, _ := strings.Cut(part, "\n")
			text, _, ok := strings.Cut(text, "\n----\n")
			if ok {
				out = append(out, text)
			}
		}
	}
	return out
}

// FuzzParse holds for any text: it ends without a panic, and line ends and colours change nothing.
func FuzzParse(f *testing.F) {
	texts := seeds(f)
	for i, text := range texts {
		f.Add([]byte(text), uint16(len(text)/2), uint16(7))
		f.Add([]byte(text+"\n"+texts[(i+1)%len(texts)]), uint16(len(text)), uint16(30))
	}
	f.Fuzz(func(t *testing.T, raw []byte, at, length uint16) {
		if len(raw) > 1<<20 {
			return
		}
		// A piece is cut out, so that traces begin and end anywhere.
		from := min(int(at), len(raw))
		raw = append(append([]byte{}, raw[:from]...), raw[min(from+int(length), len(raw)):]...)
		plain, err := Parse(bytes.NewReader(raw))
		if err != nil {
			return
		}
		checkSane(t, plain)
		if bytes.ContainsAny(raw, "\r\x1b\x00") || !bytes.Contains(raw, []byte("\n")) || bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) {
			return
		}
		text := strings.TrimSuffix(string(raw), "\n")
		for _, d := range dressings()[:2] {
			dressed, err := Parse(strings.NewReader(d.apply(text)))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
				continue
			}
			if diff := differences(answer(dressed), answer(plain)); len(diff) > 0 {
				t.Errorf("%s: %s", d.name, strings.Join(diff, "\n"))
			}
		}
	})
}

// checkSane holds what every result must keep.
func checkSane(t *testing.T, r Result) {
	if r.Failure == nil {
		return
	}
	for _, f := range append([]Failure{*r.Failure}, r.Others...) {
		if r.Own {
			continue
		}
		if f.RootCause == nil || len(f.Chain) == 0 || f.Category == "" || f.Headline == "" && f.Chain[0].Class != "" || f.Form == "" || f.Rule == "" {
			t.Fatalf("incomplete: %+v", f)
		}
		if f.RootIndex >= len(f.Chain) || f.RootIndex >= 0 && f.Chain[f.RootIndex] != *f.RootCause {
			t.Fatalf("the root is not in the chain: %+v", f)
		}
		if f.RecoverySuppressed != (f.RestartStrategy != "") {
			t.Fatalf("strategy %q, suppressed %v", f.RestartStrategy, f.RecoverySuppressed)
		}
	}
}

// FuzzRendered makes up failures, prints them as Java does, dresses the print, and reads it back.
func FuzzRendered(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := &generator{rand.New(rand.NewPCG(seed, 1))}
		chain := g.chain()
		text := g.render(chain)
		for _, d := range dressings() {
			if d.name == "tabs are blanks" && strings.Contains(text, "Suppressed") && g.IntN(2) == 0 {
				continue
			}
			r, err := Parse(strings.NewReader(d.apply(text)))
			if err != nil {
				t.Fatal(err)
			}
			if r.Failure == nil {
				t.Fatalf("%s: nothing found in\n%s", d.name, text)
			}
			var got []string
			for _, c := range r.Failure.Chain {
				got = append(got, oneText(c)+" @ "+c.Frame)
			}
			var want []string
			for _, n := range chain {
				want = append(want, n.text()+" @ "+n.frame)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("%s:\n got %s\nwant %s\ntext\n%s", d.name, strings.Join(got, "\n     "), strings.Join(want, "\n     "), text)
			}
		}
	})
}

// A generator makes up failures.
type generator struct{ *rand.Rand }

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) node() *node {
	n := &node{
		class: g.one("java.lang.IllegalStateException", "java.io.IOException", "com.acme.FareException", "java.lang.OutOfMemoryError",
			"org.apache.flink.util.FlinkException", "a.b.C$DeepException", "org.apache.flink.runtime.JobException"),
		message: g.one("", "no fare", "zone 9: no fare", "", "first line\nsecond line", "blank\n\nline", "  - Caused by: a bullet", "Zone\n  - Caused by: bullet\n at [Source: x; line: 1]",
			"Recovery is suppressed by NoRestartBackoffTimeStrategy", "größer als 7 µm", "quoted 'at a.b' and (brackets)"),
		frame: g.one("", "a.b.C.d(C.java:1)", "java.base/java.lang.Thread.run(Thread.java:840)", "a.b.C.lambda$x$0(Unknown Source)"),
	}
	n.message = strings.TrimSpace(n.message)
	return n
}

func (g *generator) chain() []*node {
	var chain []*node
	for range 1 + g.IntN(5) {
		chain = append(chain, g.node())
	}
	// A trace without any frame is only a line of text in a log.
	chain[0].frame = "a.b.Top.run(Top.java:7)"
	return chain
}

func (g *generator) render(chain []*node) string {
	var b strings.Builder
	for i, n := range chain {
		caption := ""
		if i > 0 {
			caption = "Caused by: "
		}
		b.WriteString(caption + n.text() + "\n")
		g.frames(&b, n, "")
		if n.frame != "" && g.IntN(4) == 0 {
			s := g.node()
			b.WriteString("\tSuppressed: " + s.text() + "\n")
			g.frames(&b, s, "\t")
			if g.IntN(2) == 0 {
				s = g.node()
				b.WriteString("\tCaused by: " + s.text() + "\n")
				g.frames(&b, s, "\t")
			}
		}
	}
	return b.String()
}

func (g *generator) frames(b *strings.Builder, n *node, indent string) {
	if n.frame == "" {
		return
	}
	b.WriteString(indent + "\tat " + n.frame + g.one("", " ~[job.jar:1]", " [?:?]") + "\n")
	for i := range g.IntN(3) {
		fmt.Fprintf(b, "%s\tat x.y.Z.z(Z.java:%d)\n", indent, i)
	}
	if g.IntN(2) == 0 {
		fmt.Fprintf(b, "%s\t... %d more\n", indent, g.IntN(40))
	}
}
