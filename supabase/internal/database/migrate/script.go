package migrate

import (
	"fmt"
	"regexp"
	"strings"
)

// ScriptStatement is a statement of an SQL script.
type ScriptStatement struct {
	Text   string // without the semicolon
	Offset int    // of Text in the script, in bytes
	Rows   string // the lines after COPY … FROM STDIN, as psql reads them
	Copies bool   // the statement is COPY … FROM STDIN
}

// copyIn matches a statement that reads rows from the client.
var copyIn = regexp.MustCompile(`(?is)^copy\s.*\sfrom\s+stdin\b`)

// ParseScript cuts a script into its statements. Rows after COPY … FROM STDIN belong to their
// statement. Commands of psql are an error, except \restrict and \unrestrict of pg_dump.
func ParseScript(text string) (list []ScriptStatement, err error) {
	s := splitter{text: text}
	for at := len(text) - len(strings.TrimPrefix(text, "\ufeff")); at < len(text); {
		rest := text[at:]
		bare := StripComments(rest)
		if strings.HasPrefix(bare, `\`) {
			line, _, _ := strings.Cut(bare, "\n")
			if !strings.HasPrefix(line, `\restrict `) && !strings.HasPrefix(line, `\unrestrict `) {
				return nil, fmt.Errorf("line %d: %s is a command of psql, which this program does not have",
					lineOf(text, len(text)-len(bare)), strings.Fields(line)[0])
			}
			at = len(text) - len(bare) + len(line)
			continue
		}
		end := s.statement(at)
		st := ScriptStatement{Text: strings.TrimSpace(text[at:end])}
		st.Offset = at + strings.Index(text[at:end], st.Text)
		st.Copies = copyIn.MatchString(StripComments(st.Text))
		at = end + 1
		if st.Copies && at <= len(text) {
			st.Rows, at = copiedRows(text, at)
		}
		if StripComments(st.Text) != "" {
			list = append(list, st)
		}
	}
	return list, nil
}

// copiedRows returns the lines after the one at offset at, up to a line `\.`, and the offset after
// that line.
func copiedRows(text string, at int) (rows string, end int) {
	_, body, _ := strings.Cut(text[at:], "\n")
	start := len(text) - len(body)
	for line := range strings.Lines(body) {
		if strings.TrimRight(line, "\r\n") == `\.` {
			return text[start : len(text)-len(body)], len(text) - len(body) + len(line)
		}
		body = body[len(line):]
	}
	return text[start:], len(text)
}

// lineOf returns the number of the line of an offset.
func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// RunsAlone reports whether a statement begins or ends a transaction, or cannot run inside one.
func RunsAlone(stmt string) bool {
	return controlOf(stmt) != noControl || alone.MatchString(StripComments(stmt))
}

// alone matches statements that cannot run inside a transaction.
var alone = regexp.MustCompile(`(?is)^(?:vacuum\b|alter\s+system\b|(?:create|drop)\s+(?:database|tablespace|subscription)\b|` +
	`(?:create\s+(?:unique\s+)?|drop\s+)index\s+concurrently\b|reindex\b.*\bconcurrently\b|reindex\s+(?:database|system)\b|` +
	`alter\s+database\b.*\bset\s+tablespace\b|cluster$|(?:prepare\s+transaction|commit\s+prepared|rollback\s+prepared)\b)`)
