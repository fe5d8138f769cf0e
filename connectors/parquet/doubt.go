package parquet

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A doubt is why statistics are not used: a stable word, and a sentence for people. The zero doubt is none.
type doubt struct{ reason, text string }

// none holds where the statistics are used, or none are there.
func (d doubt) none() bool { return d.reason == "" }

var (
	noStatistics   = doubt{connectors.ReasonMissing, "there are none"}
	onlyOlder      = doubt{"older-form", "they are of the older form alone, and writers compared values for it in different orders"}
	oneBound       = doubt{"one-bound", "one of the two bounds is missing"}
	leastIsMore    = doubt{"least-above-most", "its least is above its most"}
	boundIsNaN     = doubt{"nan", "a bound is NaN, which is in no order with other numbers"}
	nullsAndMore   = doubt{"nulls-and-bounds", "all values are said to be NULL, and there are bounds of them"}
	nullsAboveRows = doubt{"nulls-above-rows", "more values are said to be NULL than there are; the bounds are used"}
	nullsOfNone    = doubt{"nulls-of-none", "values are said to be NULL, and the column can have none"}
	typeUnused     = doubt{"type", "bounds of its type are not used"}
	boundMisfit    = doubt{"misfit", "a bound is no value of the type"}
	boundNotText   = doubt{"not-text", "a bound is no UTF-8 text, as one is that was cut within a character"}
	indexIsWrong   = doubt{"page-index", "the page index contradicts itself"}
	mayBeBad       = doubt{"bad-rows", "on_error: skip looks at each value that may be bad, and bounds do not tell those"}
	notDecodable   = doubt{"footer", "the footer's statistics cannot be decoded"}
	unknownOrders  = doubt{"order-unknown", "the footer does not say by which order values were compared"}
)

// doubtOf is why a pair of bounds is not used; both are there.
func (d *decoder) doubtOf(least, most []byte) doubt {
	a, b := d.bound(least), d.bound(most)
	if a == nil || b == nil {
		if !d.hasBounds() {
			return typeUnused
		}
		return boundMisfit
	}
	for _, v := range []any{a, b} {
		switch v := v.(type) {
		case float64:
			if math.IsNaN(v) {
				return boundIsNaN
			}
		case string:
			if !utf8.ValidString(v) {
				return boundNotText
			}
		}
	}
	if !inOrder(a, b) {
		return leastIsMore
	}
	return doubt{}
}

// ignore notes statistics that are not used of the file that is open.
func (r *reader) ignore(column, of string, d doubt) {
	if d.none() || r.docFile == 0 {
		return
	}
	r.pruning().Ignore(connectors.IgnoredStatistics{Column: column, Of: of, Reason: d.reason, Text: d.text, Count: 1})
}

// pruning are the books on statistics of the file that is open.
func (r *reader) pruning() *connectors.Pruning {
	t := r.tally(r.docFile)
	if t.Pruning == nil {
		t.Pruning = &connectors.Pruning{}
	}
	return t.Pruning
}

// whyNot is why the statistics of the file that is open do not help the filter, whatever they are.
func (r *reader) whyNot() (column string, d doubt) {
	for _, c := range r.cols[:r.first] {
		if c.nested == nil && !c.leaf.typ.Same(c.Type) {
			return c.Name, doubt{"declared-type", fmt.Sprintf("it is %s in the file and declared %s, so each of its values is looked at", c.leaf.typ.Nullable(true), c.Type.Nullable(true))}
		}
		if c.Type.NotNull && !c.leaf.typ.NotNull {
			return c.Name, doubt{"declared-not-null", "it may be NULL in the file and is declared NOT NULL, so each of its values is looked at"}
		}
	}
	return "", doubt{}
}

// writer is who wrote the file, to show.
func (d *document) writer() string {
	if w := d.meta.GetCreatedBy(); w != "" {
		return " (written by " + w + ")"
	}
	return ""
}

// ordersDoubt is why no statistics of the file are used: the footer does not say by which order they were made.
func (d *document) ordersDoubt(decodable bool) doubt {
	x := unknownOrders
	if !decodable {
		x = notDecodable
	}
	x.text += d.writer()
	return x
}

// hasBounds holds for columns of a type whose bounds are used.
func (d *decoder) hasBounds() bool {
	switch d.typ.Kind {
	case expr.Decimal:
		return d.typ.Precision <= expr.MaxDecimal64 && d.boundWidth() > 0
	case expr.String:
		return d.boundWidth() < 0
	}
	return d.boundWidth() > 0
}

// boundWidth is how many bytes a bound of the column has, -1 for any number, 0 where bounds are not used.
func (d *decoder) boundWidth() int {
	switch d.node.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Float:
		return 4
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.ByteArray:
		if d.typ.Kind == expr.String {
			return -1
		}
	}
	return 0
}
