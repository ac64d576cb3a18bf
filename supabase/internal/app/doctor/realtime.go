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
		c.say("realtime", Bad, "level", "wal_level is %s, so clients get no changes of rows and no broadcasts from "+
			"the database: set wal_level = logical and restart Postgres", level)
	case free < 1:
		c.say("realtime", Warn, "no-slot", "no replication slot is free: raise max_replication_slots, or drop a "+
			"slot that is not used")
	default:
		c.say("realtime", Good, "ready", "changes of rows can be read; %d replication slots are free", free)
	}
	c.nats(ctx)
	if err := c.openPartitions(ctx, conn); err != nil || !c.Config.Realtime.Strict {
		return err
	}
	return c.hiddenDeletes(ctx, conn)
}

// openPartitions warns of partitions that a client can read past the policies of their root, by
// their own name. Realtime applies the policies of the root.
func (c *checker) openPartitions(ctx context.Context, conn *pgx.Conn) error {
	return eachTable(ctx, conn, `
		select distinct format('%I.%I', n.nspname, t.relname)
		from pg_class t
		join pg_namespace n on n.oid = t.relnamespace
		join pg_class root on root.oid = pg_partition_root(t.oid) and root.oid <> t.oid
		where t.relispartition and root.relrowsecurity and not t.relrowsecurity
			and (has_table_privilege('anon', t.oid, 'select') or has_table_privilege('authenticated', t.oid, 'select'))
			and n.nspname <> 'realtime'
		order by 1`, func(table string) {
		c.say("realtime", Warn, "partition",
			"the partition %s can be read past the policies of its root: alter table %[1]s enable row level "+
				"security", table)
	})
}

// eachTable warns of each table that a query returns.
func eachTable(ctx context.Context, conn *pgx.Conn, query string, warn func(table string)) error {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return err
	}
	var table string
	_, err = pgx.ForEachRow(rows, []any{&table}, func() error {
		warn(table)
		return nil
	})
	return err
}

// hiddenDeletes warns of tables whose users get no DELETE: their policies read columns that the log
// of a deleted row does not have.
func (c *checker) hiddenDeletes(ctx context.Context, conn *pgx.Conn) error {
	return eachTable(ctx, conn, `
		select distinct format('%I.%I', p.schemaname, p.tablename)
		from pg_publication_tables p
		join pg_class t on t.oid = format('%I.%I', p.schemaname, p.tablename)::regclass
		join pg_policy l on l.polrelid = t.oid and l.polcmd in ('r', '*')
		join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = l.oid
			and d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid and d.refobjsubid > 0
		where p.pubname = 'supabase_realtime' and t.relrowsecurity and t.relreplident = 'd'
			and not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary
				and d.refobjsubid = any (i.indkey))
		order by 1`, func(table string) {
		c.say("realtime", Warn, "deletes",
			"users get no DELETE of %s, because its policies read columns that are not in its primary key: alter "+
				"table %[1]s replica identity full", table)
	})
}

// slots warns of replication slots that keep the write-ahead log for a program that does not run.
func (c *checker) slots(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `
		select slot_name::text, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))
		from pg_replication_slots where not active and not temporary and restart_lsn is not null and not pg_is_in_recovery()`)
	if err != nil {
		return err
	}
	var name, size string
	_, err = pgx.ForEachRow(rows, []any{&name, &size}, func() error {
		c.say("database", Warn, "slot", "replication slot %s is not in use and keeps %s of the write-ahead log: if "+
			"its program is gone, select pg_drop_replication_slot('%[1]s')", name, size)
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
		c.say("NATS", Bad, "error", "%v", err)
		return
	}
	defer b.Close()
	for end := time.Now().Add(natsTimeout); ; {
		if err = b.Ready(); err == nil {
			c.say("NATS", Good, "connected", "carries broadcasts and presence between servers")
			return
		}
		if time.Now().After(end) || ctx.Err() != nil {
			c.say("NATS", Bad, "silent", "does not answer, so clients of other servers get no broadcasts: %v", err)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
