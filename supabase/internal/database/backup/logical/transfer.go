package logical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// header is the first entry of an export.
type header struct {
	Format   int                 `json:"format"`
	Time     string              `json:"time"`
	Schemas  map[string][]string `json:"schemas"` // ledger → recorded versions
	Settings map[string]string   `json:"settings"`
	Queues   []queue             `json:"queues,omitempty"`
}

// transferFormat increases when older programs could not read an export.
const transferFormat = 1

// contents is the last entry of an export.
type contents struct {
	Tables    []tableContent   `json:"tables"`
	Sequences map[string]int64 `json:"sequences"` // last_value; absent if the sequence was never used
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

// Object is one version of a storage object.
type Object struct {
	Bucket       string `json:"bucket"`
	Name         string `json:"name"`
	Version      string `json:"version"`
	ContentType  string `json:"content_type"`
	CacheControl string `json:"cache_control"`
}

// Files stores the content of storage objects.
type Files interface {
	// Open returns fs.ErrNotExist if the version does not exist.
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

// ledgers maps each schema to a query of its applied migrations.
var ledgers = map[string]string{
	"site":    `select version from supabase_migrations.schema_migrations`,
	"auth":    `select version from auth.schema_migrations`,
	"storage": `select name from storage.migrations`,
}

// readLedgers returns the content of each ledger. A missing ledger is empty.
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

// sameSchemas returns an error that describes how the schemas of two
// installations differ.
func sameSchemas(theirs, ours map[string][]string) error {
	for _, name := range []string{"site", "auth", "storage"} {
		there, here := missing(ours[name], theirs[name]), missing(theirs[name], ours[name])
		if there == "" && here == "" {
			continue
		}
		if len(ours[name]) == 0 {
			return fmt.Errorf("%w: this installation has no %s schema: run `daawo migrate`", ErrOtherSchema, name)
		}
		return fmt.Errorf("%w: the migrations of the %s schema only in the export: %s; only here: %s: run the same "+
			"release on both sides",
			ErrOtherSchema, name, cmp.Or(there, "none"), cmp.Or(here, "none"))
	}
	return nil
}

// missing lists the versions of all that have does not contain, at most three by name. It ignores
// the order, which depends on the database's collation.
func missing(have, all []string) string {
	var only []string
	for _, version := range all {
		if !slices.Contains(have, version) {
			only = append(only, version)
		}
	}
	slices.Sort(only)
	if more := len(only) - 3; more > 0 {
		only = append(only[:3], fmt.Sprintf("%d more", more))
	}
	return strings.Join(only, ", ")
}

// platformSchemas lists schemas that an export skips, except extensionTables:
// they hold no content, or each installation creates its own (platform, queues
// of jobs, ledgers).
var platformSchemas = []string{
	"information_schema", "extensions", "realtime", "_realtime", "_analytics", "_supavisor", "graphql",
	"graphql_public", "vault", "pgsodium", "pgsodium_masks", "pgbouncer", "net", "cron", "supabase_functions",
	"supabase_migrations", "river", "daawo",
}

// ledgerTables lists the tables that an import does not change: the ledgers, and the marks by which
// storage knows that the files are of this database.
var ledgerTables = []string{"auth.schema_migrations", "storage.migrations", "storage.file_marks"}

// transferTables returns the tables of an export, with their columns except
// generated ones.
func transferTables(ctx context.Context, tx pgx.Tx) ([]tableContent, error) {
	rows, err := tx.Query(ctx, `
		select format('%I.%I', n.nspname, c.relname),
		       array_agg(quote_ident(a.attname) order by a.attname collate "C")
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
		where c.relkind = 'r' and c.relpersistence = 'p'
		  and (format('%I.%I', n.nspname, c.relname) = any ($3)
		    or n.nspname not like 'pg\_%' and n.nspname <> all ($1)
		    and format('%I.%I', n.nspname, c.relname) <> all ($2)
		    and not exists (select from pg_depend d
		        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'))
		group by n.nspname, c.relname
		order by (n.nspname || '.' || c.relname) collate "C"`, platformSchemas, ledgerTables, extensionTables)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t tableContent, err error) {
		err = row.Scan(&t.Name, &t.Columns)
		if t.Name == vaultTable {
			t.Columns = vaultColumns
		}
		return t, err
	})
}

func (t tableContent) columns() string { return strings.Join(t.Columns, ", ") }

// storedObjects returns the object versions in storage's table.
func storedObjects(ctx context.Context, tx pgx.Tx) ([]Object, error) {
	rows, err := tx.Query(ctx, `
		select bucket_id, name, coalesce(version, ''), coalesce(metadata ->> 'mimetype', ''),
			coalesce(metadata ->> 'cacheControl', '')
		from storage.objects
		order by bucket_id collate "C", name collate "C"`) // the same order everywhere
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Object, err error) {
		return o, row.Scan(&o.Bucket, &o.Name, &o.Version, &o.ContentType, &o.CacheControl)
	})
}

// copySettings make COPY's text format independent of the server.
const copySettings = `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
	set local extra_float_digits = 1; set local statement_timeout = 0; set local client_encoding = 'UTF8'`

// isMissing reports whether a statement failed because a table is missing.
func isMissing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P01"
}
