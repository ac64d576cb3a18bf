package lead

import (
	"context"

	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// Settings returns the settings whose names begin with prefix and a dot, such as pg_net.ttl: as
// `alter database` and `alter role postgres` set them now, else as the server's configuration does.
func Settings(ctx context.Context, pool *pool.Pool, prefix string) (map[string]string, error) {
	rows, err := pool.Pgx().Query(ctx, `
		select split_part(entry, '=', 1), substr(entry, strpos(entry, '=') + 1)
		from pg_db_role_setting, unnest(setconfig) entry
		where setdatabase in (0, (select oid from pg_database where datname = current_database()))
		  and setrole in (0, (select oid from pg_roles where rolname = 'postgres'))
		  and starts_with(entry, $1 || '.')
		union all
		select name, setting from pg_file_settings where starts_with(name, $1 || '.') and error is null`, prefix)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		if _, taken := all[name]; !taken {
			all[name] = value
		}
		return nil
	})
	return all, err
}

// Installed reports whether the database has the extension in our form, whose
// function, such as net.wake(), is not written in C.
func Installed(ctx context.Context, pool *pool.Pool, extension, function string) (installed bool, err error) {
	err = pool.Pgx().QueryRow(ctx, `
		select exists (
			select from pg_proc p join pg_language l on l.oid = p.prolang
			where p.oid = to_regprocedure($2) and l.lanname in ('sql', 'plpgsql')
			  and exists (select from pg_extension where extname = $1)
		)`, extension, function).Scan(&installed)
	return installed, err
}
