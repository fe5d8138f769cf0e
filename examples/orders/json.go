package orders

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A document is an Order as JSON has it: what belongs together stands in objects of its own.
type document struct {
	OrderID  int64    `json:"order_id"`
	Customer customer `json:"customer"`
	Items    []item   `json:"items"`
	Status   string   `json:"status"`
	At       string   `json:"ordered_at"`
	Note     *string  `json:"note"` // null, as writers leave what they do not know
}

type customer struct {
	ID      int64  `json:"id,omitempty"` // absent where it is NULL
	Country string `json:"country"`
}

type item struct {
	Product string      `json:"product"`
	Amount  json.Number `json:"amount"`
}

// JSON writes orders as JSON lines.
func JSON(list []Order) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, o := range list {
		d := document{
			OrderID: o.ID, Customer: customer{o.CustomerID, o.Country}, Status: o.Status, At: o.OrderedAt.Format("2006-01-02T15:04:05"),
			Items: []item{{o.Product, json.Number(fmt.Sprintf("%d.%02d", o.Cents/100, o.Cents%100))}},
		}
		if err := e.Encode(d); err != nil {
			return nil, fmt.Errorf("writing the example orders: %w", err)
		}
	}
	return b.Bytes(), nil
}
