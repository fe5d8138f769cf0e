package expr

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// plainValue is a Value as JSON numbers can hold it; Special is a DOUBLE that they cannot, and -0.0,
// which is left out as empty.
type plainValue struct {
	Null    bool    `json:"null,omitempty"`
	Int     int64   `json:"int,omitempty,string"`
	Double  float64 `json:"double,omitempty"`
	Text    string  `json:"text,omitempty"`
	Bytes   []byte  `json:"bytes,omitempty"`   // a Text that is no UTF-8
	Special string  `json:"special,omitempty"` // NaN, Inf, -Inf, -0
	Secret  bool    `json:"secret,omitempty"`
}

// MarshalJSON writes every value, NaN, the infinities and -0.0 included.
func (v Value) MarshalJSON() ([]byte, error) {
	p := plainValue{Null: v.Null, Int: v.Int, Double: v.Double, Text: v.Text, Secret: v.Secret}
	if !utf8.ValidString(v.Text) {
		p.Text, p.Bytes = "", []byte(v.Text)
	}
	if math.IsNaN(v.Double) || math.IsInf(v.Double, 0) || v.Double == 0 && math.Signbit(v.Double) {
		p.Double, p.Special = 0, strconv.FormatFloat(v.Double, 'g', -1, 64)
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(b []byte) error {
	var p plainValue
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*v = Value{Null: p.Null, Int: p.Int, Double: p.Double, Text: p.Text, Secret: p.Secret}
	if p.Bytes != nil {
		v.Text = string(p.Bytes)
	}
	if p.Special == "" {
		return nil
	}
	f, err := strconv.ParseFloat(p.Special, 64)
	v.Double = f
	return err
}
