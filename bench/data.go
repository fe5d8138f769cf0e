package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// generate writes orders as CSV, the same bytes for the same kind and number of rows; fresh says that the
// file was not there. Kinds: plain, and quoted with all text in quotes, hold a million customers, a
// thousand products, 50 countries of falling frequency, four statuses, amounts of a gamma distribution
// and times that rise over a year; mixed holds NULLs, text of 1 to 200 bytes that needs quotes here and
// there, amounts of any number of digits, and keys of which few are frequent.
func generate(file, kind string, rows int) (fresh bool, err error) {
	stamp := file + ".rows"
	if b, err := os.ReadFile(stamp); err == nil && string(b) == strconv.Itoa(rows) {
		return false, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return false, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line func(b []byte, i int) []byte
	header := "order_id,customer_id,product,country,amount,status,order_time\n"
	if kind == "mixed" {
		line = newMixed(rows).append
	} else {
		line = newOrders(rows, kind == "quoted").append
	}
	if _, err := w.WriteString(header); err != nil {
		return false, err
	}
	var b []byte
	for i := range rows {
		b = line(b[:0], i)
		if _, err := w.Write(b); err != nil {
			return false, fmt.Errorf("writing %s: %w", file, err)
		}
	}
	if err := w.Flush(); err != nil {
		return false, fmt.Errorf("writing %s: %w", file, err)
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	return true, os.WriteFile(stamp, []byte(strconv.Itoa(rows)), 0o644)
}

type orders struct {
	quoted    bool
	rng       *rand.Rand
	rows      int
	countries []string
	from      time.Time
}

func newOrders(rows int, quoted bool) *orders {
	o := &orders{quoted: quoted, rng: rand.New(rand.NewPCG(7, 7)), rows: rows, from: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
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
	b = append(b, ',')
	p := o.rng.IntN(1000)
	b = o.text(b, fmt.Sprintf("product-%04d", p))
	country := min(int(math.Log(1-o.rng.Float64())/math.Log(1-0.06)), len(o.countries)-1)
	b = o.text(b, o.countries[country])
	// A gamma distribution of shape 2 is the sum of two exponential ones.
	cents := math.Round((60*(o.rng.ExpFloat64()+o.rng.ExpFloat64()) + 0.5) * 100)
	b = strconv.AppendFloat(b, cents/100, 'f', -1, 64)
	b = append(b, ',')
	b = o.text(b, status(o.rng.Float64()))
	return append(at(o.from, i, o.rows).AppendFormat(b, time.DateTime), '\n')
}

// text appends a field of text and the comma behind it.
func (o *orders) text(b []byte, s string) []byte {
	if !o.quoted {
		return append(append(b, s...), ',')
	}
	b = append(append(b, '"'), s...)
	return append(b, '"', ',')
}

// at is the time of the i-th of the orders of a year.
func at(from time.Time, i, rows int) time.Time {
	return from.Add(time.Duration(int64(i)*366*86400/int64(rows)) * time.Second)
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

// mixed makes orders that are unlike those: see generate.
type mixed struct {
	rng       *rand.Rand
	rows      int
	customers *rand.Zipf
	products  []string
	picks     *rand.Zipf
	from      time.Time
}

func newMixed(rows int) *mixed {
	rng := rand.New(rand.NewPCG(11, 11))
	m := &mixed{rng: rng, rows: rows, from: time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC)}
	m.customers = rand.NewZipf(rng, 1.1, 20, 2_000_000)
	m.picks = rand.NewZipf(rng, 1.3, 5, 4999)
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789,\""
	for i := range 5000 {
		b := make([]byte, rng.IntN(197))
		for j := range b {
			b[j] = letters[rng.IntN(len(letters))]
		}
		m.products = append(m.products, fmt.Sprintf("%d%s", i, b))
	}
	return m
}

func (m *mixed) append(b []byte, i int) []byte {
	b = append(strconv.AppendInt(b, int64(i)*7-3_000_000, 10), ',')
	b = append(strconv.AppendUint(b, 1+m.customers.Uint64(), 10), ',')
	b = append(quoted(b, m.products[m.picks.Uint64()]), ',')
	if m.rng.IntN(20) > 0 {
		b = append(append(b, 'C'), byte('0'+m.rng.IntN(8)), byte('0'+m.rng.IntN(10)))
	}
	b = append(b, ',')
	if m.rng.IntN(50) > 0 {
		digits := m.rng.IntN(7)
		b = strconv.AppendFloat(b, m.rng.NormFloat64()*1000, 'f', digits, 64)
	}
	b = append(b, ',')
	if m.rng.IntN(10) > 0 {
		b = append(b, status(m.rng.Float64())...)
	}
	b = append(b, ',')
	if m.rng.IntN(100) > 0 {
		b = at(m.from, m.rng.IntN(m.rows), m.rows).AppendFormat(b, time.DateTime)
	}
	return append(b, '\n')
}

// quoted appends text as CSV, in quotes where it needs them.
func quoted(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, "\"", "\"\"")...)
	return append(b, '"')
}
