package query

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// writeCSV writes a result as CSV. NULL is an empty field.
func writeCSV(o Options, fields []pgconn.FieldDescription, r *pgconn.ResultReader) error {
	out := csv.NewWriter(o.Out)
	record := make([]string, len(fields))
	if !o.Bare {
		for i, f := range fields {
			record[i] = f.Name
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	for r.NextRow() {
		for i, value := range r.Values() {
			record[i] = string(value)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	_, err := r.Close()
	if err == nil {
		err = out.Error()
	}
	return err
}

// writeJSON writes a result as an array of objects, or with Bare one object per line.
func writeJSON(o Options, fields []pgconn.FieldDescription, r *pgconn.ResultReader) error {
	begin, between, end := "[\n  ", ",\n  ", "\n]\n"
	if o.Bare {
		begin, between, end = "", "\n", "\n"
	}
	out := bufio.NewWriter(o.Out)
	rows := 0
	for ; r.NextRow(); rows++ {
		if rows == 0 {
			fmt.Fprint(out, begin)
		} else {
			fmt.Fprint(out, between)
		}
		for i, value := range r.Values() {
			name, err := jsonText(fields[i].Name)
			if err != nil {
				return err
			}
			text, err := jsonValue(fields[i].DataTypeOID, value)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s%s: %s", map[bool]string{true: "{", false: ", "}[i == 0], name, text)
		}
		fmt.Fprint(out, "}")
	}
	if _, err := r.Close(); err != nil {
		return err
	}
	switch {
	case rows > 0:
		fmt.Fprint(out, end)
	case !o.Bare:
		fmt.Fprintln(out, "[]")
	}
	return out.Flush()
}

// jsonText returns a string as JSON, with < > & as they are.
func jsonText(s string) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return strings.TrimSpace(out.String()), err
}

// jsonValue returns a value in the text format of Postgres as JSON.
func jsonValue(oid uint32, value []byte) (string, error) {
	if value == nil {
		return "null", nil
	}
	switch oid {
	case pgtype.BoolOID:
		return map[string]string{"t": "true", "f": "false"}[string(value)], nil
	case pgtype.JSONOID, pgtype.JSONBOID:
		return string(value), nil
	}
	if isNumber(oid) && json.Valid(value) { // NaN and Infinity are no JSON
		return string(value), nil
	}
	return jsonText(string(value))
}

// isNumber reports whether a type is numeric. Tables align such columns to the right.
func isNumber(oid uint32) bool {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.Float4OID, pgtype.Float8OID,
		pgtype.NumericOID:
		return true
	}
	return false
}

// writeTable writes a result as a table with aligned columns. With Bare it has no header, and a tab
// between columns.
func writeTable(o Options, fields []pgconn.FieldDescription, r *pgconn.ResultReader) error {
	if o.Bare {
		return writeBare(o.Out, r)
	}
	header := make([]string, len(fields))
	for i, f := range fields {
		header[i] = f.Name
	}
	var rows [][]string
	for r.NextRow() {
		row := make([]string, len(fields))
		for i, value := range r.Values() {
			row[i] = printable(value)
		}
		rows = append(rows, row)
	}
	if _, err := r.Close(); err != nil {
		return err
	}
	right := make([]bool, len(fields))
	for i, f := range fields {
		right[i] = isNumber(f.DataTypeOID)
	}
	plural := "s"
	if len(rows) == 1 {
		plural = ""
	}
	drawTable(o.Out, header, rows, right)
	_, err := fmt.Fprintf(o.Out, "(%d row%s)\n", len(rows), plural)
	return err
}

func writeBare(w io.Writer, r *pgconn.ResultReader) error {
	out := bufio.NewWriter(w)
	for r.NextRow() {
		for i, value := range r.Values() {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.Write(value)
		}
		out.WriteByte('\n')
	}
	if _, err := r.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// drawTable writes a header, a line and rows. The next write returns an error of the writer.
func drawTable(w io.Writer, header []string, rows [][]string, right []bool) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	draw := func(row []string, right []bool) {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString(" | ")
			}
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right != nil && right[i] {
				cell, space = space+cell, ""
			}
			line.WriteString(cell + space)
		}
		fmt.Fprintln(w, strings.TrimRight(" "+line.String(), " "))
	}
	draw(header, nil)
	var rule []string
	for _, width := range widths {
		rule = append(rule, strings.Repeat("-", width+2))
	}
	fmt.Fprintln(w, strings.Join(rule, "+"))
	for _, row := range rows {
		draw(row, right)
	}
}

// printable returns a value for a table. A line break is ↵, and other control characters, which
// could change the terminal, are �.
func printable(value []byte) string {
	if value == nil {
		return "NULL"
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n':
			return '↵'
		case c == '\t':
			return ' '
		case unicode.IsControl(c):
			return utf8.RuneError
		}
		return c
	}, string(value))
}
