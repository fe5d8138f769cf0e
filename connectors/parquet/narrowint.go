package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/schema"
)

// narrowInt reads whole numbers of 8 and 16 bits, which the file stores in 32. Some writers fill the upper bits
// with those of the other sign: 255 and -1 are one number of 8 bits, and the annotation says which. What has
// bits of its own there fits neither.
func narrowInt(l *schema.IntLogicalType) func(int32) (int32, *badValue) {
	all := int32(1) << l.BitWidth()
	least, most := -all/2, all/2-1
	if !l.IsSigned() {
		least, most = 0, all-1
	}
	return func(v int32) (int32, *badValue) {
		switch {
		case v >= least && v <= most:
			return v, nil
		case v > most && v < all:
			return v - all, nil
		case v < 0 && v >= -all/2:
			return v + all, nil
		}
		return 0, &badValue{
			kind: "Overflow", value: fmt.Sprint(v),
			why: fmt.Sprintf("%d is none of the numbers of %d bits from %d to %d that the file says it has", v, l.BitWidth(), least, most),
		}
	}
}
