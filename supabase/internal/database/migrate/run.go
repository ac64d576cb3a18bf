package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// runAll runs the statements of a file in tx. As with the official CLI, COMMIT and ROLLBACK end the
// transaction, and the statements after them run in a new one. COMMIT at the end of a file is left
// to the caller, who records the file in the same transaction, as the login role and with its
// settings. text is the file, for the lines in errors.
func runAll(ctx context.Context, tx pgx.Tx, text string, statements []string) error {
	conn := tx.Conn().PgConn()
	last := len(statements) // the number of statements without the control statements at the end
	for last > 0 && controlOf(statements[last-1]) != noControl && controlOf(statements[last-1]) != rollback {
		last--
	}
	committed := 0
	for i, stmt := range statements[:last] {
		control := controlOf(stmt)
		switch control {
		case begin: // a transaction has begun already
			continue
		case commit:
			stmt, committed = "commit; begin", i+1
		case rollback:
			stmt = "rollback; begin"
		case noControl:
			stmt = withRights(stmt)
		}
		_, err := conn.Exec(ctx, stmt).ReadAll()
		if err == nil && conn.TxStatus() != 'T' { // such as PREPARE TRANSACTION
			err = errors.New("ends the file's transaction: remove the statement")
		}
		if err != nil {
			err = at(text, statements, i, stmt, err)
			if committed > 0 {
				err = fmt.Errorf("%w\nthe changes before the file's COMMIT (statement %d) stay", err, committed)
			}
			return err
		}
	}
	_, err := tx.Exec(ctx, `reset role; reset all`)
	return err
}

// at adds to the error of a statement its number, its line in text, and what else Postgres says.
// sent is the statement as Postgres got it.
func at(text string, statements []string, failed int, sent string, err error) error {
	start := 0
	for _, stmt := range statements[:failed] {
		start += strings.Index(text[start:], stmt) + len(stmt)
	}
	stmt := statements[failed]
	start += strings.Index(text[start:], stmt)
	within := len(stmt) - len(StripComments(stmt))
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Position > 0 {
		runes := []rune(sent)
		within = len(string(runes[:min(int(pg.Position)-1, len(runes))]))
		stmt = sent
	}
	line := 1 + strings.Count(text[:start], "\n") + strings.Count(stmt[:within], "\n")
	err = fmt.Errorf("line %d, statement %d (%s): %w", line, failed+1, firstLine(statements[failed]), err)
	if pg == nil {
		return err
	}
	for _, more := range []struct{ name, text string }{
		{"DETAIL", pg.Detail}, {"HINT", Hint(pg)}, {"CONTEXT", pg.Where},
	} {
		if more.text != "" {
			err = fmt.Errorf("%w\n%s: %s", err, more.name, more.text)
		}
	}
	return err
}

// extensionSchema matches the error of a schema that an extension makes.
var extensionSchema = regexp.MustCompile(`^schema "(cron|pgmq)" does not exist$`)

// Hint returns how to mend an error: Postgres' hint, or one of this program, or "". A project whose
// extensions were created in the dashboard lacks the migration that creates them.
func Hint(err *pgconn.PgError) string {
	m := extensionSchema.FindStringSubmatch(err.Message)
	switch {
	case err.Hint != "":
		return err.Hint
	case err.Code == "25006":
		return "A nearly full disk, a standby and --read-only refuse writes: see `daawo doctor`."
	case m == nil:
		return ""
	}
	name := map[string]string{"cron": "pg_cron", "pgmq": "pgmq"}[m[1]]
	return fmt.Sprintf("Write `create extension %s;` into an earlier migration: supabase.com's dashboard writes none.", name)
}

// transactionControl is the kind of a statement that begins or ends a transaction.
type transactionControl int

const (
	noControl transactionControl = iota
	begin
	commit
	rollback
)

// control matches statements that begin or end a transaction.
var control = regexp.MustCompile(`(?is)^(?:(begin|start\s+transaction)(?:\s+(?:work|transaction))?|(?:(commit|end)|(rollback|abort))(?:\s+(?:work|transaction))?(?:\s+and\s+(?:no\s+)?chain)?)$`)

// controlOf returns the kind of a statement.
func controlOf(stmt string) transactionControl {
	m := control.FindStringSubmatch(StripComments(stmt))
	switch {
	case m == nil:
		return noControl
	case m[1] != "":
		return begin
	case m[2] != "":
		return commit
	}
	return rollback
}

// StripComments removes leading comments from a statement.
func StripComments(stmt string) string {
	s := splitter{text: stmt}
	i := 0
	for i < len(stmt) {
		switch {
		case strings.HasPrefix(stmt[i:], "--"):
			i = s.lineComment(i)
		case strings.HasPrefix(stmt[i:], "/*"):
			i = s.blockComment(i)
		case stmt[i] <= ' ':
			i++
		default:
			return stmt[i:]
		}
	}
	return ""
}

func firstLine(stmt string) string {
	line, _, _ := strings.Cut(StripComments(stmt), "\n")
	if len(line) > 60 {
		line = strings.ToValidUTF8(line[:60], "") + "…"
	}
	return line
}
