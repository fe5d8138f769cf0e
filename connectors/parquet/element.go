package parquet

import "math"

// Logical types by their numbers in the format.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
)

// Physical types by their numbers in the format.
const (
	physicalInt32 = 1
	physicalInt64 = 2
	physicalBytes = 6
	physicalFixed = 7
)

// A schemaElement is an element of a footer's schema, as far as it matters whether its annotation can be right.
type schemaElement struct {
	raw       []byte
	name      string
	typed     bool // it has a physical type, as columns do and groups do not
	physical  int
	length    int // of a fixed-length type
	children  int
	logical   int // number of its logical type; 0 where it has none
	precision int // of a DECIMAL
	bits      int // of an INTEGER
	unit      int // of a TIME or TIMESTAMP: 1 ms, 2 us, 3 ns

	converted     int // number of its older annotation; -1 where it has none
	oldPrecision  int // beside that
	oldScale      int
	kept          bool // in the footer that is made of it
	dropLogical   bool // without its logical type
	dropConverted bool // without its older annotation
}

func (t *thrift) schemaElement() (e schemaElement) {
	before := t.rest
	e.converted = -1
	t.structure(1, func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftInt32:
			e.physical, e.typed = int(t.int32()), true
		case id == 2 && kind == thriftInt32:
			e.length = int(t.int32())
		case id == 4 && kind == thriftBinary:
			e.name = string(t.binary())
		case id == 5 && kind == thriftInt32:
			e.children = max(int(t.int32()), 0)
		case id == 6 && kind == thriftInt32:
			e.converted = int(t.int32())
		case id == 7 && kind == thriftInt32:
			e.oldScale = int(t.int32())
		case id == 8 && kind == thriftInt32:
			e.oldPrecision = int(t.int32())
		case id == 10 && kind == thriftStruct:
			t.structure(2, func(id int, kind byte) bool {
				e.logical = id
				return kind == thriftStruct && t.logicalType(&e)
			})
		default:
			return false
		}
		return true
	})
	e.raw = before[:len(before)-len(t.rest)]
	return e
}

// logicalType reads what a logical type says beside its name.
func (t *thrift) logicalType(e *schemaElement) bool {
	t.structure(3, func(id int, kind byte) bool {
		switch {
		case e.logical == logicalDecimal && id == 2 && kind == thriftInt32:
			e.precision = int(t.int32())
		case e.logical == logicalInteger && id == 1 && kind == thriftByte:
			e.bits = int(t.byte())
		case (e.logical == logicalTime || e.logical == logicalTimestamp) && id == 2 && kind == thriftStruct:
			t.structure(4, func(id int, _ byte) bool { e.unit = id; return false })
		default:
			return false
		}
		return true
	})
	return true
}

// fits reports whether the annotation of a column is one for its physical type.
func (e *schemaElement) fits() bool {
	switch e.logical {
	case logicalMap, logicalList:
		return false
	case logicalString, logicalEnum, logicalJSON, logicalBSON:
		return e.physical == physicalBytes
	case logicalDate:
		return e.physical == physicalInt32
	case logicalTime:
		return e.physical == physicalInt32 && e.unit == 1 || e.physical == physicalInt64 && (e.unit == 2 || e.unit == 3)
	case logicalTimestamp:
		return e.physical == physicalInt64 && e.unit >= 1 && e.unit <= 3
	case logicalInteger:
		return e.physical == physicalInt32 && e.bits <= 32 || e.physical == physicalInt64 && e.bits == 64
	case logicalUUID:
		return e.physical == physicalFixed && e.length == 16
	case logicalFloat16:
		return e.physical == physicalFixed && e.length == 2
	case logicalDecimal:
		return e.fitsDecimal()
	}
	return true // it says that all values are NULL, or is refused before
}

// fitsDecimal reports whether a physical type has room for all digits of the precision.
func (e *schemaElement) fitsDecimal() bool {
	switch e.physical {
	case physicalInt32:
		return e.precision >= 1 && e.precision <= 9
	case physicalInt64:
		return e.precision >= 1 && e.precision <= 18
	case physicalFixed:
		return e.length > 0 && float64(e.precision) <= math.Floor(math.Log10(2)*float64(8*e.length-1))
	}
	return e.physical == physicalBytes
}

// Older annotations by their numbers in the format; those between belong to the type of the next one.
const (
	convertedUTF8            = 0
	convertedMap             = 1
	convertedList            = 3
	convertedEnum            = 4
	convertedDecimal         = 5
	convertedTimeMillis      = 7
	convertedTimestampMicros = 10
	convertedUint32          = 13
	convertedUint64          = 14
	convertedInt32           = 17
	convertedInt64           = 18
	convertedBSON            = 20
	convertedInterval        = 21
)

// fitsConverted reports whether the older annotation of a column is one for its physical type.
func (e *schemaElement) fitsConverted() bool {
	switch c := e.converted; {
	case c == convertedUTF8, c == convertedEnum, c > convertedInt64 && c <= convertedBSON:
		return e.physical == physicalBytes
	case c >= convertedMap && c <= convertedList:
		return false
	case c == convertedDecimal:
		numbers := e.physical == physicalInt32 || e.physical == physicalInt64 || e.physical == physicalFixed || e.physical == physicalBytes
		return numbers && e.oldPrecision > 0 && e.oldScale >= 0 && e.oldScale <= e.oldPrecision
	case c > convertedTimeMillis && c <= convertedTimestampMicros, c == convertedUint64, c == convertedInt64:
		return e.physical == physicalInt64
	case c > convertedDecimal && c <= convertedInt32:
		return e.physical == physicalInt32
	case c == convertedInterval:
		return e.physical == physicalFixed && e.length == 12
	}
	return e.converted < 0 // else a number that the format does not have
}
