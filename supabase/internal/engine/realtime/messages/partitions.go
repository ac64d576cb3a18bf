package messages

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

const (
	retention  = 72 * time.Hour // messages live at least this long
	daysBefore = 1              // partitions exist from this many days ago
	daysAhead  = 3              // to this many days ahead
	partition  = "messages_2006_01_02"
	day        = 24 * time.Hour
	lockID     = 7_251_904_437 // of the advisory lock that lets one replica at a time change partitions
)

// Maintain creates the partitions of the coming days and drops those whose messages are older than
// 72 hours. Call it at start and every few hours.
func (s *Store) Maintain(ctx context.Context) error {
	today := s.o.Now().UTC().Truncate(day)
	err := s.o.Pool.Tx(ctx, pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			`select set_config('lock_timeout', '5000', true), set_config('client_min_messages', 'warning', true),
				pg_advisory_xact_lock($1)`, lockID); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
			where i.inhparent = 'realtime.messages'::regclass`)
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		return changePartitions(ctx, tx, today, s.o.Now().UTC().Add(-retention).Truncate(day), names)
	})
	if err != nil {
		return fmt.Errorf("partitions of realtime.messages: %w", classify(ctx, err))
	}
	return nil
}

// changePartitions creates the partitions that are missing around today and drops the partitions of
// the days before oldest.
func changePartitions(ctx context.Context, tx pgx.Tx, today, oldest time.Time, names []string) error {
	missing := map[string]time.Time{}
	for n := -daysBefore; n <= daysAhead; n++ {
		date := today.Add(time.Duration(n) * day)
		missing[date.Format(partition)] = date
	}
	var statements []string
	for _, name := range names {
		delete(missing, name)
		if date, err := time.Parse(partition, name); err == nil && date.Before(oldest) {
			statements = append(statements, `drop table if exists realtime.`+pgx.Identifier{name}.Sanitize())
		}
	}
	for name, date := range missing {
		table := `realtime.` + pgx.Identifier{name}.Sanitize()
		statements = append(statements,
			fmt.Sprintf(`create table if not exists %s partition of realtime.messages for values from ('%s') to ('%s')`,
				table, date.Format(time.DateOnly), date.Add(day).Format(time.DateOnly)),
			// A superuser may do this too, as the real Realtime does.
			fmt.Sprintf(`alter table %s owner to supabase_realtime_admin`, table),
			fmt.Sprintf(`grant all on %s to postgres, dashboard_user`, table))
	}
	if len(statements) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, strings.Join(statements, ";\n"))
	return err
}
