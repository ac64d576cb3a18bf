package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// An export is one consistent picture of an installation's content that any
// other installation of the same schema can take over, whatever its Postgres
// and its way of running: the site's tables, the accounts with their passwords
// and sessions, and the files. It is a tar of
//
//	header.json      what it is, and the versions of its schemas
//	tables/<name>    rows in COPY's text form
//	files/<n>        one for each version of an object
//	manifest.json    rows, sums and sequences
//
// compressed, and encrypted when a recipient is given.

// header begins an export.
type header struct {
	Format   int                 `json:"format"`
	Time     string              `json:"time"`
	Schemas  map[string][]string `json:"schemas"` // ledger → what it has recorded
	Settings map[string]string   `json:"settings"`
}

// transferFormat is raised when older programs could not read an export.
const transferFormat = 1

// contents ends an export.
type contents struct {
	Tables    []tableContent   `json:"tables"`
	Sequences map[string]int64 `json:"sequences"` // last value given; absent when none was
	Files     []fileContent    `json:"files"`
}

type tableContent struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	SHA256  string   `json:"sha256"`
}

type fileContent struct {
	Object
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Object is one version of an object in storage.
type Object struct {
	Bucket       string `json:"bucket"`
	Name         string `json:"name"`
	Version      string `json:"version"`
	ContentType  string `json:"content_type"`
	CacheControl string `json:"cache_control"`
}

// Files is where storage keeps the bytes of its objects.
type Files interface {
	// Open returns fs.ErrNotExist when there is no such version.
	Open(ctx context.Context, o Object) (r io.ReadCloser, size int64, err error)
	Put(ctx context.Context, o Object, r io.Reader) error
	Delete(ctx context.Context, all ...Object) error
}

// Errors of exports and imports.
var (
	// ErrOtherSchema: the export and the installation have different schemas.
	ErrOtherSchema = errors.New("schemas differ")
	// ErrNotEmpty: the installation has content that an import would replace.
	ErrNotEmpty = errors.New("the installation has content")
)

// ledgers record which migrations a schema has had.
var ledgers = map[string]string{
	"site":    `select version from supabase_migrations.schema_migrations order by version`,
	"auth":    `select version from auth.schema_migrations order by version`,
	"storage": `select name from storage.migrations order by name`,
}

// readLedgers returns what each ledger has; one that does not exist has nothing.
func readLedgers(ctx context.Context, tx pgx.Tx) (map[string][]string, error) {
	all := map[string][]string{}
	for name, sql := range ledgers {
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, sql)
			if err != nil {
				return err
			}
			all[name], err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		if err != nil && !isMissing(err) {
			return nil, err
		}
	}
	return all, nil
}

// sameSchemas says in words how two installations' schemas differ.
func sameSchemas(theirs, ours map[string][]string) error {
	for _, name := range []string{"site", "auth", "storage"} {
		if slices.Equal(theirs[name], ours[name]) {
			continue
		}
		if len(ours[name]) == 0 {
			return fmt.Errorf("%w: there is no %s schema here: `daawo migrate` makes it", ErrOtherSchema, name)
		}
		return fmt.Errorf("%w: the %s schema of the export is at %s and here it is at %s: run the same release on both sides",
			ErrOtherSchema, name, newest(theirs[name]), newest(ours[name]))
	}
	return nil
}

func newest(versions []string) string {
	if len(versions) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s (%d migrations)", versions[len(versions)-1], len(versions))
}

// platformSchemas hold no content of the site or are made anew by each
// installation: roles and functions of the platform, queues, ledgers.
var platformSchemas = []string{
	"information_schema", "extensions", "realtime", "_realtime", "_analytics", "_supavisor", "graphql", "graphql_public",
	"vault", "pgsodium", "pgsodium_masks", "pgbouncer", "net", "cron", "supabase_functions", "supabase_migrations", "river", "daawo",
}

// ledgerTables stay as each installation's own migrations leave them.
var ledgerTables = []string{"auth.schema_migrations", "storage.migrations"}

// transferTables are the tables that an export holds, with their columns but
// those that Postgres computes.
func transferTables(ctx context.Context, tx pgx.Tx) ([]tableContent, error) {
	rows, err := tx.Query(ctx, `
		select format('%I.%I', n.nspname, c.relname),
		       array_agg(quote_ident(a.attname) order by a.attname collate "C")
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
		where c.relkind = 'r' and c.relpersistence = 'p'
		  and n.nspname not like 'pg\_%' and n.nspname <> all ($1)
		  and format('%I.%I', n.nspname, c.relname) <> all ($2)
		  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
		group by n.nspname, c.relname
		order by (n.nspname || '.' || c.relname) collate "C"`, platformSchemas, ledgerTables)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t tableContent, err error) {
		return t, row.Scan(&t.Name, &t.Columns)
	})
}

func (t tableContent) columns() string { return strings.Join(t.Columns, ", ") }

// storedObjects are the versions that storage's rows name.
func storedObjects(ctx context.Context, tx pgx.Tx) ([]Object, error) {
	rows, err := tx.Query(ctx, `
		select bucket_id, name, coalesce(version, ''), coalesce(metadata ->> 'mimetype', ''), coalesce(metadata ->> 'cacheControl', '')
		from storage.objects
		order by bucket_id collate "C", name collate "C"`) // the same order everywhere
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Object, err error) {
		return o, row.Scan(&o.Bucket, &o.Name, &o.Version, &o.ContentType, &o.CacheControl)
	})
}

// copySettings make COPY's text the same everywhere.
const copySettings = `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
	set local extra_float_digits = 1; set local statement_timeout = 0; set local client_encoding = 'UTF8'`
