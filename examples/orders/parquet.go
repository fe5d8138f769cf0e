package orders

import (
	"bytes"
	"fmt"

	"github.com/xitongsys/parquet-go/writer"
)

// A row is an Order as Parquet has it.
type row struct {
	OrderID    int64  `parquet:"name=order_id, type=INT64, repetitiontype=REQUIRED"`
	CustomerID *int64 `parquet:"name=customer_id, type=INT64"`
	Product    string `parquet:"name=product, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Country    string `parquet:"name=country, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Amount     int64  `parquet:"name=amount, type=INT64, convertedtype=DECIMAL, precision=12, scale=2"`
	Status     string `parquet:"name=status, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	OrderedAt  int64  `parquet:"name=ordered_at, type=INT64, logicaltype=TIMESTAMP, logicaltype.isadjustedtoutc=false, logicaltype.unit=MILLIS"`
}

// Parquet writes all quarters as one file, each as a row group.
func Parquet(year []Quarter) ([]byte, error) {
	var b bytes.Buffer
	w, err := writer.NewParquetWriterFromWriter(&b, new(row), 1)
	if err != nil {
		return nil, fmt.Errorf("writing the example orders: %w", err)
	}
	for _, q := range year {
		for _, o := range q.Orders {
			r := row{OrderID: o.ID, Product: o.Product, Country: o.Country, Amount: o.Cents, Status: o.Status, OrderedAt: o.OrderedAt.UnixMilli()}
			if o.CustomerID != 0 {
				r.CustomerID = &o.CustomerID
			}
			if err := w.Write(r); err != nil {
				return nil, fmt.Errorf("writing the example orders: %w", err)
			}
		}
		if err := w.Flush(true); err != nil {
			return nil, fmt.Errorf("writing the example orders: %w", err)
		}
	}
	if err := w.WriteStop(); err != nil {
		return nil, fmt.Errorf("writing the example orders: %w", err)
	}
	return b.Bytes(), nil
}
