package expr

// nestedFunctions are the calls on ARRAY, MAP and ROW. Their values are compared with = and <> and have a text
// under CAST; they have no order, and are no keys.
var nestedFunctions = []Function{
	{"FIELD", 2, 2, Special, "ROW x, STRING literal name -> the field's type: x.name; NULL where x is.", nil},
	{"ITEM", 2, 2, Special, "ARRAY<T> x, INT n -> T: x[n], the n-th element, counted from 1; NULL where there is none. MAP<K, V> x, K key -> V: x[key]; " +
		"NULL where there is no such key, of several the last.", nil},
	{"SPLIT", 2, 2, Strict, "STRING s, STRING delimiter -> ARRAY<STRING>: what stands between the delimiters, '' where two follow each other; s alone where there is none. An empty delimiter gives the characters.", nil},
	{"CARDINALITY", 1, 1, Strict, "ARRAY<T> or MAP<K, V> -> INT: how many elements or entries, NULLs counted.", nil},
	{"ELEMENT", 1, 1, Special, "ARRAY<T> -> T: the only element; NULL where there is none. Fails: EvaluationError where there are several.", always},
	{"ARRAY_CONTAINS", 2, 2, Special, "ARRAY<T> x, T value -> BOOLEAN: whether an element equals the value, where NULL equals NULL; NULL where x is.", nil},
}
