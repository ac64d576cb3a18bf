package changes

import (
	"context"
	"errors"
	"time"

	"daawo/supabase/internal/database/pool"
)

// The common check of all users waits for each of them only a short time: a policy that needs more
// is checked in a lane of its own.
var (
	commonLimits = limits("250", "100")
	laneLimits   = limits("5000", "1000")
)

const (
	// tableBudget is how long the common check of the users of one table may take, and that of the
	// filters.
	tableBudget = 500 * time.Millisecond
	// batchBudget is how long the common check of the filters and of all tables may take.
	batchBudget = 2 * tableBudget
)

// limitTime returns a context that ends when a part of the common check has no time left.
func (b *batch) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.patient() {
		return ctx, func() {}
	}
	now := time.Now()
	if b.ends.IsZero() {
		b.ends = now.Add(batchBudget)
	}
	ends := now.Add(tableBudget)
	if ends.After(b.ends) {
		ends = b.ends
	}
	return context.WithDeadline(ctx, ends)
}

// limits returns the settings that limit how long a statement may take, and how long it waits for a
// lock, both in milliseconds.
func limits(statement, lock string) []pool.Setting {
	return []pool.Setting{{Name: "statement_timeout", Value: statement}, {Name: "lock_timeout", Value: lock}}
}

// asInLog is limited with the forms of values that the replication connection has.
var asInLog = pool.Caller{Settings: []pool.Setting{
	{Name: "statement_timeout", Value: "5000"}, {Name: "TimeZone", Value: "UTC"},
	{Name: "DateStyle", Value: "ISO, YMD"}, {Name: "IntervalStyle", Value: "postgres"},
	{Name: "extra_float_digits", Value: "1"}, {Name: "bytea_output", Value: "hex"},
}}

// catalogSettings apply to the statements that read the catalogue. Planning them takes eight
// times as long as running them, and another plan for each number of tables gains nothing.
var catalogSettings = append(limits("5000", "1000"), pool.Setting{Name: "plan_cache_mode", Value: "force_generic_plan"})

// isQueryError reports whether the server refused a statement, as opposed to not being available.
func isQueryError(err error) bool {
	_, ok := pool.AsPgError(err)
	return ok && !pool.IsUnavailable(err) && !isLocked(err)
}

// isLocked reports whether a statement waited too long for a lock, which a schema change can hold.
// The batch is tried again then.
func isLocked(err error) bool { return pool.IsCode(err, "55P03") }

// retry calls check until it succeeds, while the database is not available, a lock is held or
// policies change.
func retry(ctx context.Context, check func() error) error {
	for backoff := minBackoff; ; backoff = min(2*backoff, maxBackoff) {
		err := check()
		if err == nil || !pool.IsUnavailable(err) && !errors.Is(err, pool.ErrUnavailable) && !isLocked(err) &&
			!errors.Is(err, errPoliciesChanged) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(backoff):
		}
	}
}
