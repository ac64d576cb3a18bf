// Package outbox does what must not be lost after the transaction that asked for it: notifications to the administrators,
// mail, the cleaning of photos, and the jobs and schedules of functions. Jobs are rows (River, schema river) written in
// the asker's own transaction; any replica works them off, retries failures for more than a week, and keeps what failed
// for good for an operator to see.
//
// app starts it; fnhost and auth add jobs. Of ours it imports db, mail and the functions' contract.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/mail"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// schema holds River's tables.
const schema = "river"

// Options say what an Outbox needs. Only DB is required; work whose means are missing fails and is retried, so that it
// is done once they are there.
type Options struct {
	DB *db.Pool // as the role that owns schema river: postgres

	Mail   func(context.Context, mail.Message) error // sends one mail
	Admins []string                                  // who is notified by mail

	WebhookURL    string // also notified, when set
	WebhookSecret string // key of its signature

	SiteURL   string // public address of the site, for links
	StudioURL string // address of Studio; "" names the command instead

	Storage Storage // for cleaning photos
	// Clean takes a photo's metadata out and gives it with the type it now has; removed is false when it cannot.
	Clean func(content []byte) (clean []byte, mime string, removed bool)

	Workers int                   // jobs of one kind running at once; 0 means 10
	Log     *slog.Logger          // nil means slog.Default()
	Meter   prometheus.Registerer // nil registers no metrics
}

// Functions is the host of the functions, for their jobs and schedules; fnhost.Host is one.
type Functions interface {
	Schedules() map[string]string
	RunSchedule(ctx context.Context, function string) error
	RunJob(ctx context.Context, function, job string, args []byte) error
}

// Outbox adds and works off jobs.
type Outbox struct {
	Options
	wake      wake
	work      *river.Client[pgx.Tx] // nil until Start
	functions Functions
	chores    []Chore
	closing   atomic.Bool
	clock     func() // ends keepTime
}

// New makes an outbox that takes jobs. It works none before Start.
func New(o Options) (*Outbox, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Workers == 0 {
		o.Workers = 10
	}
	b := &Outbox{Options: o, wake: wake{last: map[string]time.Time{}}}
	if o.Meter != nil {
		if err := o.Meter.Register(newMetrics(b)); err != nil {
			return nil, fmt.Errorf("outbox: %w", err)
		}
	}
	return b, nil
}

// logger is River's: its own housekeeping speaks only when something is wrong.
func (b *Outbox) logger() *slog.Logger { return slog.New(quiet{b.Log.Handler(), &b.closing}) }

// migrateLock is the advisory lock under which replicas migrate in turn.
const migrateLock = 0x72697665_72

// Migrate brings schema river to this version and lets service_role, as which functions run, and auth add jobs.
func (b *Outbox) Migrate(ctx context.Context) error {
	conn, err := b.DB.Pgx().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, int64(migrateLock))
	if _, err := conn.Exec(ctx, `create schema if not exists river`); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	m, err := rivermigrate.New(riverpgxv5.New(b.DB.Pgx()), &rivermigrate.Config{Schema: schema, Logger: b.logger()})
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	const grants = `
comment on schema river is 'Background work: jobs that are added in the transaction that needs them.';
grant usage on schema river to service_role, supabase_auth_admin;
grant select, insert, update on river.river_job to service_role, supabase_auth_admin;
grant usage on all sequences in schema river to service_role, supabase_auth_admin`
	if _, err := conn.Exec(ctx, grants); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// Start works jobs off until Close. functions may be nil where another process hosts them.
func (b *Outbox) Start(ctx context.Context, functions Functions) error {
	b.functions = functions
	c := &river.Config{
		Schema:                      schema,
		Logger:                      b.logger(),
		Workers:                     b.workers(),
		Queues:                      map[string]river.QueueConfig{},
		RetryPolicy:                 retryPolicy{},
		MaxAttempts:                 maxAttempts,
		ErrorHandler:                failures{b.Log},
		JobTimeout:                  time.Minute,
		RescueStuckJobsAfter:        2 * time.Minute, // after a crash the job it was at runs again
		FetchPollInterval:           5 * time.Second, // a new job wakes us at once; this is for a lost wake-up
		CompletedJobRetentionPeriod: completedStay,
		DiscardedJobRetentionPeriod: 90 * 24 * time.Hour,
		SoftStopTimeout:             5 * time.Second,
	}
	for _, q := range b.queues() {
		c.Queues[q] = river.QueueConfig{MaxWorkers: b.Workers}
	}
	var err error
	if c.PeriodicJobs, err = b.periodic(ctx); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if b.work, err = river.NewClient(riverpgxv5.New(b.DB.Pgx()), c); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if err := b.work.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.keepTime(watching)
	}()
	b.clock = func() { cancel(); <-done }
	return nil
}

// periodic makes the turns of the functions' schedules and of the chores.
func (b *Outbox) periodic(ctx context.Context) ([]*river.PeriodicJob, error) {
	var installed time.Time
	if err := b.DB.Pgx().QueryRow(ctx, `select min(created_at) from river.river_migration`).Scan(&installed); err != nil {
		return nil, err
	}
	crons := map[string]string{}
	for _, c := range b.chores {
		crons[c.Name] = c.Cron
	}
	jobs, err := schedules("chore", crons, installed, func(name string, due time.Time) river.JobArgs { return chore{name, due} })
	if err != nil || b.functions == nil {
		return jobs, err
	}
	more, err := schedules("function", b.functions.Schedules(), installed, func(name string, due time.Time) river.JobArgs { return functionSchedule{name, due} })
	return append(jobs, more...), err
}

// Close lets running jobs finish, for 5 s; what is cut off runs again later.
func (b *Outbox) Close(ctx context.Context) error {
	if b.work == nil {
		return nil
	}
	b.closing.Store(true)
	if b.clock != nil {
		b.clock()
	}
	err := b.work.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = b.work.StopAndCancel(context.WithoutCancel(ctx))
	}
	return err
}
