package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// Operator lists and changes jobs for an operator. The process need not run jobs.
type Operator struct {
	DB *pool.Pool // as the role that owns schema river: postgres
}

// JobInfo is a job as an operator sees it.
type JobInfo struct {
	ID          int64           `json:"id"`
	Kind        string          `json:"kind"`
	Name        string          `json:"name,omitempty"` // function, or function/job, or chore
	State       string          `json:"state"`
	Queue       string          `json:"queue"`
	Priority    int             `json:"priority"`
	Attempt     int             `json:"attempt"`
	MaxAttempts int             `json:"max_attempts"`
	Created     time.Time       `json:"created_at"`
	Scheduled   time.Time       `json:"scheduled_at"`
	Attempted   *time.Time      `json:"attempted_at,omitempty"`
	Finished    *time.Time      `json:"finalized_at,omitempty"`
	Error       string          `json:"error,omitempty"` // of the last failed attempt
	Errors      []AttemptError  `json:"errors,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`
}

// AttemptError is the error of one attempt.
type AttemptError struct {
	At      time.Time `json:"at"`
	Attempt int       `json:"attempt"`
	Error   string    `json:"error"`
}

// JobFilter selects jobs. Empty fields select all.
type JobFilter struct {
	States []string // River's states; none means those that wait, run or failed for good
	Kind   string
	Name   string // as in JobInfo.Name
	Limit  int
}

// jobStates are River's states.
var jobStates = []string{"available", "cancelled", "completed", "discarded", "pending", "retryable", "running",
	"scheduled"}

const jobColumns = `
id, kind, coalesce(case kind
    when 'function_job' then concat(args->>'function', '/', args->>'job')
    when 'function_schedule' then args->>'function'
    when 'chore' then args->>'name' end, '') as name, state::text as state, queue, priority, attempt, max_attempts,
  created_at, scheduled_at, attempted_at, finalized_at, coalesce(errors[array_upper(errors, 1)]->>'error', '') as error`

// List returns jobs, those that need an operator first, then by the time of their next attempt. It
// leaves out arguments.
func (o Operator) List(ctx context.Context, f JobFilter) ([]JobInfo, error) {
	for _, state := range f.States {
		if !slices.Contains(jobStates, state) {
			return nil, fmt.Errorf("unknown state %q; the states are %q", state, jobStates)
		}
	}
	states := f.States
	if len(states) == 0 {
		states = []string{"available", "discarded", "pending", "retryable", "running", "scheduled"}
	}
	const q = `select * from (select ` + jobColumns +
		` from river.river_job where state::text = any ($1) and ($2 = '' or kind = $2)) j
 where $3 = '' or name = $3 or name like replace(replace($3, '\', '\\'), '_', '\_') || '/%'
 order by state = 'discarded' desc, scheduled_at, id limit $4`
	rows, err := o.DB.Pgx().Query(ctx, q, states, f.Kind, f.Name, max(1, f.Limit))
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, scanJob)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return jobs, nil
}

func scanJob(row pgx.CollectableRow) (j JobInfo, err error) {
	err = row.Scan(&j.ID, &j.Kind, &j.Name, &j.State, &j.Queue, &j.Priority, &j.Attempt, &j.MaxAttempts,
		&j.Created, &j.Scheduled, &j.Attempted, &j.Finished, &j.Error)
	return j, err
}

// ErrNoJob means that there is no job with an id.
var ErrNoJob = errors.New("no job has this id")

// Get returns a job with its arguments and the errors of all attempts, or ErrNoJob.
func (o Operator) Get(ctx context.Context, id int64) (j JobInfo, err error) {
	rows, err := o.DB.Pgx().Query(ctx, `select `+jobColumns+` from river.river_job where id = $1`, id)
	if err != nil {
		return j, fmt.Errorf("job %d: %w", id, err)
	}
	if j, err = pgx.CollectExactlyOneRow(rows, scanJob); errors.Is(err, pgx.ErrNoRows) {
		return j, fmt.Errorf("job %d: %w", id, ErrNoJob)
	} else if err != nil {
		return j, fmt.Errorf("job %d: %w", id, err)
	}
	const q = `select args, coalesce(array_to_json(errors), '[]') from river.river_job where id = $1`
	var attempts []byte
	if err := o.DB.Pgx().QueryRow(ctx, q, id).Scan(&j.Args, &attempts); err != nil {
		return j, fmt.Errorf("job %d: %w", id, err)
	}
	if err := json.Unmarshal(attempts, &j.Errors); err != nil {
		return j, fmt.Errorf("job %d: %w", id, err)
	}
	return j, nil
}

