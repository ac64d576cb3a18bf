package housetest

import (
	"strings"
	"testing"
)

// Limits of the width of lines in Go, with tabs of four columns.
const (
	maxCodeColumns    = 120
	maxCommentColumns = 100
	maxWide           = 0.005 // share of the lines that may have more columns than maxCodeColumns
)

// TestLineWidth checks the width of comments, and the share of wide lines: long texts, SQL and the
// tags of settings cannot be broken.
func TestLineWidth(t *testing.T) {
	lines, wide := 0, 0
	for _, name := range goFiles(t) {
		raw := false // within a raw string
		for n, line := range strings.Split(read(t, name), "\n") {
			lines++
			width := columns(line)
			if width > maxCodeColumns {
				wide++
			}
			comment := !raw && strings.HasPrefix(strings.TrimSpace(line), "// ")
			if comment && width > maxCommentColumns && strings.Count(strings.TrimSpace(line), " ") > 1 {
				t.Errorf("%s:%d: a comment with %d columns, more than %d", name, n+1, width, maxCommentColumns)
			}
			if !comment && strings.Count(line, "`")%2 == 1 {
				raw = !raw
			}
		}
	}
	if float64(wide) > maxWide*float64(lines) {
		t.Errorf("%d of %d lines have more than %d columns; at most %.1f %% may", wide, lines, maxCodeColumns, maxWide*100)
	}
}

// columns returns the width of a line with tabs of four columns.
func columns(line string) (n int) {
	for _, r := range line {
		if r == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}
