package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/schemadiff"
)

var databaseCommand = Command{
	Name:  "db",
	Short: "Dump, compare, reset and check the database",
	Long: `
The commands of the official CLI that need Docker there. They use the running server's database, or --db-url.
reset deletes the rows, users and files of the database before; it works with and without a running server.

  daawo db diff -f add_prices
  daawo db dump --db-url postgresql://… -f schema.sql`,
	Verbs: []Command{
		{Name: "dump", Args: "[FLAGS]",
			Short: "Print the statements that create the project's schemas, or the rows or roles", Run: dumpDatabase},
		{Name: "diff", Args: "[FLAGS]",
			Short: "Print what turns a database with the project's migrations into this one", Run: diffDatabase},
		{Name: "pull", Args: "[NAME] [FLAGS]",
			Short: "Write a migration with the differences to a database, and record it there", Run: pullDatabase},
		{Name: "push", Args: "[FLAGS]", Short: "Apply pending migrations to a database", Run: pushDatabase},
		{Name: "reset", Args: "[FLAGS]",
			Short: "Build a new database with the migrations and the seed, and switch to it if all succeed",
			Run:   resetDatabase},
		{Name: "lint", Args: "[FLAGS]", Short: "Check functions with plpgsql_check, where the server has it",
			Run: lintDatabase},
		{Name: "test", Args: "[PATH…] [FLAGS]",
			Short: "Run the tests in supabase/tests with pgTAP, where the server has it", Run: testDatabase},
		{Name: "query", Args: "[STATEMENTS] [FLAGS]", Short: "The same as daawo sql", Run: runSQL},
		{Name: "start", Args: "[FLAGS]", Short: "The same as daawo start --detach", Run: startDatabase},
	},
}

// databaseFlags are the flags that the commands share.
type databaseFlags struct {
	url, file, schemas *string
	local, linked      *bool
}

func newDatabaseFlags(inv *Invocation) databaseFlags {
	inv.dataFlag()
	f := databaseFlags{
		url:     inv.flags.String("db-url", "", "database `URL` (default: the running server's)"),
		local:   inv.flags.Bool("local", false, "use the running server (the default)"),
		linked:  inv.flags.Bool("linked", false, "not supported; use --db-url"),
		schemas: inv.flags.String("schema", "", "`schemas`, separated by commas (default: all of the project)"),
	}
	inv.flags.StringVar(f.schemas, "s", "", "the same as --schema")
	inv.flags.Var(remoteFlag{func(url string) { *f.url = url }}, "remote",
		"the same as --db-url `URL`, in version 3 of the official CLI")
	return f
}

// fileFlag declares -f and --file.
func (f *databaseFlags) fileFlag(inv *Invocation, usage string) {
	f.file = inv.flags.String("file", "", usage)
	inv.flags.StringVar(f.file, "f", "", "the same as --file")
}

// address returns the URL of the database that the flags select.
func (f databaseFlags) address(ctx context.Context, inv *Invocation) (string, error) {
	if *f.linked {
		return "", usagef("--linked: there is no linked project; use --db-url with the connection string of the project")
	}
	if *f.url != "" {
		return *f.url, nil
	}
	info, err := inv.status(ctx)
	return info.Get("DB_URL"), err
}

// connect opens the database that the flags select.
func (f databaseFlags) connect(ctx context.Context, inv *Invocation) (*pgx.Conn, error) {
	url, err := f.address(ctx, inv)
	if err != nil {
		return nil, err
	}
	return pool.Connect(ctx, url)
}

// schemasOf returns the schemas of --schema, or the project's schemas in a database.
func (f databaseFlags) schemasOf(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	if *f.schemas == "" {
		return schemadiff.Schemas(ctx, conn)
	}
	return strings.Split(*f.schemas, ","), nil
}

// objects reads the objects of the selected schemas. Extensions count only if no schema is
// selected.
func (f databaseFlags) objects(ctx context.Context, conn *pgx.Conn) ([]schemadiff.Object, error) {
	schemas, err := f.schemasOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	return schemadiff.Read(ctx, conn, schemas)
}

// withShadow calls work with a new database. With migrations it has the project's.
func withShadow(ctx context.Context, inv *Invocation, migrations bool, work func(*pgx.Conn) error) error {
	c, err := inv.config()
	if err != nil {
		return err
	}
	project, err := inv.project()
	if err != nil {
		return err
	}
	return database.Shadow(ctx,
		app.Options{Config: c, Project: project.files, Postgres: inv.Postgres, Getenv: inv.Getenv,
			Log: inv.log(c)}, migrations, work)
}