// client returns a client of River that changes jobs and runs none.
func (o Operator) client() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(o.DB.Pgx()), &river.Config{Schema: schema})
}

// Retry makes a job run at once, in any state but running. A job without attempts left gets one
// more.
func (o Operator) Retry(ctx context.Context, id int64) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	before, err := o.Get(ctx, id)
	if err != nil {
		return err
	}
	if before.State == string(rivertype.JobStateRunning) {
		return fmt.Errorf("job %d is running", id)
	}
	if _, err := c.JobRetry(ctx, id); err != nil {
		return fmt.Errorf("job %d: %w", id, err)
	}
	_, err = o.DB.Pgx().Exec(ctx, `select pg_notify('river.river_insert', json_build_object('queue', $1::text)::text)`,
		before.Queue)
	return err
}

// Cancel makes a job never run again. The context of a running job ends. A finished job stays as it
// is, and the error says so.
func (o Operator) Cancel(ctx context.Context, id int64) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	job, err := c.JobCancel(ctx, id)
	switch {
	case errors.Is(err, rivertype.ErrNotFound):
		return fmt.Errorf("job %d: %w", id, ErrNoJob)
	case err != nil:
		return fmt.Errorf("job %d: %w", id, err)
	case job.State == rivertype.JobStateCompleted || job.State == rivertype.JobStateDiscarded:
		return fmt.Errorf("job %d is %s already", id, job.State)
	}
	return nil
}

// RunSchedule adds a job that runs the scheduled work of a function once, at once, and returns its
// id.
func (o Operator) RunSchedule(ctx context.Context, function string) (int64, error) {
	args := functionSchedule{Function: function, Due: time.Now().UTC()}
	encoded, err := json.Marshal(args)
	if err != nil {
		return 0, err
	}
	var id int64
	const q = `insert into river.river_job (args, kind, max_attempts, queue, priority) values ($1, $2, 1, $3, 1) returning id`
	if err := o.DB.Pgx().QueryRow(ctx, q, encoded, args.Kind(), queue.Function).Scan(&id); err != nil {
		return 0, fmt.Errorf("schedule of %s: %w", function, err)
	}
	_, err = o.DB.Pgx().Exec(ctx, `select pg_notify('river.river_insert', json_build_object('queue', $1::text)::text)`,
		queue.Function)
	return id, err
}

// WaitingFunctionJobs returns how many jobs of functions wait or run, by FUNCTION/JOB.
func (b *Outbox) WaitingFunctionJobs(ctx context.Context) (map[string]int, error) {
	const q = `
select concat(args->>'function', '/', args->>'job'), count(*) from river.river_job
 where kind = 'function_job' and state in ('available', 'pending', 'retryable', 'running', 'scheduled') group by 1`
	rows, err := b.DB.Pgx().Query(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	waiting, name, n := map[string]int{}, "", 0
	if _, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error { waiting[name] = n; return nil }); err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return waiting, nil
}

// Await returns a job when its next attempt has ended, or the error of ctx.
func (o Operator) Await(ctx context.Context, id int64, attempts int) (JobInfo, error) {
	for {
		j, err := o.Get(ctx, id)
		if err != nil {
			return j, err
		}
		waiting := slices.Contains([]string{"available", "pending", "running"}, j.State)
		if !waiting && (j.Finished != nil || len(j.Errors) > attempts || j.State == "scheduled") {
			return j, nil
		}
		select {
		case <-ctx.Done():
			return j, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
