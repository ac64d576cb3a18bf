// Package weeklydigest sends the administrators every Monday the number of reports of the last
// week, by product and by region. Only functions.All imports it.
package weeklydigest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// Func runs on its schedule only; clients cannot call it.
var Func = edge.Func{Schedule: "0 6 * * 1", Run: run}

// enough is the minimum number of reports of a product that the digest names. The name is typed
// text and the digest is sent by mail: a name from one or two reports could identify the reporter.
const enough = 3

// count is a group of reports.
type count struct {
	Name string
	N    int
}

func run(ctx context.Context, env *edge.Env) error {
	end := weekEnd(env.Now())
	return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		var total, open int
		const totals = `
select count(*) filter (where created_at >= $1::timestamptz - interval '7 days'),
       count(*) filter (where status in ('new', 'reviewing'))
  from public.reports where created_at < $1`
		if err := tx.QueryRow(ctx, totals, end).Scan(&total, &open); err != nil {
			return err
		}
		if total == 0 && open == 0 {
			return nil
		}
		products, err := counts(ctx, tx, `
select mode() within group (order by btrim(product_name)), count(*)::int
  from public.reports
 where created_at >= $1::timestamptz - interval '7 days' and created_at < $1
 group by lower(btrim(product_name)) having count(*) >= $2
 order by 2 desc, 1 limit 20`, end, enough)
		if err != nil {
			return err
		}
		regions, err := counts(ctx, tx, `
select coalesce(region, 'not given or not recognised'), count(*)::int
  from public.reports
 where created_at >= $1::timestamptz - interval '7 days' and created_at < $1
 group by 1 order by 2 desc, 1`, end)
		if err != nil {
			return err
		}
		return env.Notify(ctx, tx, digest(end, total, open, products, regions))
	})
}

// weekEnd returns the end of the week to report: the last scheduled time before now. A late or
// repeated digest therefore counts the same reports, and each report is in one digest. The
// scheduler may start a second early.
func weekEnd(now time.Time) time.Time {
	now = now.UTC().Add(time.Second)
	sinceMonday := (int(now.Weekday()) + 6) % 7
	end := time.Date(now.Year(), now.Month(), now.Day()-sinceMonday, 6, 0, 0, 0, time.UTC)
	if end.After(now) {
		return end.AddDate(0, 0, -7)
	}
	return end
}

func counts(ctx context.Context, tx pgx.Tx, q string, args ...any) ([]count, error) {
	rows, err := tx.Query(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[count])
}

// digest returns the notification with the counts.
func digest(end time.Time, total, open int, products, regions []count) edge.Notice {
	facts := []edge.Fact{
		{Name: "Reports in the seven days before " + end.Format("2006-01-02 15:04 MST"), Value: strconv.Itoa(total)},
		{Name: "Reports that wait for a decision", Value: strconv.Itoa(open)},
	}
	rest := total
	for _, p := range products {
		facts = append(facts, edge.Fact{Name: "Product " + p.Name, Value: strconv.Itoa(p.N)})
		rest -= p.N
	}
	if rest > 0 {
		facts = append(facts, edge.Fact{Name: fmt.Sprintf("Products reported fewer than %d times", enough),
			Value: strconv.Itoa(rest)})
	}
	for _, r := range regions {
		facts = append(facts, edge.Fact{Name: "Region " + r.Name, Value: strconv.Itoa(r.N)})
	}
	return edge.Notice{Kind: "digest.weekly", Title: fmt.Sprintf("Product reports of the week: %d", total),
		Facts: facts}
}
