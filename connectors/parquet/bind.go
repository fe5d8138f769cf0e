package parquet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A bound is what Bind finds, as data.
type bound struct {
	Version int         `json:"version"`
	Files   []boundFile `json:"files"`
	Columns []boundCol  `json:"columns"`
	// Left are columns of the first file that cannot be read; none where columns are declared.
	Left []connectors.Unreadable `json:"left,omitempty"`
	Skip bool                    `json:"skip,omitempty"` // bad rows are left out
	// Nulls says that a column which a file does not have is NULL in its rows.
	Nulls bool `json:"nulls,omitempty"`
	// Names are the columns in the texts of the rows that are read alone.
	Names []string `json:"names,omitempty"`
}

// A boundFile is a file with the rows of its row groups and the byte each begins at, which tile the
// file: the first begins at 0, a last entry of Starts is the file's size.
type boundFile struct {
	Path   string  `json:"path"`
	Name   string  `json:"name"` // as the plan writes it
	Abs    string  `json:"abs"`
	Bytes  int64   `json:"bytes"`
	Time   int64   `json:"time"` // of its last change, in nanoseconds since 1970
	Rows   []int64 `json:"rows"`
	Starts []int64 `json:"starts"`
	Extra  int     `json:"extra,omitempty"` // columns that are not declared
	// Only are the rows to read, by their number from 0; nil = all.
	Only *onlyRows `json:"only,omitempty"`
}

// A boundCol is a column of the schema; From is its type in the files.
type boundCol struct {
	Name string    `json:"name"`
	Type expr.Type `json:"type"`
	From expr.Type `json:"from"`
}

const stateVersion = 1

func bind(ctx context.Context, o Options, e connectors.Env) ([]byte, error) {
	return bindIn(ctx, files.Local(), o, e)
}

func bindIn(ctx context.Context, fs files.FS, o Options, e connectors.Env) ([]byte, error) {
	if err := o.noSinkOptions(); err != nil {
		return nil, err
	}
	list, err := files.Inputs(ctx, fs, o.Path, e.Dir, o.AllowEmpty)
	if err != nil {
		return nil, err
	}
	b := binder{bound: bound{Version: stateVersion, Skip: e.SkipBadRows, Nulls: o.Missing == "nulls"}, declared: o.Columns, noExtra: o.ExtraColumns == "error", seen: map[string]bool{}, whence: map[string]string{}}
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading the footers of source %s: %w", e.Node, err)
		}
		if err := b.add(fs, f); err != nil {
			return nil, err
		}
	}
	if err := b.nowhere(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		if len(o.Columns) == 0 {
			return nil, files.Refused("columns: left out, and there is no file to take them from: declare each column with its type, as in {id: BIGINT, name: STRING}")
		}
		for _, f := range o.Columns {
			b.Columns = append(b.Columns, boundCol{f.Name, f.Type, f.Type})
		}
	}
	state, err := json.Marshal(b.bound)
	if err != nil {
		return nil, fmt.Errorf("binding source %s: %w", e.Node, err)
	}
	return state, nil
}

// noSinkOptions refuses options that a source would pass over; their defaults may be filled in.
func (o Options) noSinkOptions() error {
	name := ""
	switch {
	case o.Mode != "" && o.Mode != string(files.ModeError):
		name = "mode"
	case o.Compression != "" && o.Compression != "snappy":
		name = "compression"
	case o.RowGroupRows != 0 && o.RowGroupRows != defaultGroupRows:
		name = "row_group_rows"
	default:
		return nil
	}
	return files.Refused("%s: belongs to sinks, and a source only reads", name)
}

// A binder reads footers one by one; the first file decides the columns where none are declared.
type binder struct {
	bound
	declared connectors.Columns
	first    string            // path of the first file
	seen     map[string]bool   // declared columns that some file has
	last     []leaf            // of the file that was looked at last
	noExtra  bool              // columns that are not declared are refused
	whence   map[string]string // the file that a column is from, where that is not the first one
}

