package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// generate writes orders as CSV, the same bytes for the same number of rows: a million customers, a
// thousand products, 50 countries of falling frequency, four statuses, amounts of a gamma distribution
// and times that rise over a year. Text is quoted. A file of the right number of rows is kept.
func generate(file string, rows int) (err error) {
	stamp := file + ".rows"
	if b, err := os.ReadFile(stamp); err == nil && string(b) == strconv.Itoa(rows) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if _, err := w.WriteString(`"order_id","customer_id","product","country","amount","status","order_time"` + "\n"); err != nil {
		return err
	}
	g := newOrders(rows)
	var b []byte
	for i := range rows {
		b = g.append(b[:0], i)
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(strconv.Itoa(rows)), 0o644)
}

type orders struct {
	rng       *rand.Rand
	rows      int
	countries []string
	from      time.Time
}

func newOrders(rows int) *orders {
	o := &orders{rng: rand.New(rand.NewPCG(7, 7)), rows: rows, from: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	endings := []string{"land", "stan", "ia", "burg", "ville"}
	for i := range 50 {
		o.countries = append(o.countries, fmt.Sprintf("C%02d-%s", i, endings[i%len(endings)]))
	}
	return o
}

func (o *orders) append(b []byte, i int) []byte {
	b = strconv.AppendInt(b, int64(i), 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, 1+o.rng.Int64N(1_000_000), 10)
	b = append(b, `,"product-`...)
	p := o.rng.IntN(1000)
	b = append(b, byte('0'), byte('0'+p/100), byte('0'+p/10%10), byte('0'+p%10))
	b = append(b, `","`...)
	country := min(int(math.Log(1-o.rng.Float64())/math.Log(1-0.06)), len(o.countries)-1)
	b = append(b, o.countries[country]...)
	b = append(b, `",`...)
	// A gamma distribution of shape 2 is the sum of two exponential ones.
	cents := math.Round((60*(o.rng.ExpFloat64()+o.rng.ExpFloat64()) + 0.5) * 100)
	b = strconv.AppendFloat(b, cents/100, 'f', -1, 64)
	b = append(b, `,"`...)
	b = append(b, status(o.rng.Float64())...)
	b = append(b, `",`...)
	at := o.from.Add(time.Duration(int64(i)*366*86400/int64(o.rows)) * time.Second)
	b = at.AppendFormat(b, time.DateTime)
	return append(b, '\n')
}

func status(x float64) string {
	switch {
	case x < 0.55:
		return "PAID"
	case x < 0.75:
		return "PENDING"
	case x < 0.85:
		return "CANCELLED"
	}
	return "SHIPPED"
}
