package app

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// TestShadowOnGivenServer checks that the shadow database is one of the server of DATABASE_URL, has
// the project's migrations, and ends also after an error. The given database stays as it is.
func TestShadowOnGivenServer(t *testing.T) {
	ctx := t.Context()
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	pg, err := server.Start(ctx,
		server.Options{Source: source, Data: filepath.Join(dataFolder(t), "pg"), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(ctx)) })
	if err := pg.SetPasswords(ctx, map[string]string{server.Superuser: "pass"}); err != nil {
		t.Fatal(err)
	}
	given := pg.TCPURL(server.Superuser)
	a := newApp(t, dataFolder(t), map[string]string{"DATABASE_URL": given})
	broken := errors.New("broken")
	err = database.Shadow(ctx, *a.Options, true, func(conn *pgx.Conn) error {
		var name string
		var migrated bool
		if err := conn.QueryRow(ctx, `select current_database(), to_regclass('public.notes') is not null`).Scan(&name,
			&migrated); err != nil {
			return err
		}
		if conn.Config().Port != uint16(pg.Port()) || name == "postgres" || !migrated {
			t.Errorf("port %d, database %s, migrated %v", conn.Config().Port, name, migrated)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := pool.WithConn(ctx, given, func(conn *pgx.Conn) error {
		var left int
		var changed bool
		err := conn.QueryRow(ctx,
			`select count(*), to_regclass('public.notes') is not null from pg_database where datname like 'daawo_shadow%'`).Scan(&left, &changed)
		if left != 0 || changed {
			t.Errorf("%d shadow databases are left; the given one has the migrations: %v", left, changed)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
