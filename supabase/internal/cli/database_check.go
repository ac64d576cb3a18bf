package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5"
)

// createHistory and insertHistory record a migration as applied, as the official CLI does.
const (
	createHistory = `
		create schema if not exists supabase_migrations;
		create table if not exists supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text)`
	insertHistory = `insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)`
)

func recordMigration(ctx context.Context, conn *pgx.Conn, version, name string, statements []string) error {
	if _, err := conn.Exec(ctx, createHistory); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, insertHistory, version, name, statements)
	return err
}

// missingExtension says how to get an extension that the embedded Postgres does not have.
func missingExtension(name string) error {
	return fmt.Errorf("this server has no extension %s; use a Postgres that has it (--db-url, or `daawo start --database-url`), such as Debian's packages or supabase/postgres", name)
}

// lintIssue is an issue that plpgsql_check found, with the names of the official CLI.
type lintIssue struct {
	Level     string `json:"level"`
	Message   string `json:"message"`
	Statement *struct {
		LineNumber string `json:"lineNumber"`
		Text       string `json:"text"`
	} `json:"statement,omitempty"`
	Query *struct {
		Position string `json:"position"`
		Text     string `json:"text"`
	} `json:"query,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Context  string `json:"context,omitempty"`
	SQLState string `json:"sqlState,omitempty"`
}

// lintResult lists the issues of a function.
type lintResult struct {
	Function string      `json:"function"`
	Issues   []lintIssue `json:"issues"`
}

func lintDatabase(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	level := inv.flags.String("level", "warning", "least `level` to print: warning or error")
	failOn := inv.flags.String("fail-on", "none", "`level` at which the command fails: none, warning or error")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if !slices.Contains([]string{"warning", "error"}, *level) ||
		!slices.Contains([]string{"none", "warning", "error"}, *failOn) {
		return usagef("--level is warning or error, --fail-on is none, warning or error")
	}
	conn, err := f.connect(ctx, inv)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	schemas, err := f.schemasOf(ctx, conn)
	if err != nil {
		return err
	}
	results, err := lint(ctx, conn, schemas)
	if err != nil {
		return err
	}
	failed := false
	results = slices.DeleteFunc(results, func(r lintResult) bool { return len(r.Issues) == 0 })
	for i := range results {
		results[i].Issues = slices.DeleteFunc(results[i].Issues, func(issue lintIssue) bool {
			isError := strings.HasPrefix(issue.Level, "error")
			failed = failed || *failOn == "warning" || *failOn == "error" && isError
			return *level == "error" && !isError
		})
	}
	if len(results) == 0 {
		fmt.Fprintln(inv.Stderr, "No schema errors found")
		return nil
	}
	e := json.NewEncoder(inv.Stdout)
	e.SetIndent("", "  ")
	if err := e.Encode(results); err != nil {
		return err
	}
	if failed {
		return errors.New("the functions have issues")
	}
	return nil
}

// lint checks the functions of the schemas in a transaction that is rolled back.
func lint(ctx context.Context, conn *pgx.Conn, schemas []string) (results []lintResult, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	var available bool
	if err := tx.QueryRow(ctx,
		`select exists (select from pg_available_extensions where name = 'plpgsql_check')`).Scan(&available); err != nil {
		return nil, err
	}
	if !available {
		return nil, missingExtension("plpgsql_check")
	}
	if _, err := tx.Exec(ctx, `create extension if not exists plpgsql_check with schema extensions`); err != nil {
		return nil, err
	}
	var schema string // a project may have created the extension elsewhere
	if err := tx.QueryRow(ctx,
		`select extnamespace::regnamespace::text from pg_extension where extname = 'plpgsql_check'`).Scan(&schema); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		select n.nspname || '.' || p.proname, (select coalesce(json_agg(report::json), '[]') from `+schema+
		`.plpgsql_check_function(p.oid::regprocedure, format := 'json') as report)
		from pg_proc p join pg_namespace n on n.oid = pronamespace join pg_language l on l.oid = prolang
		where l.lanname = 'plpgsql' and prorettype <> 'trigger'::regtype and prorettype <> 'event_trigger'::regtype and n.nspname = any($1)
			and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`, schemas)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r lintResult, err error) {
		var checked []byte
		if err := row.Scan(&r.Function, &checked); err != nil {
			return r, err
		}
		var reports []struct{ Issues []lintIssue }
		if err := json.Unmarshal(checked, &reports); err != nil {
			return r, err
		}
		for _, report := range reports {
			r.Issues = append(r.Issues, report.Issues...)
		}
		return r, nil
	})
}

