package migrate

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// own lists tables that stand for the schemas of this program, with the platform file that creates
// the schema.
var own = []struct{ schema, table, file string }{
	{"daawo", "keys", "07_keys.sql"},
	{"river", "river_job", "11_own_schemas.sql"},
	{"edge_functions", "request_limits", "11_own_schemas.sql"},
	{"auth_limits", "buckets", "20_auth_limits.sql"},
}

// Rows is a connection or a pool.
type Rows interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Dropped returns the tables of this program that the database no longer has, as schema.table.
// Another tool has dropped their schemas. skip lists prefixes of platform files, as for Platform.
func Dropped(ctx context.Context, conn Rows, skip ...string) (dropped []string, err error) {
	var names []string
	for _, o := range own {
		if !hasAnyPrefix(o.file, skip) {
			names = append(names, o.schema+"."+o.table)
		}
	}
	err = conn.QueryRow(ctx, `
		select coalesce(array_agg(name order by at), '{}') from unnest($1::text[]) with ordinality as own (name, at)
		where to_regclass(name) is null`, names).Scan(&dropped)
	return dropped, err
}

// forgetDropped removes the platform files whose schemas were dropped from seen.
func forgetDropped(ctx context.Context, conn *pgx.Conn, seen map[string]string) error {
	for _, o := range own {
		name, sql := o.schema, `select to_regnamespace($1) is not null`
		if o.file != "11_own_schemas.sql" { // that file leaves the tables to others
			name, sql = o.schema+"."+o.table, `select to_regclass($1) is not null`
		}
		var exists bool
		if err := conn.QueryRow(ctx, sql, name).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			delete(seen, o.file)
		}
	}
	return nil
}
