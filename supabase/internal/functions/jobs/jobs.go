// Package jobs runs durable background work: notifications to the administrators, mail, and the
// jobs and schedules of functions. A job is a row (River, schema river) written in the caller's own
// transaction. Any replica runs it, retries failures for more than a week, and keeps jobs that
// failed for good so that an operator can see them.
//
// app starts it; host and auth add jobs.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// schema holds River's tables.
const schema = "river"

// Options configure an Outbox. Only DB is required. A job that needs another option, such as Mail,
// fails without it and is retried, so it succeeds after the option was set.
type Options struct {
	DB *pool.Pool // as the role that owns schema river: postgres

	Mail   func(context.Context, mail.Message) error // sends one mail
	Admins []string                                  // addresses that receive notices

	// NoticeMails is the number of mails with notices in an hour; further notices wait for the next
	// full hour and come in one mail. 0 means 60.
	NoticeMails int

	WebhookURL    string // also notified, when set
	WebhookSecret string // key of its signature

	SiteURL   string                // public address of the site, ends each mail
	StudioURL string                // address of Studio; "" means that there is none
	RowLink   func(edge.Row) string // the line that leads to a notice's row if there is no Studio; nil leaves it out

	Workers int                   // jobs of one queue running at once; 0 means 10
	Log     *slog.Logger          // nil means slog.Default()
	Meter   prometheus.Registerer // nil registers no metrics
	Traces  *tracing.Provider     // nil makes no spans
}

// Functions runs the jobs and schedules of functions. host.Host implements it.
type Functions interface {
	Schedules() map[string]string
	RunSchedule(ctx context.Context, function string) error
	RunJob(ctx context.Context, function, job string, args []byte) error
}

// Outbox adds and runs jobs.
type Outbox struct {
	Options
	adder     queue.Adder
	functions Functions
	chores    []Chore
	closing   atomic.Bool
	stopWatch func()        // ends the goroutines of Start; nil until Start
	worked    chan struct{} // has an element after a job until lookAgain looks

	idleAfter, idlePoll time.Duration // the constants, except in tests
	maintenance         []string      // maintenanceTimes, except in tests

	mu        sync.Mutex        // guards all below
	work      *client           // nil while it does not run
	draining  []*client         // stopped clients, some of whose jobs may still run
	wakeUp    func()            // ends the wait for work; nil before the first
	scheduled map[string]string // cron expressions of the functions, as River has them
}

// New returns an outbox that accepts jobs. It runs none before Start.
func New(o Options) (*Outbox, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.NoticeMails = cmp.Or(o.NoticeMails, noticeMails)
	o.Workers = cmp.Or(o.Workers, 10)
	b := &Outbox{Options: o, adder: queue.Adder{ToWebhook: o.WebhookURL != ""}, idleAfter: idleAfter,
		idlePoll: idlePoll, maintenance: maintenanceTimes, worked: make(chan struct{}, 1)}
	if o.Meter != nil {
		if err := o.Meter.Register(newMetrics(b)); err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
	}
	return b, nil
}

// logger returns the logger for River. It drops everything below warnings, and cancelled work while
// stopping returns true.
func (b *Outbox) logger(stopping func() bool) *slog.Logger {
	return slog.New(quiet{b.Log.Handler(), stopping})
}

// migrateLock is the advisory lock that makes replicas migrate one after the other.
const migrateLock = 0x72697665_72

// Migrated reports whether Migrate would change nothing. It costs a start less than Migrate, which
// needs connections of its own.
func Migrated(ctx context.Context, conn *pgx.Conn) (done bool, err error) {
	const created = `select to_regclass('river.river_migration') is not null and to_regclass('river.river_job') is not null`
	if err := conn.QueryRow(ctx, created).Scan(&done); err != nil || !done {
		return false, err
	}
	m, err := rivermigrate.New(riverpgxv5.New(nil),
		&rivermigrate.Config{Schema: schema, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return false, fmt.Errorf("jobs: %w", err)
	}
	newest := 0
	for _, v := range m.AllVersions() {
		newest = max(newest, v.Version)
	}
	const recorded = `select exists (select from river.river_migration where version = $1)`
	if err := conn.QueryRow(ctx, recorded, newest).Scan(&done); err != nil || !done {
		return false, err
	}
	err = conn.QueryRow(ctx, finished).Scan(&done)
	return done, err
}

// Migrate brings schema river to this version. It lets auth and service_role, the role of the
// functions, add jobs.
func (b *Outbox) Migrate(ctx context.Context) error {
	conn, err := b.DB.Pgx().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, int64(migrateLock))
	// While the disk is nearly full, Postgres rejects every write, even one without effect. A start
	// must succeed then, so nothing is written unless it is missing.
	var exists, complete bool
	if err := conn.QueryRow(ctx, `select to_regnamespace('river') is not null`).Scan(&exists); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if !exists {
		const create = `create schema river; comment on schema river is 'Background work. A job is added in the transaction that needs it.'`
		if _, err := conn.Exec(ctx, create); err != nil {
			return fmt.Errorf("jobs: %w", err)
		}
	}
	m, err := rivermigrate.New(riverpgxv5.New(b.DB.Pgx()),
		&rivermigrate.Config{Schema: schema, Logger: b.logger(b.closing.Load)})
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if err := conn.QueryRow(ctx, finished).Scan(&complete); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if !complete {
		if _, err := conn.Exec(ctx, finish); err != nil {
			return fmt.Errorf("jobs: %w", err)
		}
	}
	return nil
}