func testDatabase(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	var paths []string
	for len(inv.args) > 0 && !strings.HasPrefix(inv.args[0], "-") {
		paths, inv.args = append(paths, inv.args[0]), inv.args[1:]
	}
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	project, err := inv.project()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{filepath.Join(project.dir, "tests")}
	}
	files, err := testFiles(paths)
	if err != nil {
		return err
	}
	conn, err := f.connect(ctx, inv)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var available bool
	if err := conn.QueryRow(ctx,
		`select exists (select from pg_available_extensions where name = 'pgtap')`).Scan(&available); err != nil {
		return err
	}
	if !available {
		return missingExtension("pgtap")
	}
	if _, err := conn.Exec(ctx, `create extension if not exists pgtap with schema extensions`); err != nil {
		return err
	}
	failed := 0
	for _, file := range files {
		report, err := runTAP(ctx, conn, file)
		switch {
		case err != nil:
			failed++
			fmt.Fprintf(inv.Stdout, "%s .. error: %v\n", file, err)
		case report.failed > 0 || report.planned != report.run:
			failed++
			fmt.Fprintf(inv.Stdout, "%s .. %d of %d tests failed, %d planned\n%s\n", file, report.failed, report.run,
				report.planned, strings.Join(report.lines, "\n"))
		default:
			fmt.Fprintf(inv.Stdout, "%s .. ok\n", file)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files failed", failed, len(files))
	}
	fmt.Fprintf(inv.Stdout, "All tests successful.\nFiles=%d\n", len(files))
	return nil
}

// testFiles returns the SQL files of the paths and of the folders below them.
func testFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && (strings.HasSuffix(name, ".sql") || strings.HasSuffix(name, ".pg")) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no tests in %s", strings.Join(paths, ", "))
	}
	return files, nil
}

// tapReport is the result of a file in the Test Anything Protocol.
type tapReport struct {
	planned, run, failed int
	lines                []string // failed tests and diagnostics
}

// runTAP runs a file in a session with its own settings and reads the rows as lines of the Test
// Anything Protocol.
func runTAP(ctx context.Context, conn *pgx.Conn, file string) (r tapReport, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	defer func() {
		_, e := conn.Exec(context.WithoutCancel(ctx), `rollback; reset all; reset role`)
		err = errors.Join(err, e)
	}()
	if _, err := conn.Exec(ctx, `set search_path = "$user", public, extensions`); err != nil {
		return r, err
	}
	for _, statement := range migrate.Statements(string(text)) {
		results, err := conn.PgConn().Exec(ctx, statement).ReadAll()
		if err != nil {
			return r, err
		}
		for _, result := range results {
			for _, row := range result.Rows {
				if len(row) == 1 {
					r.read(string(row[0]))
				}
			}
		}
	}
	return r, nil
}

// read counts the lines of a row.
func (r *tapReport) read(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		var n int
		switch {
		case strings.HasPrefix(line, "1.."):
			if _, err := fmt.Sscanf(line, "1..%d", &n); err == nil {
				r.planned = n
			}
		case strings.HasPrefix(line, "ok "):
			r.run++
		case strings.HasPrefix(line, "not ok "):
			r.run++
			if !strings.Contains(line, "# TODO") {
				r.failed++
			}
			r.lines = append(r.lines, line)
		case strings.HasPrefix(line, "#"):
			r.lines = append(r.lines, line)
		}
	}
}
