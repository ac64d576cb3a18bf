package doctor

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/engine/realtime/bus"
)

// natsTimeout is how long the doctor waits for NATS.
const natsTimeout = 5 * time.Second

// realtime checks what the Realtime engine needs.
func (c *checker) realtime(ctx context.Context, conn *pgx.Conn) error {
	if err := c.slots(ctx, conn); err != nil {
		return err
	}
	if c.Config.RealtimeURL != "" || !c.Config.Realtime.Enabled {
		return nil
	}
	var level string
	var free int
	err := conn.QueryRow(ctx, `
		select current_setting('wal_level'),
		       current_setting('max_replication_slots')::int - (select count(*) from pg_replication_slots)`).Scan(&level, &free)
	if err != nil {
		return err
	}
	switch {
	case level != "logical":
		c.say("realtime", Bad, "wal_level is %s, so clients get no changes of rows and no broadcasts from the database: set wal_level = logical and restart Postgres", level)
	case free < 1:
		c.say("realtime", Warn, "no replication slot is free: raise max_replication_slots, or drop a slot that is not used")
	default:
		c.say("realtime", Good, "changes of rows can be read; %d replication slots are free", free)
	}
	c.nats(ctx)
	return nil
}

// slots warns of replication slots that keep the write-ahead log for a program that does not run.
// The slots of this server are temporary and end with its connection.
func (c *checker) slots(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `
		select slot_name::text, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))
		from pg_replication_slots where not active and not temporary and restart_lsn is not null and not pg_is_in_recovery()`)
	if err != nil {
		return err
	}
	var name, size string
	_, err = pgx.ForEachRow(rows, []any{&name, &size}, func() error {
		c.say("database", Warn, "replication slot %s is not in use and keeps %s of the write-ahead log: if its program is gone, select pg_drop_replication_slot('%s')", name, size, name)
		return nil
	})
	return err
}

// nats checks the connection between several servers.
func (c *checker) nats(ctx context.Context) {
	if c.Config.NATSURL == "" {
		return
	}
	b, err := bus.DialNATS(bus.NATSOptions{URL: c.Config.NATSURL, Prefix: "doctor", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		c.say("NATS", Bad, "%v", err)
		return
	}
	defer b.Close()
	for end := time.Now().Add(natsTimeout); ; {
		if err = b.Ready(); err == nil {
			c.say("NATS", Good, "carries broadcasts and presence between servers")
			return
		}
		if time.Now().After(end) || ctx.Err() != nil {
			c.say("NATS", Bad, "does not answer, so clients of other servers get no broadcasts: %v", err)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
