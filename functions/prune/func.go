// Package prune deletes expired data every hour: photos without a report, closed reports after the
// configured number of days, idempotency keys after 30 days, and the counters and salts of the rate
// limits.
// Only functions.All imports it.
package prune

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// Func runs on its schedule only; clients cannot call it.
var Func = edge.Func{Schedule: "7 * * * *", Run: run}

// batch is the number of photos per delete request to the storage service, and of reports per
// transaction.
const batch = 500

func run(ctx context.Context, env *edge.Env) error {
	// A failure of one does not stop the others. The reports come first, so that
	// their photos go with them.
	reports, reportsErr := pruneReports(ctx, env)
	photos, photosErr := prunePhotos(ctx, env)
	records, recordsErr := pruneRecords(ctx, env)
	jobsErr := errors.Join(moveOldJobs(ctx, env), recount(ctx, env))
	env.Log.InfoContext(ctx, "pruned", "photos", photos, "reports", reports, "records", records)
	return errors.Join(photosErr, reportsErr, recordsErr, jobsErr)
}

// prunePhotos deletes photos that have had no report for a day, those that have lost their place,
// and those of reports that were deleted. It calls the storage service, which owns the files. Old
// photos lose their place first, so that no report takes one while its file is deleted.
func prunePhotos(ctx context.Context, env *edge.Env) (deleted int, err error) {
	const q = `
select o.name
  from storage.objects as o
 where o.bucket_id = 'report-photos'
   and (o.created_at < $1 and not exists (select from private.waiting_photos as w where w.name = o.name and not w.evicted)
        or o.name in (select p.name from private.photos_to_remove as p)
        or o.name in (select w.name from private.waiting_photos as w where w.evicted))
   and not exists (select from public.reports as r where r.photo_url = o.name)
 order by o.created_at
 limit $2`
	before := env.Now().Add(-24 * time.Hour)
	err = env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select private.expire_waiting_photos($1)`, before)
		return err
	})
	if err != nil {
		return 0, err
	}
	for {
		var names []string
		err := env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, q, before, batch)
			if err != nil {
				return err
			}
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		if err != nil || len(names) == 0 {
			return deleted, err
		}
		if err := env.Remove(ctx, "report-photos", names); err != nil {
			return deleted, err
		}
		deleted += len(names)
		if len(names) < batch {
			return deleted, nil
		}
	}
}

// pruneReports deletes closed reports that have not changed for REPORTS_KEEP_DAYS; prunePhotos
// deletes their photos. Without the variable it keeps all reports. The database computes the age.
func pruneReports(ctx context.Context, env *edge.Env) (deleted int64, err error) {
	set := env.Get("REPORTS_KEEP_DAYS")
	if set == "" {
		return 0, nil
	}
	days, err := strconv.Atoi(set)
	if err != nil || days < 30 {
		return 0, fmt.Errorf("REPORTS_KEEP_DAYS is %q: it must be a number of days, at least 30", set)
	}
	const why = `select set_config('app.actor', 'scheduled clean-up', true), set_config('app.reason', 'closed and unchanged for REPORTS_KEEP_DAYS', true)`
	// The conditions outside the list of ids keep a report that was reopened since.
	const old = `
delete from public.reports as r
 where r.status = 'closed' and r.updated_at < now() - make_interval(days => $1)
   and r.id in (select o.id from public.reports as o
                 where o.status = 'closed' and o.updated_at < now() - make_interval(days => $1) limit $2)`
	for {
		var n int64
		err := env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, why); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, old, days, batch)
			n = tag.RowsAffected()
			return err
		})
		if deleted += n; err != nil || n == 0 {
			return deleted, err
		}
	}
}

// pruneRecords deletes expired idempotency keys, counters and salts.
func pruneRecords(ctx context.Context, env *edge.Env) (deleted int64, err error) {
	now := env.Now()
	err = env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		for _, q := range []string{
			`delete from private.idempotency_keys where expires_at <= $1`,
			`update public.reports set idempotency_key = null where idempotency_key is not null and created_at < $1::timestamptz - interval '30 days'`,
			`delete from private.photos_to_remove as p where p.since < $1 and not exists (
			   select from storage.objects as o where o.bucket_id = 'report-photos' and o.name = p.name)`,
		} {
			tag, err := tx.Exec(ctx, q, now)
			if err != nil {
				return err
			}
			deleted += tag.RowsAffected()
		}
		return nil
	})
	return deleted, err
}

// recount corrects the list of waiting photos, which triggers keep.
func recount(ctx context.Context, env *edge.Env) error {
	return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select private.recount_waiting_photos()`)
		return err
	})
}

// moveOldJobs turns jobs that versions before 2026-11-22 stored for the cleaning of photos into
// jobs of submit-report.
func moveOldJobs(ctx context.Context, env *edge.Env) error {
	return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
update river.river_job
   set kind = 'function_job', queue = 'function',
       args = jsonb_build_object('function', 'submit-report', 'job', 'clean-photo', 'args', jsonb_build_object('name', args ->> 'name'))
 where kind = 'clean_photo' and state in ('available', 'retryable', 'scheduled')`)
		return err
	})
}
