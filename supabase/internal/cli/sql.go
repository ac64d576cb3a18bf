package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"daawo/supabase/internal/cli/query"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5/pgconn"
)

var sqlCommand = Command{
	Name:  "sql",
	Args:  "[STATEMENTS] [-c STATEMENTS] [-f FILE] [--tables [NAME]] [FLAGS]",
	Short: "Run SQL and list tables, as the role postgres",
	Long: `
Runs the statements of the command line, of files or of the standard input, in the database of the running server or of
--db-url. A script is one transaction: a failure undoes it and makes the exit code 1. A script with BEGIN or COMMIT, or with a
statement that cannot run inside a transaction such as VACUUM, runs one statement after the other. Dumps with COPY work.

  daawo sql 'select id, title from todos'
  daawo sql -f data.sql
  daawo sql -t -c 'select count(*) from todos'      only the value, for scripts
  daawo sql -o json < report.sql
  daawo sql --tables                                all tables of the project
  daawo sql --tables auth.users                     columns, indexes, constraints, policies and triggers of one`,
	Run: runSQL,
}

// sqlFlags holds the flags of `sql`.
type sqlFlags struct {
	databaseFlags
	options query.Options
	scripts []query.Script
	tables  bool
}

func runSQL(ctx context.Context, inv *Invocation) error {
	f := sqlFlags{databaseFlags: newDatabaseFlags(inv)}
	inv.flags.Func("c", "`statements` to run; may be repeated", func(text string) error {
		f.scripts = append(f.scripts, query.Script{Text: text})
		return nil
	})
	file := func(name string) error {
		f.scripts = append(f.scripts, query.Script{Name: name})
		return nil
	}
	inv.flags.Func("f", "`file` to run, - for the standard input; may be repeated", file)
	inv.flags.Func("file", "the same as -f `file`", file)
	inv.flags.StringVar(&f.options.Format, "o", "table", "`format`: table, csv or json")
	inv.flags.StringVar(&f.options.Format, "output", "table", "the same as -o `format`")
	inv.flags.BoolVar(&f.options.Bare, "t", false, "print only rows: no header, no number of rows")
	inv.flags.BoolVar(&f.options.Apart, "no-transaction", false, "run each statement in a transaction of its own")
	inv.flags.BoolVar(&f.options.ReadOnly, "read-only", false, "refuse statements that write")
	inv.flags.BoolVar(&f.tables, "tables", false,
		"list the tables of the project, of a schema, or the columns of a table")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	if !slices.Contains(query.Formats, f.options.Format) {
		return usagef("-o %s: unknown format; the formats are %s", f.options.Format, strings.Join(query.Formats, ", "))
	}
	f.options.Out = inv.Stdout
	if err := f.read(ctx, inv); err != nil {
		return err
	}
	return f.run(ctx, inv)
}

// read reads the scripts that the command line names.
func (f *sqlFlags) read(ctx context.Context, inv *Invocation) error {
	switch {
	case f.tables && len(f.scripts) > 0:
		return usagef("--tables takes the name of a table, not -c or -f")
	case f.tables:
		return nil
	case len(inv.args) == 1 && len(f.scripts) > 0:
		return usagef("%q: use either -c and -f or one argument", inv.args[0])
	case len(inv.args) == 1:
		f.scripts = []query.Script{{Text: inv.args[0]}}
	case len(f.scripts) == 0:
		if isTerminal(inv.Stdin) {
			fmt.Fprintln(inv.Stderr, "enter statements; Ctrl-D runs them")
		}
		f.scripts = []query.Script{{Name: "-"}}
	}
	for i, s := range f.scripts {
		var text []byte
		var err error
		switch s.Name {
		case "":
			continue
		case "-":
			text, err = inv.readInput(ctx)
			s.Name = ""
		default:
			text, err = os.ReadFile(s.Name)
		}
		if err != nil {
			return err
		}
		f.scripts[i] = query.Script{Name: s.Name, Text: string(text)}
	}
	return nil
}

func (f *sqlFlags) run(ctx context.Context, inv *Invocation) error {
	url, err := f.address(ctx, inv)
	if err != nil {
		return err
	}
	conn, err := pool.ConnectConsole(ctx, url, func(n *pgconn.Notice) { printNotice(inv.Stderr, n) })
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if f.tables {
		return query.Tables(ctx, conn.PgConn(), strings.Join(inv.args, ""), f.options)
	}
	for _, s := range f.scripts {
		if err := query.Run(ctx, conn.PgConn(), s, f.options); err != nil {
			return err
		}
	}
	return nil
}

func printNotice(w io.Writer, n *pgconn.Notice) {
	fmt.Fprintf(w, "%s: %s\n", n.Severity, n.Message)
	for _, part := range []struct{ label, text string }{{"DETAIL", n.Detail}, {"HINT", n.Hint}} {
		if part.text != "" {
			fmt.Fprintf(w, "%s: %s\n", part.label, part.text)
		}
	}
}
