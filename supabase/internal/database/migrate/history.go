package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Record is a migration that a database has recorded.
type Record struct {
	Version, Name string
	Statements    []string // nil if an old release of the official CLI recorded it
}

// History returns the recorded migrations, oldest first. It changes nothing.
func History(ctx context.Context, conn *pgx.Conn) ([]Record, error) {
	var exists bool
	err := conn.QueryRow(ctx, `select to_regclass('supabase_migrations.schema_migrations') is not null`).Scan(&exists)
	if err != nil || !exists {
		return nil, err
	}
	// Old releases of the official CLI made the table without the columns name and statements.
	rows, err := conn.Query(ctx, `
		select version, coalesce(to_jsonb(m)->>'name', ''), to_jsonb(m)->'statements'
		from supabase_migrations.schema_migrations m order by version`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Record, err error) {
		return r, row.Scan(&r.Version, &r.Name, &r.Statements)
	})
}

// Difference lists recorded migrations that are not the project's.
type Difference struct {
	Changed []Migration // the file has other statements than the record
	Missing []Record    // the project has no file
}

// Compare compares the recorded migrations with the project's. It changes nothing.
func Compare(ctx context.Context, conn *pgx.Conn, project fs.FS) (d Difference, err error) {
	all, err := Read(project)
	if err != nil {
		return d, err
	}
	files := map[string]Migration{}
	for _, m := range all {
		files[m.Version] = m
	}
	records, err := History(ctx, conn)
	for _, r := range records {
		m, ok := files[r.Version]
		switch {
		case !ok:
			d.Missing = append(d.Missing, r)
		case r.Statements != nil && essence(r.Statements) != essence(m.Statements):
			d.Changed = append(d.Changed, m)
		}
	}
	return d, err
}

// essence returns statements without white space and semicolons, which each release of the official
// CLI records in another way.
func essence(statements []string) string {
	return strings.Map(func(c rune) rune {
		if c <= ' ' || c == ';' {
			return -1
		}
		return c
	}, strings.Join(statements, ""))
}

// Warnings returns a line for each migration, with what to do.
func (d Difference) Warnings() (lines []string) {
	for _, m := range d.Changed {
		lines = append(lines, m.file+" has changed since it was applied, and the change has no effect: "+
			"write a new migration, or apply all again with `daawo db reset`")
	}
	for _, r := range d.Missing {
		lines = append(lines, fmt.Sprintf("the database has migration %s, but its file is missing: "+
			"restore it with `daawo migration fetch`, or forget it with `daawo migration repair --status reverted %s`",
			strings.TrimSuffix(r.Version+"_"+r.Name, "_"), r.Version))
	}
	return lines
}
