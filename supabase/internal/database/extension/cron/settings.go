package cron

import (
	"context"
	"strconv"
	"time"
	_ "time/tzdata" // cron.timezone works on systems without time zones

	"daawo/supabase/internal/database/extension/lead"
	"daawo/supabase/internal/database/pool"
)

// settings are pg_cron's settings that have a meaning here.
type settings struct {
	installed  bool // our pg_cron; the one in C runs its jobs itself
	zone       *time.Location
	maxRunning int  // runs at the same time
	record     bool // write cron.job_run_details
	bothDays   bool // day and weekday must both match
	paused     bool
}

// defaultRunning is smaller than pg_cron's 32, because each run needs a
// connection, and the embedded Postgres has 70.
const defaultRunning = 8

func (s settings) location() *time.Location {
	if s.zone == nil {
		return time.UTC
	}
	return s.zone
}

func readSettings(ctx context.Context, pool *pool.Pool) (s settings, err error) {
	s.maxRunning, s.record = defaultRunning, true
	if s.installed, err = lead.Installed(ctx, pool, "pg_cron", "cron.job_cache_invalidate()"); err != nil ||
		!s.installed {
		return s, err
	}
	all, err := lead.Settings(ctx, pool, "cron")
	if err != nil {
		return s, err
	}
	if zone, err := time.LoadLocation(all["cron.timezone"]); err == nil {
		s.zone = zone // else UTC, as the default of pg_cron
	}
	if n, err := strconv.Atoi(all["cron.max_running_jobs"]); err == nil && n > 0 {
		s.maxRunning = n
	}
	s.record = flag(all["cron.log_run"], true)
	s.bothDays = flag(all["cron.match_dom_and_dow"], false)
	s.paused = !flag(all["cron.launch_active_jobs"], true)
	return s, nil
}

// flag reads a boolean setting of Postgres.
func flag(text string, otherwise bool) bool {
	switch text {
	case "on", "true", "yes", "1":
		return true
	case "off", "false", "no", "0":
		return false
	}
	return otherwise
}
