package doctor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/database/migrate"
)

func (c *checker) database(ctx context.Context, conn *pgx.Conn) error {
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, `select current_setting($1)`, name).Scan(&value); err != nil {
			return err
		}
		if value == "off" {
			c.say("database", Bad, "unsafe", "%s is off, so acknowledged data can be lost: turn it on", name)
		}
	}
	var version string
	var connections, most int
	var epoch float64 // seconds
	err := conn.QueryRow(ctx, `
		select current_setting('server_version'), (select count(*) from pg_stat_activity where backend_type = 'client backend'),
		       current_setting('max_connections')::int, extract(epoch from clock_timestamp())`).Scan(&version,
		&connections, &most, &epoch)
	if err != nil {
		return err
	}
	c.say("database", Good, "durable", "Postgres %s writes durably; %d of %d connections are in use",
		version, connections, most)
	if off := time.Since(time.UnixMicro(int64(epoch * 1e6))).Abs(); off > 2*time.Second {
		c.say("clock", Warn, "differs", "the database's clock differs from this machine's by %s",
			off.Round(time.Second))
	}
	if err := errors.Join(c.realtime(ctx, conn), c.ownSchemas(ctx, conn), c.indexes(ctx, conn)); err != nil {
		return err
	}
	pending, err := migrate.Pending(ctx, conn, c.Project)
	if err == nil && len(pending) > 0 {
		c.say("database", Warn, "pending", "%d migrations are pending, the first is %s: restart the server, or run "+
			"`daawo migrate`", len(pending), pending[0].Name)
	}
	return err
}

// ownSchemas checks that no other tool has dropped the schemas of this program.
func (c *checker) ownSchemas(ctx context.Context, conn *pgx.Conn) error {
	skip := database.ForeignSchemas(c.Config)
	var creates bool // without superuser, the owner of the database creates the platform
	if err := conn.QueryRow(ctx,
		`select rolsuper or to_regclass('daawo.platform') is not null from pg_roles where rolname = current_user`).Scan(&creates); err != nil {
		return err
	}
	if c.Config.DatabaseURL != "" && !creates {
		skip = append(skip, "07", "20")
	}
	dropped, err := migrate.Dropped(ctx, conn, skip...)
	if err == nil && len(dropped) > 0 {
		c.say("database", Bad, "dropped", "another tool has dropped tables of this program: %s; a running server "+
			"creates them again within seconds; if it does not, its log says why",
			strings.Join(dropped, ", "))
	}
	return err
}
