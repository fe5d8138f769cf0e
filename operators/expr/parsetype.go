package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var typePattern = regexp.MustCompile(`(?i)^\s*([A-Z_][A-Z0-9_]*)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*(NOT\s+NULL|NULL)?\s*$`)

var zonedPattern = regexp.MustCompile(`(?i)^\s*TIMESTAMP\s*(\(\s*\d+\s*\))?\s+WITH\s+(LOCAL\s+)?TIME\s+ZONE(\s+NOT\s+NULL|\s+NULL)?\s*$`)

// ParseType reads a type as Flink SQL writes it: "DECIMAL(12, 2) NOT NULL". Names are not
// case-sensitive. DECIMAL alone is DECIMAL(10, 0), TIMESTAMP and TIMESTAMP_LTZ alone have the precision 6
// and TIME alone 0, as in Flink. Nested types are ARRAY<INT>, MAP<STRING, INT> and ROW<a INT, b STRING NOT
// NULL>, in one another as deep as 64.
func ParseType(s string) (Type, error) {
	if isNestedType(s) {
		return parseNestedType(s)
	}
	return parsePlainType(s)
}

func parsePlainType(s string) (Type, error) {
	m := typePattern.FindStringSubmatch(s)
	if z := zonedPattern.FindStringSubmatch(s); m == nil && z != nil {
		if z[2] == "" {
			return Type{}, fmt.Errorf("%q: there is no type with a zone of its own: write TIMESTAMP_LTZ(3), an instant", s)
		}
		t, err := parsePlainType("TIMESTAMP_LTZ" + z[1] + z[3])
		if err != nil {
			err = fmt.Errorf("%q: %w", s, err)
		}
		return t, err
	}
	if m == nil {
		return Type{}, fmt.Errorf("%q is not a type: expected a name such as BIGINT, DECIMAL(12, 2) or TIMESTAMP(3) NOT NULL", s)
	}
	args := [2]int{-1, -1}
	for i := range args {
		if m[2+i] == "" {
			continue
		}
		n, err := strconv.Atoi(m[2+i])
		if err != nil {
			return Type{}, fmt.Errorf("%q: %s is too large a number", s, m[2+i])
		}
		args[i] = n
	}
	t, err := typeOf(strings.ToUpper(m[1]), args)
	if err != nil {
		return Type{}, fmt.Errorf("%q: %w", s, err)
	}
	t.NotNull = len(m[4]) > 4
	return t, nil
}

var typeNames = map[string]Kind{
	"BOOLEAN": Boolean, "TINYINT": TinyInt, "SMALLINT": SmallInt, "INT": Int, "INTEGER": Int, "BIGINT": BigInt, "DOUBLE": Double, "FLOAT": Float, "REAL": Float,
	"DECIMAL": Decimal, "DEC": Decimal, "NUMERIC": Decimal,
	"STRING": String, "BYTES": Bytes, "DATE": Date, "TIME": Time, "TIMESTAMP": Timestamp, "TIMESTAMP_LTZ": TimestampLTZ,
}

func typeOf(name string, args [2]int) (Type, error) {
	k, ok := typeNames[name]
	if !ok {
		return Type{}, unknownType(name)
	}
	t := Of(k)
	switch k {
	case Decimal:
		t.Precision, t.Scale = max(args[0], 0), max(args[1], 0)
		if args[0] < 0 {
			t.Precision = 10
		}
		if t.Precision < 1 || t.Precision > MaxDecimal {
			return t, fmt.Errorf("the precision of a DECIMAL is 1 to %d", MaxDecimal)
		}
		if t.Scale > t.Precision {
			return t, fmt.Errorf("the scale of a DECIMAL is 0 to its precision, %d", t.Precision)
		}
		return t, nil
	case Time, Timestamp, TimestampLTZ:
		if k != Time {
			t.Precision = 6
		}
		if args[0] >= 0 {
			t.Precision = args[0]
		}
		if t.Precision > 6 {
			return t, fmt.Errorf("%s(%d) is not supported yet: the precision is 0 to 6", name, t.Precision)
		}
		if args[1] >= 0 {
			return t, fmt.Errorf("%s takes one number", name)
		}
		return t, nil
	}
	if args[0] >= 0 {
		return t, fmt.Errorf("%s takes no numbers", name)
	}
	return t, nil
}

func unknownType(name string) error {
	switch name {
	case "VARCHAR", "CHAR", "TEXT":
		return fmt.Errorf("%s is not a type here: write STRING", name)
	case "VARBINARY", "BINARY", "BLOB", "BYTEA":
		return fmt.Errorf("%s is not a type here: write BYTES", name)
	case "TIMESTAMPTZ":
		return fmt.Errorf("%s is not a type: write TIMESTAMP_LTZ(3)", name)
	case "INTERVAL":
		return fmt.Errorf("type %s is not supported yet", name)
	case "INT64", "LONG":
		return fmt.Errorf("%s is not a type: write BIGINT", name)
	case "INT8":
		return fmt.Errorf("%s is not a type: write TINYINT", name)
	case "INT16":
		return fmt.Errorf("%s is not a type: write SMALLINT", name)
	case "INT32":
		return fmt.Errorf("%s is not a type: write INT", name)
	case "BOOL":
		return fmt.Errorf("%s is not a type: write BOOLEAN", name)
	case "DATETIME":
		return fmt.Errorf("%s is not a type: write TIMESTAMP(3)", name)
	}
	return fmt.Errorf("%s is not a type: expected BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, BYTES, DATE, TIME(p), TIMESTAMP(p), TIMESTAMP_LTZ(p), ARRAY<t>, MAP<t, t> or ROW<name t, …>", name)
}
