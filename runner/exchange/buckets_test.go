package exchange

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// What all producers have put into buckets is read bucket by bucket; where one has not, result by result.
func TestBuckets(t *testing.T) {
	cases := []struct {
		name  string
		plain bool  // a record without a bucket
		limit int64 // bytes in memory
		want  string
	}{
		{"memory", false, 1 << 20, "0 100 | 130 | 20 | 10 110 | end end"},
		{"disk", false, 0, "0 100 | 130 | 20 | 10 110 | end end"},
		{"mixed", true, 1 << 20, "0 10 20 end 100 130 110 90 end"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			l := NewLocal(alloc, t.TempDir(), c.limit)
			ids := []ResultID{{"j", "e", 0, 0}, {"j", "e", 1, 0}}
			for p, id := range ids {
				w, err := l.Create(id, 3, true)
				if err != nil {
					t.Fatal(err)
				}
				b, ok := w.(BucketWriter)
				if !ok {
					t.Fatalf("%T has no buckets", w)
				}
				write := func(sub, bucket, first int) {
					t.Helper()
					if err := b.WriteBucket(sub, bucket, record(alloc, p*100+first, 3)); err != nil {
						t.Fatal(err)
					}
				}
				write(1, 2, 10)
				write(0, 7, 0)
				write(2, 1, 99)
				if p == 0 {
					write(1, 1, 20)
				} else {
					write(0, 64, 30)
				}
				if c.plain && p == 1 {
					write(1, 0, -10)
				}
				if _, _, err := b.Finish(); err != nil {
					t.Fatal(err)
				}
			}
			g, err := l.Open(t.Context(), ids, 0, 2)
			if err != nil {
				t.Fatal(err)
			}
			if got := inOrder(t, g); got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
			if err := errors.Join(g.Close(), l.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// inOrder is what a gate gives: the first number of each record, and its events.
func inOrder(t *testing.T, g Gate) string {
	t.Helper()
	var all []string
	for {
		_, rec, e, err := g.Next(t.Context())
		switch {
		case err == io.EOF:
			return strings.Join(all, " ")
		case err != nil:
			t.Fatal(err)
		case e.Kind == EndEvent:
			all = append(all, "end")
		case e.Kind == BucketEvent:
			all = append(all, "|")
		default:
			all = append(all, fmt.Sprint(rec.Column(0).(*array.Int64).Value(0)))
			rec.Release()
		}
	}
}
