// Package orders makes the example data: orders of a year as CSV and as Parquet, the same for the same
// seed, byte for byte.
package orders

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// An Order is a row.
type Order struct {
	ID         int64
	CustomerID int64 // 0: NULL, an order without an account
	Product    string
	Country    string
	Cents      int64 // the amount, in hundredths
	Status     string
	OrderedAt  time.Time // UTC, whole seconds
}

// Seed is what the data in the repository was made with.
const Seed = 20240101

// perQuarter is how many orders a quarter has.
const perQuarter = 1250

// BadLine is the line of orders_bad.csv whose amount is no number.
const BadLine = 1017

// weighted is a value with how often it comes.
type weighted struct {
	value  string
	weight int
}

func products() []weighted {
	return []weighted{
		{"Notebook A5", 9},
		{"Pencil, HB, box of 12", 8},
		{`Cable "USB-C", 2 m`, 7},
		{"Desk lamp", 6},
		{"Backpack", 5},
		{"Water bottle", 5},
		{"Headphones", 4},
		{"Café mug", 4},
		{"Monitor stand", 3},
		{"Keyboard", 3},
		{`Screen, 27"`, 2},
		{"Office chair", 1},
	}
}

func countries() []weighted {
	return []weighted{
		{"DE", 20}, {"US", 18}, {"FR", 12}, {"GB", 11}, {"NL", 8}, {"ES", 7}, {"IT", 7}, {"PL", 6}, {"AT", 4}, {"SE", 3}, {"NO", 3}, {"JP", 1},
	}
}

func statuses() []weighted {
	return []weighted{{"PAID", 60}, {"SHIPPED", 20}, {"PENDING", 12}, {"CANCELLED", 8}}
}

// A Quarter is the orders of three months.
type Quarter struct {
	Name   string // "2024-q1"
	Orders []Order
}

// Make makes a year of orders, by quarter and in the order of their times.
func Make(seed uint64) []Quarter {
	r := rand.New(rand.NewPCG(seed, 0))
	year := make([]Quarter, 4)
	id := int64(1)
	for q := range year {
		year[q].Name = fmt.Sprintf("2024-q%d", q+1)
		from := time.Date(2024, time.Month(1+3*q), 1, 0, 0, 0, 0, time.UTC)
		seconds := int64(from.AddDate(0, 3, 0).Sub(from) / time.Second)
		for i := range int64(perQuarter) {
			at := seconds*i/perQuarter + r.Int64N(seconds/perQuarter)
			year[q].Orders = append(year[q].Orders, order(r, id, from.Add(time.Duration(at)*time.Second)))
			id++
		}
	}
	return year
}

func order(r *rand.Rand, id int64, at time.Time) Order {
	o := Order{ID: id, OrderedAt: at, Product: pick(r, products()), Country: pick(r, countries()), Status: pick(r, statuses())}
	if r.IntN(25) > 0 {
		o.CustomerID = 1000 + int64(min(r.IntN(400), r.IntN(400)))
	}
	o.Cents = 199 + r.Int64N(4000)
	if r.IntN(10) == 0 {
		o.Cents += r.Int64N(60000)
	}
	return o
}

func pick(r *rand.Rand, from []weighted) string {
	total := 0
	for _, w := range from {
		total += w.weight
	}
	n := r.IntN(total)
	for _, w := range from {
		if n -= w.weight; n < 0 {
			return w.value
		}
	}
	return ""
}

// Files makes all files of the example data, by path below its folder.
func Files(seed uint64) (map[string][]byte, error) {
	year := Make(seed)
	files := map[string][]byte{}
	for _, q := range year {
		files["orders/"+q.Name+".csv"] = CSV(q.Orders)
	}
	files["orders_bad.csv"] = withBadAmount(CSV(year[0].Orders))
	p, err := Parquet(year)
	if err != nil {
		return nil, err
	}
	files["orders.parquet"] = p
	if files["orders.jsonl"], err = JSON(year[0].Orders); err != nil {
		return nil, err
	}
	return files, nil
}

// CSV writes orders with a header line; NULL is an empty field.
func CSV(list []Order) []byte {
	var b bytes.Buffer
	b.WriteString("order_id,customer_id,product,country,amount,status,ordered_at\n")
	for _, o := range list {
		customer := ""
		if o.CustomerID != 0 {
			customer = fmt.Sprint(o.CustomerID)
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,%d.%02d,%s,%s\n", o.ID, customer, quoted(o.Product), o.Country,
			o.Cents/100, o.Cents%100, o.Status, o.OrderedAt.Format("2006-01-02 15:04:05"))
	}
	return b.Bytes()
}

func quoted(s string) string {
	if !strings.ContainsAny(s, `,"`) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// withBadAmount writes the amount of one line out as a word.
func withBadAmount(csv []byte) []byte {
	lines := strings.SplitAfter(string(csv), "\n")
	fields := strings.Split(lines[BadLine-1], ",")
	fields[len(fields)-3] = "twelve"
	lines[BadLine-1] = strings.Join(fields, ",")
	return []byte(strings.Join(lines, ""))
}
