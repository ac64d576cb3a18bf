package query

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5/pgconn"
)

// scriptError adds the line of the script, the detail, the hint and the context to an error of
// Postgres.
func scriptError(s Script, st migrate.ScriptStatement, err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return fmt.Errorf("%sline %d: %w", prefix(s.Name), lineAt(s.Text, st.Offset), err)
	}
	at := st.Offset + leadingComments(st.Text)
	if pg.Position > 0 {
		at = st.Offset + offsetOf(st.Text, int(pg.Position)-1)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s%s: %s (SQLSTATE %s)", prefix(s.Name), pg.Severity, pg.Message, pg.Code)
	line := lineText(s.Text, at)
	label := fmt.Sprintf("line %d: ", lineAt(s.Text, at))
	fmt.Fprintf(&out, "\n%s%s", label, line)
	if pg.Position > 0 {
		column := utf8.RuneCountInString(s.Text[strings.LastIndexByte(s.Text[:at], '\n')+1 : at])
		fmt.Fprintf(&out, "\n%s^", strings.Repeat(" ", len(label)+column))
	}
	for _, part := range []struct{ label, text string }{
		{"DETAIL", pg.Detail}, {"HINT", migrate.Hint(pg)}, {"QUERY", pg.InternalQuery}, {"CONTEXT", pg.Where},
	} {
		if part.text != "" {
			fmt.Fprintf(&out, "\n%s: %s", part.label, part.text)
		}
	}
	return errors.New(out.String())
}

func prefix(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

// leadingComments returns the length of the comments and the space before a statement.
func leadingComments(stmt string) int { return len(stmt) - len(migrate.StripComments(stmt)) }

// offsetOf returns the offset of a character, in bytes.
func offsetOf(text string, characters int) int {
	for i := range text {
		if characters == 0 {
			return i
		}
		characters--
	}
	return len(text)
}

// lineAt returns the number of the line of an offset.
func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// lineText returns the line of an offset. A tab is one space, as wide as in the line below it.
func lineText(text string, offset int) string {
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", " ")
}
