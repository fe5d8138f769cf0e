package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// asJSON writes the orders of a CSV file as JSON lines: numbers bare, text and times as strings, and what is
// empty as null.
func asJSON(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	r := csv.NewReader(bufio.NewReaderSize(in, 1<<20))
	r.ReuseRecord = true
	w := bufio.NewWriterSize(out, 1<<20)
	var keys [][]byte
	bare := map[string]bool{"order_id": true, "customer_id": true, "amount": true}
	var numbers []bool
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", from, err)
		}
		if keys == nil {
			for i, name := range fields {
				keys = append(keys, fmt.Appendf(nil, "%c%q:", "{,"[min(i, 1)], name))
				numbers = append(numbers, bare[name])
			}
			continue
		}
		if err := writeJSON(w, keys, numbers, fields); err != nil {
			return fmt.Errorf("writing %s: %w", to, err)
		}
	}
}

// writeJSON writes one line.
func writeJSON(w *bufio.Writer, keys [][]byte, numbers []bool, fields []string) error {
	for i, v := range fields {
		text := []byte(v)
		switch {
		case v == "":
			text = []byte("null")
		case !numbers[i]:
			var err error
			if text, err = json.Marshal(v); err != nil {
				return err
			}
		}
		if _, err := w.Write(keys[i]); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	_, err := w.WriteString("}\n")
	return err
}
