package host

import (
	"context"
	_ "embed"
	"fmt"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// migrateLock is the advisory lock under which replicas create the schema in turn.
const migrateLock = 0x65646765_66

// Migrate creates schema edge_functions, where the hosts of an installation keep the keys and
// counters they share, unless it exists. Call it as role postgres and before the project's
// migrations. If the schema exists it writes nothing, so that a start on a full disk succeeds.
func Migrate(ctx context.Context, conn *pgx.Conn) error {
	var exists bool
	const complete = `select to_regprocedure('edge_functions.count_request(text, text, integer, interval)') is not null`
	if err := conn.QueryRow(ctx, complete).Scan(&exists); err != nil || exists {
		return err
	}
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return fmt.Errorf("schema edge_functions: %w", err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, int64(migrateLock))
	if _, err := conn.Exec(ctx, schema); err != nil {
		return fmt.Errorf("schema edge_functions: %w", err)
	}
	return nil
}

// Sweep deletes the counters of finished windows and the salts of past days. Run it every hour.
func (h *Host) Sweep(ctx context.Context) error {
	now := h.Now()
	return h.services.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		for _, q := range []string{
			`delete from edge_functions.request_limits where started_at < $1::timestamptz - interval '1 day'`,
			`delete from edge_functions.daily_salts where day < ($1::timestamptz at time zone 'UTC')::date`,
		} {
			if _, err := tx.Exec(ctx, q, now); err != nil {
				return err
			}
		}
		return nil
	})
}
