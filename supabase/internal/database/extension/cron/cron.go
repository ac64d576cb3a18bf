// Package cron runs the jobs of the extension pg_cron: it reads cron.job, runs
// each job in a connection of its role, and records the runs.
//
// Only app imports it.
package cron

import (
	"context"
	"log/slog"
	"time"

	"daawo/supabase/internal/database/extension/lead"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// Options configure a Worker.
type Options struct {
	// as a superuser, to the database with cron.job
	DB      *pool.Pool
	Connect func(ctx context.Context, role, database string) (*pgx.Conn, error) // for a run
	Log     *slog.Logger
	Now     func() time.Time // nil means time.Now
}

// Worker implements lead.Worker.
type Worker struct{ o Options }

// New returns a worker.
func New(o Options) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Worker{o}
}

// Channel returns the channel that cron.job_cache_invalidate notifies.
func (w *Worker) Channel() string { return "daawo_pg_cron" }

// job is a row of cron.job.
type job struct {
	ID                          int64
	Schedule, Command           string
	Database, Username, Jobname string
	Active                      bool
}

// task is the state of an active job.
type task struct {
	job
	schedule schedule
	last     time.Time // the last minute for which it was decided whether to run
	decided  time.Time // the minute of the last decision, which is before last after the clock was set back
	started  time.Time // of the last run
	pending  int       // runs that are due
	running  bool
	cancel   context.CancelFunc // of the current run
}

// scheduler is the state of Run.
type scheduler struct {
	*Worker
	settings settings
	tasks    map[int64]*task
	running  int
	ended    chan int64
	rebooted bool
	ready    bool // the tables were read successfully
}

// cancelAfter is how long a run may go on after its job was removed. A job that
// removes itself ends within that time.
const cancelAfter = time.Second

// Run schedules jobs until ctx ends. Runs that are under way are cancelled then.
func (w *Worker) Run(ctx context.Context, wake <-chan lead.Wake) {
	s := &scheduler{Worker: w, tasks: map[int64]*task{}, ended: make(chan int64)}
	defer s.drain()
	s.failPending(ctx)
	s.reload(ctx, true)
	for {
		s.startDue(ctx)
		timer := time.NewTimer(s.untilNext())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case id := <-s.ended:
			s.finish(id)
		case wake := <-wake:
			s.reload(ctx, wake.Changed)
		case <-timer.C:
			if !s.ready {
				s.reload(ctx, true)
			}
		}
		timer.Stop()
	}
}

// drain waits for the runs, which end with the context.
func (s *scheduler) drain() {
	for s.running > 0 {
		s.finish(<-s.ended)
	}
}

func (s *scheduler) finish(id int64) {
	s.running--
	if t := s.tasks[id]; t != nil {
		t.running, t.cancel = false, nil
	}
}

// reload reads the jobs, and the settings if they may have changed.
func (s *scheduler) reload(ctx context.Context, changed bool) {
	err := s.read(ctx, changed)
	s.ready = err == nil
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("cron: reading the jobs failed; retrying", "error", err)
	}
}

func (s *scheduler) read(ctx context.Context, changed bool) error {
	if changed {
		var err error
		if s.settings, err = readSettings(ctx, s.o.DB); err != nil {
			return err
		}
	}
	var jobs []job
	if s.settings.installed {
		rows, err := s.o.DB.Pgx().Query(ctx, `
			select jobid as id, schedule, command, database, username, coalesce(jobname, '') as jobname, active
			from cron.job`)
		if err != nil {
			s.settings.installed = false
			return err
		}
		if jobs, err = pgx.CollectRows(rows, pgx.RowToStructByName[job]); err != nil {
			return err
		}
	}
	s.replace(jobs)
	return nil
}

// replace makes jobs the tasks, and keeps the state of those that remain.
func (s *scheduler) replace(jobs []job) {
	old := s.tasks
	s.tasks = map[int64]*task{}
	now := s.now()
	for _, j := range jobs {
		parsed, err := parse(j.Schedule)
		if !j.Active || err != nil {
			continue // cron.job_guard refuses invalid schedules
		}
		t := old[j.ID]
		if t == nil {
			t = &task{last: now.Truncate(time.Minute), started: now}
			if parsed.reboot && !s.rebooted {
				t.pending = 1
			}
		}
		t.job, t.schedule = j, parsed
		s.tasks[j.ID] = t
		delete(old, j.ID)
	}
	s.rebooted = true
	for _, gone := range old {
		if gone.cancel != nil {
			time.AfterFunc(cancelAfter, gone.cancel)
		}
	}
}

// now returns the time in the zone of the schedules.
func (s *scheduler) now() time.Time { return s.o.Now().In(s.settings.location()) }

// startDue starts the runs that are due, up to the maximum of concurrent runs. A
// job never runs twice at the same time.
func (s *scheduler) startDue(ctx context.Context) {
	now := s.now()
	for _, t := range s.tasks {
		switch {
		case t.schedule.seconds > 0:
			interval := time.Duration(t.schedule.seconds) * time.Second
			if t.pending == 0 && now.Sub(t.started) >= interval {
				t.pending = 1
			}
		case !t.schedule.reboot && !t.decided.Equal(now.Truncate(time.Minute)):
			t.decided = now.Truncate(time.Minute)
			var runs int
			runs, t.last = t.schedule.due(t.last, now, s.settings.bothDays)
			t.pending += runs
		}
		if t.pending == 0 || t.running || s.settings.paused || s.running >= s.settings.maxRunning {
			continue
		}
		t.pending--
		t.running, t.started = true, now
		s.running++
		var running context.Context
		running, t.cancel = context.WithCancel(ctx)
		go func(j job, cancel context.CancelFunc, record bool) {
			defer cancel()
			s.run(running, j, record)
			s.ended <- j.ID
		}(t.job, t.cancel, s.settings.record)
	}
}

// retryAfter is how long to wait before the tables are read again after an error.
const retryAfter = 5 * time.Second

// untilNext returns how long to sleep without a notification.
func (s *scheduler) untilNext() time.Duration {
	if !s.ready {
		return retryAfter
	}
	if len(s.tasks) == 0 {
		return time.Hour
	}
	now := s.now()
	next := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	for _, t := range s.tasks {
		if t.schedule.seconds > 0 && !t.running {
			next = min(next, t.started.Add(time.Duration(t.schedule.seconds)*time.Second).Sub(now))
		}
	}
	return max(next, time.Millisecond)
}