// finish lets the roles that add jobs do so. It names functions and types as well: default
// privileges of the project may give the role public none on them. It also fixes the search path of
// River's function, as Supabase's advisor of security demands. finished returns whether all of this
// is done.
const (
	finish = `
grant usage on schema river to service_role, supabase_auth_admin;
grant select, insert, update on river.river_job to service_role, supabase_auth_admin;
grant usage on all sequences in schema river to service_role, supabase_auth_admin;
grant execute on all functions in schema river to service_role, supabase_auth_admin;
grant usage on type river.river_job_state to service_role, supabase_auth_admin;
alter function river.river_job_state_in_bitmask set search_path = ''`

	finished = `
select exists (select from pg_proc where oid = to_regproc('river.river_job_state_in_bitmask') and proconfig is not null)
   and bool_and(has_schema_privilege(r, 'river', 'usage')
   and has_table_privilege(r, 'river.river_job', 'select')
   and has_table_privilege(r, 'river.river_job', 'insert')
   and has_table_privilege(r, 'river.river_job', 'update')
   and not exists (select from pg_class
                    where relnamespace = 'river'::regnamespace and relkind = 'S' and not has_sequence_privilege(r, oid, 'usage'))
   and has_type_privilege(r, 'river.river_job_state', 'usage')
   and not exists (select from pg_proc where pronamespace = 'river'::regnamespace and not has_function_privilege(r, oid, 'execute')))
  from unnest(array['service_role', 'supabase_auth_admin']) as r`
)

// beginPause is the pause between attempts to start a client.
const beginPause = time.Second

// Start runs jobs until Close. functions is nil if another process hosts them. While the database
// accepts no writes, no job runs; work starts as soon as it accepts them again.
func (b *Outbox) Start(ctx context.Context, functions Functions) error {
	b.mu.Lock()
	b.functions = functions
	b.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	failure := b.begin(ctx)
	if failure != nil && !isFull(failure) {
		return failure
	}
	running, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { onDemand{b}.run(running, failure) })
	all.Go(func() { b.watchClock(running) })
	all.Go(func() { b.lookAgain(running) })
	b.stopWatch = func() { cancel(); all.Wait() }
	return nil
}

// errFull means that the database accepts no writes, as on a nearly full disk.
var errFull = errors.New("database accepts no writes")

func isFull(err error) bool { return errors.Is(err, errFull) || pool.IsCode(err, "25006") } // read_only_sql_transaction

// begin starts River's client, which writes.
func (b *Outbox) begin(ctx context.Context) error {
	var full bool // checked first because River logs an error for each failed start
	if err := b.DB.Pgx().QueryRow(ctx,
		`select current_setting('transaction_read_only')::bool`).Scan(&full); err != nil {
		return fmt.Errorf("jobs: %w", err)
	} else if full {
		return fmt.Errorf("jobs: %w", errFull)
	}
	work := &client{}
	c := &river.Config{
		Schema:                      schema,
		Logger:                      b.logger(func() bool { return b.closing.Load() || work.stopping.Load() }),
		Workers:                     b.workers(),
		Queues:                      map[string]river.QueueConfig{},
		RetryPolicy:                 retryPolicy{},
		MaxAttempts:                 queue.MaxAttempts,
		ErrorHandler:                failures{b.Log},
		JobTimeout:                  time.Minute,
		RescueStuckJobsAfter:        2 * time.Minute,                             // jobs that a crash interrupted run again after this time
		FetchPollInterval:           max(b.idlePoll, river.FetchCooldownDefault), // for jobs that lookAgain misses
		Middleware:                  []rivertype.Middleware{b.tellWorked()},
		CompletedJobRetentionPeriod: keepCompleted,
		DiscardedJobRetentionPeriod: 90 * 24 * time.Hour,
	}
	for _, q := range b.queues() {
		c.Queues[q] = river.QueueConfig{MaxWorkers: b.Workers}
	}
	var err error
	if c.PeriodicJobs, err = b.periodic(ctx, &work.added); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if work.Client, err = river.NewClient(riverpgxv5.New(b.DB.Pgx()), c); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if err := work.Start(ctx); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	b.mu.Lock()
	b.work = work
	b.mu.Unlock()
	if err := b.Reschedule(ctx); err != nil { // the schedules may have changed during the start
		b.stopClient(ctx)
		return err
	}
	return nil
}

// periodic returns River's jobs for the schedules of the functions and the chores.
func (b *Outbox) periodic(ctx context.Context, added *idSet) ([]*river.PeriodicJob, error) {
	installed, err := b.installed(ctx)
	if err != nil {
		return nil, err
	}
	crons := map[string]string{}
	for _, c := range b.chores {
		crons[c.Name] = c.Cron
	}
	jobs, err := schedules("chore", crons, installed, added,
		func(name string, due time.Time) river.JobArgs { return chore{name, due} })
	if err != nil || b.functions == nil {
		return jobs, err
	}
	crons = b.functions.Schedules()
	more, err := functionSchedules(crons, installed, added)
	b.mu.Lock()
	b.scheduled = crons
	b.mu.Unlock()
	return append(jobs, more...), err
}

// installed returns when the schema of the jobs was created.
func (b *Outbox) installed(ctx context.Context) (at time.Time, err error) {
	err = b.DB.Pgx().QueryRow(ctx, `select min(created_at) from river.river_migration`).Scan(&at)
	return at, err
}

// running returns River's client, nil while it does not run.
func (b *Outbox) running() *client {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work
}

// softStop is how long Close waits for running jobs.
const softStop = 5 * time.Second

// Close waits up to softStop for running jobs. A job that it interrupts runs again later.
func (b *Outbox) Close(ctx context.Context) error {
	if b.stopWatch == nil {
		return nil
	}
	b.closing.Store(true)
	b.stopWatch()
	return onDemand{b}.stopAll(ctx)
}
