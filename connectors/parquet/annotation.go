package parquet

import "fmt"

// contradiction says which annotation is none for which storage.
func (e *schemaElement) contradiction() string {
	name := ""
	switch {
	case e.logical == logicalDecimal:
		name = fmt.Sprintf("DECIMAL of %d digits", e.precision)
	case e.logical == logicalInteger:
		name = fmt.Sprintf("INTEGER of %d bits", e.bits)
	case e.logical == 0 && e.converted == convertedDecimal:
		name = fmt.Sprintf("DECIMAL(%d, %d)", e.oldPrecision, e.oldScale)
	case e.logical != 0:
		name = nameOf(e.logical, "", "STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "", "INTEGER", "UNKNOWN", "JSON", "BSON", "UUID", "FLOAT16")
	default:
		name = nameOf(e.converted, "UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS",
			"UINT_8", "UINT_16", "UINT_32", "UINT_64", "INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL")
	}
	stored := nameOf(e.physical, "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
	if e.physical == physicalFixed {
		stored += fmt.Sprintf("(%d)", e.length)
	}
	return fmt.Sprintf("its annotation %s contradicts its storage, %s, so that nobody knows what its values mean", name, stored)
}

// nameOf is the name of a number, which the format may not have.
func nameOf(number int, names ...string) string {
	if number >= 0 && number < len(names) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprintf("number %d", number)
}