func (b *binder) add(fs files.FS, f files.File) error {
	d, err := openDocument(fs, f.Abs, f.Path)
	if err != nil {
		return err
	}
	defer d.Close()
	var has []leaf
	err = d.guard("the footer's schema cannot be decoded", func() error {
		has = d.leaves()
		return nil
	})
	if err != nil {
		return err
	}
	b.last = has
	switch {
	case len(b.declared) > 0:
		err = b.match(has, f.Path)
	case b.first == "":
		err = b.take(has, f.Path)
	default:
		err = b.compare(has, f.Path)
	}
	if err != nil {
		return err
	}
	bf, err := d.extent()
	if err != nil {
		return err
	}
	if bf.Extra, err = b.extra(has, f.Path); err != nil {
		return err
	}
	bf.Abs, bf.Name, bf.Time = f.Abs, f.Name, f.ModTime.UnixNano()
	b.Files = append(b.Files, bf)
	if b.first == "" {
		b.first = f.Path
	}
	return nil
}

// take makes the columns of the first file the source's.
func (b *binder) take(has []leaf, path string) error {
	for _, l := range has {
		if l.index >= 0 {
			b.Columns = append(b.Columns, boundCol{l.name, l.typ, l.typ})
		} else {
			b.Left = append(b.Left, connectors.Unreadable{Name: l.name, Why: l.why})
		}
	}
	if len(b.Columns) > 0 {
		return nil
	}
	why := "it has none"
	if len(has) > 0 {
		why = fmt.Sprintf("column %s: %s", has[0].name, has[0].why)
	}
	return mismatch(path, "", fmt.Sprintf("no column of %s can be read; %s", path, why))
}

// compare holds a further file against the first. A column may be NOT NULL in one of them.
func (b *binder) compare(has []leaf, path string) error {
	const hint = "; give the columns to read as `columns:`"
	const hintMissing = hint + ", or `missing_columns: nulls`"
	for i := range b.Columns {
		c := &b.Columns[i]
		l := find(has, c.Name)
		switch {
		case l == nil && b.Nulls:
			c.Type.NotNull, c.From.NotNull = false, false
			continue
		case l == nil:
			return mismatch(path, c.Name, fmt.Sprintf("column %s (%s) of %s is not in %s%s%s", c.Name, c.Type, b.first, path, near(c.Name, has), hintMissing))
		case l.nest != nil && c.Type.Nested():
			t, err := l.nest.merge(c.Type)
			if err != nil {
				return mismatch(path, c.Name, fmt.Sprintf("column %s is %s in %s and %s in %s: %v%s", c.Name, c.Type, b.from(c.Name), l.typ, path, err, hint))
			}
			c.Type, c.From = t, t
			continue
		case l.index < 0:
			return mismatch(path, c.Name, fmt.Sprintf("column %s is %s in %s; in %s %s%s", c.Name, c.Type, b.from(c.Name), path, l.why, hint))
		case !l.typ.Same(c.Type):
			return mismatch(path, c.Name, fmt.Sprintf("column %s is %s in %s and %s in %s%s", c.Name, c.Type, b.from(c.Name), l.typ, path, hint))
		}
		if !l.typ.NotNull {
			c.Type.NotNull, c.From.NotNull = false, false
		}
	}
	for _, l := range has {
		if l.index < 0 || b.index(l.name) >= 0 {
			continue
		}
		if !b.Nulls {
			return mismatch(path, l.name, fmt.Sprintf("column %s (%s) of %s is not in %s%s", l.name, l.typ, path, b.first, hintMissing))
		}
		t := l.typ.Nullable(true)
		b.Columns = append(b.Columns, boundCol{l.name, t, t})
		b.whence[l.name] = path
	}
	return nil
}

