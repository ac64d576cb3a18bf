package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// The connection is cut after an eighth of the messages of each migration, at random, or with
// LONG=1 after every message. Recorded steps must be complete, other steps must leave nothing,
// and running again must finish the work.
func TestConnectionLossAtAnyMessage(t *testing.T) {
	site := os.DirFS("../../..")
	apply := func(ctx context.Context, conn *pgx.Conn) error {
		_, err := migrate.Apply(ctx, conn, site)
		return err
	}
	t.Run("site", func(t *testing.T) {
		t.Parallel()
		all, err := migrate.Read(site)
		if err != nil {
			t.Fatal(err)
		}
		// The expected state after each number of migrations.
		ref := testdb.New(t)
		states := []string{fingerprint(t, ref)}
		for i := range all {
			if _, err := migrate.Apply(t.Context(), ref.Conn("postgres"), firstN{site, i + 1}); err != nil {
				t.Fatal(err)
			}
			states = append(states, fingerprint(t, ref))
		}
		cutAnywhere(t, testdb.New(t), "postgres", `supabase_migrations.schema_migrations`, states, apply)
	})
	t.Run("platform", func(t *testing.T) {
		t.Parallel()
		files, err := fs.Glob(migrate.PlatformFiles(), "platform/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		ref := testdb.NewEmpty(t)
		states := []string{fingerprint(t, ref)}
		for i := range files {
			var later []string
			for _, f := range files[i+1:] {
				later = append(later, f[len("platform/"):])
			}
			if err := migrate.Platform(t.Context(), ref.Conn("supabase_admin"), later...); err != nil {
				t.Fatal(err)
			}
			states = append(states, fingerprint(t, ref))
		}
		cutAnywhere(t, testdb.NewEmpty(t), "supabase_admin", `daawo.platform`, states,
			func(ctx context.Context, conn *pgx.Conn) error {
				return migrate.Platform(ctx, conn)
			})
	})
}

// cutAnywhere calls apply repeatedly. Each call may send more messages than the last, until the
// ledger records another step; then the count starts again.
func cutAnywhere(t *testing.T, db *testdb.DB, role, ledger string, states []string,
	apply func(context.Context, *pgx.Conn) error) {
	more := func() int { return 1 + rand.IntN(15) }
	if os.Getenv("LONG") != "" {
		more = func() int { return 1 }
	}
	done, cuts := 0, 0
	for messages := more(); ; messages += more() {
		if messages > 400 {
			t.Fatalf("no progress after step %d", done)
		}
		err := withCut(t, db.URL(role), messages, apply)
		now := recorded(t, db, ledger)
		if got := fingerprint(t, db); got != states[now] {
			t.Fatalf("cut after %d messages: the schema does not match the %d recorded steps", messages, now)
		}
		if err == nil {
			if now != len(states)-1 {
				t.Errorf("%d steps recorded, want %d", now, len(states)-1)
			}
			break
		}
		cuts++
		if now > done {
			done, messages = now, 0
		}
	}
	t.Logf("%d cuts", cuts)
	if cuts < len(states) {
		t.Error("fewer cuts than steps")
	}
}

var errCut = errors.New("cut")

// cutConn is a connection that breaks after a number of messages.
type cutConn struct {
	net.Conn
	left *atomic.Int64 // atomic: pgx cancels from another goroutine, over a second connection
}

func (c cutConn) Write(b []byte) (int, error) {
	if c.left.Add(-1) < 0 {
		c.Conn.Close()
		return 0, errCut
	}
	return c.Conn.Write(b)
}

func withCut(t *testing.T, url string, messages int, f func(context.Context, *pgx.Conn) error) error {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	left.Store(1 << 30) // no cut while connecting
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return cutConn{c, &left}, err
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	left.Store(int64(messages))
	err = f(t.Context(), conn)
	left.Store(1 << 30)
	return err
}

func recorded(t *testing.T, db *testdb.DB, ledger string) int {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, db.URL("supabase_admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// Take the migration lock to wait until the cut session has ended.
	var n int
	err = conn.QueryRow(ctx, fmt.Sprintf(`
		select case when to_regclass('%s') is null then '0'
		       else (xpath('//n/text()', query_to_xml('select count(*) as n from %[1]s', false, true, '')))[1]::text end::int
		from pg_advisory_lock(%[2]d)`, ledger, 0x646161776f)).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// firstN is a project with its first n migrations only.
type firstN struct {
	fs.FS
	n int
}

func (f firstN) Glob(pattern string) ([]string, error) {
	all, err := fs.Glob(f.FS, pattern)
	return all[:min(f.n, len(all))], err
}

// fingerprint describes everything that migrations create: relations, columns,
// constraints, functions, policies, triggers, grants, comments, buckets.
func fingerprint(t *testing.T, db *testdb.DB) string {
	t.Helper()
	return testdb.Value[string](db, `
		with described as (
			select format('%s %s %s %s', c.oid::regclass, c.relkind, c.relacl, c.relrowsecurity) as d
			from pg_class c where c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and c.relkind in ('r','v','m','S','i','p')
			  and not c.relnamespace::regnamespace::text ~ '^(pg_toast|daawo|supabase_migrations)'
			union all
			select format('%s.%s %s %s', a.attrelid::regclass, a.attname, a.atttypid::regtype, a.attnotnull)
			from pg_attribute a join pg_class c on c.oid = a.attrelid
			where c.relnamespace::regnamespace::text in ('public', 'private', 'auth', 'storage') and a.attnum > 0
			union all
			select format('%s %s', conname, pg_get_constraintdef(oid)) from pg_constraint
			where connamespace::regnamespace::text in ('public', 'private', 'auth', 'storage')
			union all
			select format('%s %s %s', p.oid::regprocedure, md5(p.prosrc), p.proacl) from pg_proc p
			where p.pronamespace::regnamespace::text in ('public', 'private', 'auth', 'storage', 'extensions')
			union all
			select p::text from pg_policies p
			union all
			select tgrelid::regclass || ' ' || tgname from pg_trigger where not tgisinternal
			union all
			select extname from pg_extension
			union all
			select evtname from pg_event_trigger
			union all
			select nspname || ' ' || coalesce(nspacl::text, '') from pg_namespace where nspname not like 'pg_%' and nspname not in ('daawo', 'supabase_migrations')
			union all
			select d.description from pg_description d where objoid >= 16384 and d.description not like '%files of the platform schema%'
			union all
			select defaclrole::regrole || ' ' || defaclnamespace::regnamespace || ' ' || defaclacl::text from pg_default_acl
			union all
			select case when to_regclass('storage.buckets') is null then null
			       else query_to_xml('select id, name, public, file_size_limit, allowed_mime_types from storage.buckets order by id', true, true, '')::text end
		)
		select coalesce(md5(string_agg(d, e'\n' order by d)), '') from described`)
}