// openOutput opens the file, or returns the standard output if name is "".
func openOutput(inv *Invocation, name string) (io.Writer, func() error, error) {
	if name == "" {
		return inv.Stdout, func() error { return nil }, nil
	}
	file, err := CreatePrivate(name) // rows are personal data
	if err != nil {
		return nil, nil, err
	}
	return file, file.Close, nil
}

func dumpDatabase(ctx context.Context, inv *Invocation) (err error) {
	f := newDatabaseFlags(inv)
	f.fileFlag(inv, "`file` to write (default: the standard output)")
	data := inv.flags.Bool("data-only", false, "dump rows, also of auth and storage, instead of the schema")
	inv.ignore([]string{"keep-comments"})
	inv.passwordFlag()
	roles := inv.flags.Bool("role-only", false, "dump roles instead of the schema")
	copied := inv.flags.Bool("use-copy", false, "dump rows as COPY, for psql, instead of INSERT")
	exclude := inv.flags.String("exclude", "",
		"`tables` without rows in the dump, as schema.table, separated by commas")
	inv.flags.StringVar(exclude, "x", "", "the same as --exclude")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if *data && *roles {
		return usagef("--data-only and --role-only exclude each other")
	}
	conn, err := f.connect(ctx, inv)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	out, closeFile, err := openOutput(inv, *f.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	if *roles {
		return schemadiff.WriteRoles(ctx, conn, out)
	}
	if *data {
		schemas, err := f.schemasOf(ctx, conn)
		if err != nil {
			return err
		}
		if *f.schemas == "" {
			schemas = append([]string{"auth", "storage"}, schemas...)
		}
		return schemadiff.WriteData(ctx, conn, out,
			schemadiff.DataOptions{Schemas: schemas, Exclude: strings.Split(*exclude, ","), Copy: *copied})
	}
	objects, err := f.objects(ctx, conn)
	if err != nil {
		return err
	}
	return schemadiff.Write(out, objects)
}

func diffDatabase(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	f.fileFlag(inv, "`name` of a migration to write (default: print the statements)")
	inv.ignore([]string{"use-migra", "use-pgadmin", "use-pg-delta", "strict-coverage"})
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	conn, err := f.connect(ctx, inv)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	statements, err := f.difference(ctx, inv, conn)
	if err != nil {
		return err
	}
	if len(statements) == 0 {
		fmt.Fprintln(inv.Stderr, "No schema changes found")
		return nil
	}
	if lost := schemadiff.Losses(statements); len(lost) > 0 {
		fmt.Fprintf(inv.Stderr, "check these statements, which delete rows or values, also after a mere change of a name:"+
			"\n  %s\n", strings.Join(lost, "\n  "))
	}
	text := strings.Join(statements, "\n\n") + "\n"
	if *f.file == "" {
		_, err := io.WriteString(inv.Stdout, text)
		return err
	}
	version, err := writeMigration(inv, *f.file, text)
	if err == nil {
		fmt.Fprintf(inv.Stderr, "this database has the changes already, and the next start would apply them again: run `%[1]s db reset`, which removes the rows, "+
			"or `%[1]s migration repair --status applied %[2]s`, which keeps them\n", inv.Name, version)
	}
	return err
}

// difference returns the statements that turn a database with the project's migrations into the one
// of conn.
func (f databaseFlags) difference(ctx context.Context, inv *Invocation, conn *pgx.Conn) (statements []string,
	err error) {
	after, err := f.objects(ctx, conn)
	if err != nil {
		return nil, err
	}
	err = withShadow(ctx, inv, true, func(shadow *pgx.Conn) error {
		before, err := f.objects(ctx, shadow)
		statements = schemadiff.Diff(before, after)
		return err
	})
	return statements, err
}

func pullDatabase(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	inv.flags.BoolVar(&inv.yes, "yes", false, "record the migration in the database without asking")
	inv.ignore([]string{"strict-coverage"}, "diff-engine")
	inv.passwordFlag()
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	name := "remote_schema"
	if len(inv.args) == 1 {
		name = cmp.Or(inv.args[0], name)
	}
	conn, err := f.connect(ctx, inv)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	statements, err := f.difference(ctx, inv, conn)
	if err != nil {
		return err
	}
	if len(statements) == 0 {
		fmt.Fprintln(inv.Stderr, "No schema changes found")
		return nil
	}
	text := strings.Join(statements, "\n\n") + "\n"
	version, err := writeMigration(inv, name, text)
	if err != nil {
		return err
	}
	if !inv.Confirm(ctx, "Record this migration as applied in the database?") {
		return nil
	}
	return recordMigration(ctx, conn, version, name, statements)
}
