package changes

import (
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

const (
	checkTimeout = "5000" // how long, in milliseconds, a statement of a check may take
	lockTimeout  = "1000" // how long, in milliseconds, it waits for a lock
)

// limited is a caller whose statements end after some time.
var limited = pool.Caller{Settings: []pool.Setting{{Name: "statement_timeout", Value: checkTimeout}}}

// asInLog is limited with the forms of values that the replication connection has.
var asInLog = pool.Caller{Settings: []pool.Setting{
	{Name: "statement_timeout", Value: checkTimeout}, {Name: "TimeZone", Value: "UTC"},
	{Name: "DateStyle", Value: "ISO, YMD"}, {Name: "IntervalStyle", Value: "postgres"},
	{Name: "extra_float_digits", Value: "1"}, {Name: "bytea_output", Value: "hex"},
}}

// queueLimits queues the statement that limits the time of the next ones.
func queueLimits(queries *pgx.Batch) {
	queries.Queue(`select set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
		checkTimeout, lockTimeout)
}

// isQueryError reports whether the server refused a statement, as opposed to not being available.
func isQueryError(err error) bool {
	_, ok := pool.AsPgError(err)
	return ok && !pool.IsUnavailable(err) && !isLocked(err)
}

// isLocked reports whether a statement waited too long for a lock, which a schema change can hold.
// The batch is tried again then.
func isLocked(err error) bool { return pool.IsCode(err, "55P03") }
