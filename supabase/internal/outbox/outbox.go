// Package outbox runs durable background work: notifications to the administrators, mail, and the jobs and schedules of
// functions. A job is a row (River, schema river) written in the caller's own transaction. Any replica runs it, retries
// failures for more than a week, and keeps jobs that failed for good so that an operator can see them.
//
// app starts it; fnhost and auth add jobs. Of ours it imports db, mail and functions/edge.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"daawo/functions/edge"
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

	SiteURL   string                // public address of the site, ends each mail
	StudioURL string                // address of Studio; "" means that there is none
	RowLink   func(edge.Row) string // the line that leads to a notice's row if there is no Studio; nil leaves it out

	Workers int                   // jobs of one queue running at once; 0 means 10
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
	work      *river.Client[pgx.Tx] // nil until it has begun
	functions Functions
	chores    []Chore
	closing   atomic.Bool
	clock     func() // ends what Start has left running; nil until Start
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
	// Postgres refuses even a change that would change nothing while the disk is nearly full; a start must do without.
	var there, open bool
	if err := conn.QueryRow(ctx, `select to_regnamespace('river') is not null`).Scan(&there); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if !there {
		if _, err := conn.Exec(ctx, `create schema river`); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
	}
	m, err := rivermigrate.New(riverpgxv5.New(b.DB.Pgx()), &rivermigrate.Config{Schema: schema, Logger: b.logger()})
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if err := conn.QueryRow(ctx, granted).Scan(&open); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if !open {
		if _, err := conn.Exec(ctx, grants); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
	}
	return nil
}

// grants let those who add jobs do so; granted says whether all of it has been done.
const (
	grants = `
comment on schema river is 'Background work: jobs that are added in the transaction that needs them.';
grant usage on schema river to service_role, supabase_auth_admin;
grant select, insert, update on river.river_job to service_role, supabase_auth_admin;
grant usage on all sequences in schema river to service_role, supabase_auth_admin`

	granted = `
select bool_and(has_schema_privilege(r, 'river', 'usage')
   and has_table_privilege(r, 'river.river_job', 'select')
   and has_table_privilege(r, 'river.river_job', 'insert')
   and has_table_privilege(r, 'river.river_job', 'update')
   and not exists (select from pg_class
                    where relnamespace = 'river'::regnamespace and relkind = 'S' and not has_sequence_privilege(r, oid, 'usage')))
  from unnest(array['service_role', 'supabase_auth_admin']) as r`
)

// roomPause is how often a start that found no room is tried again.
const roomPause = time.Second

// Start works jobs off until Close. functions may be nil where another process hosts them. While the database takes no
// writes there is no work: it begins when there is room again.
func (b *Outbox) Start(ctx context.Context, functions Functions) error {
	b.functions = functions
	ctx = context.WithoutCancel(ctx)
	failure := b.begin(ctx)
	if failure != nil && !isFull(failure) {
		return failure
	}
	running, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if failure != nil {
			b.Log.WarnContext(ctx, "the background work waits until there is room on the disk", "error", failure)
			b.beginWithRoom(running)
		}
		b.keepTime(running)
	}()
	b.clock = func() { cancel(); <-done }
	return nil
}

// beginWithRoom begins once the database takes writes, unless ctx ends before.
func (b *Outbox) beginWithRoom(ctx context.Context) {
	tick := time.NewTicker(roomPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := b.begin(context.WithoutCancel(ctx))
		if err == nil {
			b.Log.InfoContext(ctx, "the background work has begun")
			return
		}
		if !isFull(err) {
			b.Log.WarnContext(ctx, "the background work could not begin", "error", err)
		}
	}
}

// errFull says that the database takes no writes, as on a nearly full disk.
var errFull = errors.New("the database takes no writes")

func isFull(err error) bool { return errors.Is(err, errFull) || db.IsCode(err, "25006") } // read_only_sql_transaction

// begin starts River's client, which writes.
func (b *Outbox) begin(ctx context.Context) error {
	var full bool // asked first: River logs each start that fails
	if err := b.DB.Pgx().QueryRow(ctx, `select current_setting('transaction_read_only')::bool`).Scan(&full); err != nil {
		return fmt.Errorf("outbox: %w", err)
	} else if full {
		return fmt.Errorf("outbox: %w", errFull)
	}
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
	work, err := river.NewClient(riverpgxv5.New(b.DB.Pgx()), c)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if err := work.Start(ctx); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	b.work = work
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
	if b.clock == nil {
		return nil
	}
	b.closing.Store(true)
	b.clock()
	if b.work == nil { // it has waited for room until now
		return nil
	}
	err := b.work.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = b.work.StopAndCancel(context.WithoutCancel(ctx))
	}
	return err
}
