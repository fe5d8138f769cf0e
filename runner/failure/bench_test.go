package failure

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// A longLog is a log of a given size with one failure at its end; it is made while it is read.
type longLog struct {
	block    []byte
	at       int
	left     int64
	tail     *strings.Reader
	peakHeap uint64
	reads    int
}

func newLongLog(bytesTotal int64, json bool) *longLog {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		if json {
			fmt.Fprintf(&b, `{"@timestamp":"2026-04-14T10:%02d:%02d.517Z","log.level":"INFO","message":"Completed checkpoint %d for job 51c0 (%d bytes)","process.thread.name":"Checkpoint Timer"}`+"\n", i/60%60, i%60, i, i*37)
			continue
		}
		level := "INFO "
		if i%50 == 0 {
			level = "WARN "
		}
		fmt.Fprintf(&b, "2026-04-14 10:%02d:%02d,517 %s org.apache.flink.runtime.checkpoint.CheckpointCoordinator    [] - Completed checkpoint %d for job 51c0 (%d bytes, checkpointDuration=%d ms).\n", i/60%60, i%60, level, i, i*37, i%90)
	}
	tail := "2026-04-14 23:00:00,517 WARN  org.apache.flink.runtime.taskmanager.Task [] - Sink: out[3] (2/2)#0 (4e21_31_1_0) switched from RUNNING to FAILED with failure cause:\n" +
		"java.lang.IllegalStateException: writer closed\n\tat a.b.Writer.write(Writer.java:1)\nCaused by: java.io.IOException: Broken pipe\n\tat a.b.Pipe.write(Pipe.java:2)\n"
	return &longLog{block: b.Bytes(), left: bytesTotal, tail: strings.NewReader(tail)}
}

func (l *longLog) Read(p []byte) (int, error) {
	if l.reads++; l.reads%200 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		l.peakHeap = max(l.peakHeap, m.HeapInuse)
	}
	if l.left <= 0 && l.at == 0 {
		return l.tail.Read(p)
	}
	n := copy(p, l.block[l.at:])
	l.at = (l.at + n) % len(l.block)
	l.left -= int64(n)
	return n, nil
}

func BenchmarkLongLog(b *testing.B) {
	for _, json := range []bool{false, true} {
		b.Run(fmt.Sprintf("json=%v", json), func(b *testing.B) {
			const size = 200 << 20
			b.SetBytes(size)
			before := usedCPU()
			defer func() {
				// The processor's time tells the speed where other programs share the machine.
				seconds := (usedCPU() - before).Seconds()
				b.ReportMetric(float64(b.N)*size/1e6/seconds, "MB/cpu-s")
			}()
			for b.Loop() {
				log := newLongLog(size, json)
				r, err := Parse(log)
				if err != nil || r.Failure == nil {
					b.Fatal(err, r)
				}
				b.ReportMetric(float64(log.peakHeap)/(1<<20), "peakHeapMB")
			}
		})
	}
}

// BenchmarkTraces reads a log that is nothing but failures.
func BenchmarkTraces(b *testing.B) {
	const size = 64 << 20
	b.SetBytes(size)
	for b.Loop() {
		_, err := Parse(repeated("2026-04-14 10:00:00,517 ERROR a.b.C [] - no\njava.io.IOException: x\n\tat a.B.c(D.java:1) ~[x.jar:1]\n\tat a.B.c(D.java:1) ~[x.jar:1]\n\tat a.B.c(D.java:1) ~[x.jar:1]\nCaused by: a.BException: y\n\t... 3 more\n", size))
		if err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemoryIsBounded holds that memory does not grow with the input, whatever the lines are.
func TestMemoryIsBounded(t *testing.T) {
	const size = 16 << 20
	inputs := map[string]io.Reader{
		"log":       newLongLog(size, false),
		"json log":  newLongLog(size, true),
		"one line":  repeated("abc Exception ", size),
		"message":   io.MultiReader(strings.NewReader("java.lang.Exception: x\n"), repeated("more text\n", size)),
		"traces":    repeated("java.io.IOException: x\n\tat a.B.c(D.java:1)\nCaused by: a.BException: y\n", size),
		"causes":    io.MultiReader(strings.NewReader("java.io.IOException: x\n"), repeated("Caused by: a.BException: y\n", size)),
		"open json": io.MultiReader(strings.NewReader("{\"a\": [\n"), repeated("\"Exception\",\n", size)),
		"circular":  io.MultiReader(strings.NewReader("java.io.IOException: x\nCaused by: [CIRCULAR REFERENCE: a"), repeated("\nb", size)),
		"python":    io.MultiReader(strings.NewReader("Traceback (most recent call last):\nValueError: x\n"), repeated("y\n", size)),
		"events":    repeated("  Warning  Failed  4m  kubelet  Failed to pull image\n", size),
		"error":     io.MultiReader(strings.NewReader("  error: '{\"type\": \"a"), repeated("more text\n", size)),
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			peak := &peakReader{r: in}
			if _, err := Parse(peak); err != nil {
				t.Fatal(err)
			}
			if peak.heap > 48<<20 {
				t.Errorf("the heap grew to %d MB", peak.heap>>20)
			}
		})
	}
}

// A peakReader samples the heap while it is read from.
type peakReader struct {
	r     io.Reader
	reads int
	heap  uint64
}

func (p *peakReader) Read(b []byte) (int, error) {
	if p.reads++; p.reads%20 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.heap = max(p.heap, m.HeapInuse)
	}
	return p.r.Read(b)
}

// repeated gives a text again and again up to a size.
func repeated(text string, size int64) io.Reader {
	return io.LimitReader(&loop{text: []byte(strings.Repeat(text, 1+(1<<16)/len(text)))}, size)
}

type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}
