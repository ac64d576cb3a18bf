// Package query runs SQL scripts and prints their results as tables, CSV or JSON.
package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options say how to run a script and how to print its results.
type Options struct {
	Out      io.Writer
	Format   string // table, csv or json
	Bare     bool   // rows only: no header, no number of rows, no command tags
	Apart    bool   // each statement has a transaction of its own
	ReadOnly bool   // writes fail
}

// Formats are the values of Options.Format.
var Formats = []string{"table", "csv", "json"}

// Script is SQL text and where it comes from.
type Script struct {
	Name string // of the file, "" for none
	Text string
}

// Run runs the statements of a script and prints each result. The script is one transaction, unless
// a statement begins or ends a transaction or cannot run inside one. An error of Postgres names the
// line.
func Run(ctx context.Context, conn *pgconn.PgConn, s Script, o Options) (err error) {
	statements, err := migrate.ParseScript(s.Text)
	if err != nil {
		return errors.New(prefix(s.Name) + err.Error())
	}
	together := !o.Apart && len(statements) > 1
	for _, st := range statements {
		together = together && !migrate.RunsAlone(st.Text)
	}
	if o.ReadOnly {
		if _, err := conn.Exec(ctx, "set session characteristics as transaction read only").ReadAll(); err != nil {
			return err
		}
	}
	if together {
		if _, err := conn.Exec(ctx, "begin").ReadAll(); err != nil {
			return err
		}
		defer func() {
			end := "commit"
			if err != nil {
				end = "rollback"
			}
			_, failed := conn.Exec(context.WithoutCancel(ctx), end).ReadAll()
			if err == nil {
				err = failed // such as a deferred constraint
			}
		}()
	}
	for i, st := range statements {
		if err := run(ctx, conn, st, o); err != nil {
			err = scriptError(s, st, err)
			if together && i > 0 {
				err = fmt.Errorf("%w\nnone of the script's statements was applied", err)
			}
			return err
		}
	}
	return nil
}

// copyOut matches a statement that sends rows to the client.
var copyOut = regexp.MustCompile(`(?is)^copy\s.*\sto\s+stdout\b`)

func run(ctx context.Context, conn *pgconn.PgConn, st migrate.ScriptStatement, o Options) error {
	var tag pgconn.CommandTag
	var err error
	switch {
	case st.Copies:
		tag, err = conn.CopyFrom(ctx, strings.NewReader(st.Rows), st.Text)
	case copyOut.MatchString(st.Text):
		_, err = conn.CopyTo(ctx, o.Out, st.Text)
		return err
	default:
		return runStatement(ctx, conn, st.Text, o)
	}
	if err == nil {
		err = o.printTag(tag)
	}
	return err
}

func runStatement(ctx context.Context, conn *pgconn.PgConn, sql string, o Options) error {
	results := conn.Exec(ctx, sql)
	for results.NextResult() {
		if err := o.print(results.ResultReader()); err != nil {
			return errors.Join(err, results.Close())
		}
	}
	return results.Close()
}

// print prints a result.
func (o Options) print(r *pgconn.ResultReader) error {
	fields := r.FieldDescriptions()
	var err error
	switch {
	case len(fields) == 0:
		tag, err := r.Close()
		if err != nil {
			return err
		}
		return o.printTag(tag)
	case o.Format == "csv":
		err = writeCSV(o, fields, r)
	case o.Format == "json":
		err = writeJSON(o, fields, r)
	default:
		err = writeTable(o, fields, r)
	}
	return err
}

// printTag prints what a statement without rows did, such as INSERT 0 1. Formats for programs have
// rows only.
func (o Options) printTag(tag pgconn.CommandTag) error {
	if o.Bare || o.Format != "table" || tag.String() == "" {
		return nil
	}
	_, err := fmt.Fprintln(o.Out, tag)
	return err
}