// index is the place of a column, -1 where there is none of that name.
func (b *bound) index(name string) int {
	for i, c := range b.Columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// match finds the declared columns in a file. Files may hold a column in different types, as long
// as each can become the declared one.
func (b *binder) match(has []leaf, path string) error {
	for _, f := range b.declared {
		l := find(has, f.Name)
		b.seen[f.Name] = b.seen[f.Name] || l != nil
		switch {
		case l == nil && b.Nulls && f.Type.NotNull:
			return mismatch(path, f.Name, fmt.Sprintf("column %s is not in %s, so it is NULL there, and declared %s: declare it without NOT NULL", f.Name, path, f.Type))
		case l == nil && b.Nulls:
			if b.first == "" {
				b.Columns = append(b.Columns, boundCol{f.Name, f.Type, f.Type})
			}
			continue
		case l == nil:
			return mismatch(path, f.Name, fmt.Sprintf("column %s is not in %s%s; it has %s", f.Name, path, near(f.Name, has), names(has)))
		case l.nest != nil && f.Type.Nested():
			if _, err := fetchOf(l.nest, f.Type, nil); err != nil {
				return mismatch(path, f.Name, fmt.Sprintf("column %s is %s in %s and declared %s: %v", f.Name, l.typ, path, f.Type, err))
			}
			if b.first == "" {
				b.Columns = append(b.Columns, boundCol{f.Name, f.Type, l.typ})
			}
			continue
		case l.index < 0:
			e := mismatch(path, f.Name, fmt.Sprintf("column %s of %s: %s", f.Name, path, l.why))
			e.Kind = "NotSupported"
			return e
		}
		column := l.as(f.Type)
		l = &column
		if err := converts(l, f.Type); err != nil {
			return mismatch(path, f.Name, fmt.Sprintf("column %s is %s in %s and declared %s: %v", f.Name, l.typ, path, f.Type, err))
		}
		if b.first == "" {
			b.Columns = append(b.Columns, boundCol{f.Name, f.Type, l.typ})
		}
	}
	return nil
}

// converts says why a file's column cannot be read as a declared type. What is allowed keeps the
// value or fails for the row; what would change values in silence is not, and is left to a CAST. Digits
// of a TIME or TIMESTAMP beyond the declared ones are cut, because writers choose the unit and not people. An
// instant that is declared TIMESTAMP is its date and time in UTC, and so is a TIMESTAMP that is declared
// TIMESTAMP_LTZ, where its annotation is an old one that did not tell the two apart.
func converts(l *leaf, to expr.Type) error {
	from := l.typ
	if from.Nested() || to.Nested() {
		return fmt.Errorf("declare it %s and take it apart in a transform", from.Nullable(true))
	}
	if from.Same(to) {
		return nil
	}
	ok := false
	switch to.Kind {
	case expr.String:
		ok = from.Kind != expr.Double && from.Kind != expr.TimestampLTZ // whose text depends on a zone
	case expr.BigInt:
		ok = from.Kind == expr.Int
	case expr.TinyInt, expr.SmallInt, expr.Int:
		ok = from.Whole()
	case expr.Float:
		ok = l.float
	case expr.Decimal:
		switch from.Kind {
		case expr.Int, expr.BigInt:
			ok = true
		case expr.Decimal:
			ok = to.Scale >= from.Scale
		}
	case expr.Double:
		ok = from.Kind == expr.Int
	case expr.Time:
		ok = from.Kind == expr.Time
	case expr.Timestamp:
		ok = from.Kind.Storage() == expr.Timestamp || from.Kind == expr.Date
	case expr.TimestampLTZ:
		ok = from.Kind == expr.TimestampLTZ || l.utc
	}
	if ok || from.Kind == expr.String {
		return nil
	}
	return fmt.Errorf("declare it %s and convert it in a transform, as in CAST(… AS %s)", from.Nullable(true), to.Nullable(true))
}

func find(has []leaf, name string) *leaf {
	for i := range has {
		if has[i].name == name {
			return &has[i]
		}
	}
	return nil
}

func names(has []leaf) string {
	var n []string
	for _, l := range has {
		n = append(n, l.name)
	}
	const most = 12
	if len(n) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(n[:most], ", "), len(n)-most)
	}
	return strings.Join(n, ", ")
}

// near is a hint at the nearest name, "" where none is near.
func near(name string, has []leaf) string {
	best, least := "", len(name)/3+2
	for _, l := range has {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(l.name)); d < least {
			best, least = l.name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

func mismatch(path, field, message string) *connectors.DataError {
	return &connectors.DataError{Kind: "SchemaMismatch", File: path, Field: field, Message: message}
}
