package cron

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// failPending marks the runs that another process left unfinished.
func (s *scheduler) failPending(ctx context.Context) {
	_, err := s.o.DB.Pgx().Exec(ctx, `
		do $$ begin
			if to_regclass('cron.job_run_details') is not null then
				update cron.job_run_details set status = 'failed', return_message = 'server restarted', end_time = now()
				where status in ('starting', 'connecting', 'running');
			end if;
		end $$`)
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("cron: marking unfinished runs failed", "error", err)
	}
}

// recordTimeout limits writing the outcome of a run while the process stops.
const recordTimeout = 3 * time.Second

// run runs a job once and records it.
func (w *Worker) run(ctx context.Context, j job, record bool) {
	var id int64
	if record {
		err := w.o.DB.Pgx().QueryRow(ctx, `
			insert into cron.job_run_details (jobid, database, username, command, status)
			values ($1, $2, $3, $4, 'starting') returning runid`, j.ID, j.Database, j.Username, j.Command).Scan(&id)
		if err != nil {
			if ctx.Err() == nil {
				w.o.Log.Warn("cron: recording a run failed; the run is skipped", "jobid", j.ID, "error", err)
			}
			return
		}
	}
	message, err := w.execute(ctx, j, id)
	status := "succeeded"
	if err != nil {
		status, message = "failed", errorText(err)
		if ctx.Err() != nil {
			message = "job cancelled"
		}
		w.o.Log.Info("cron: job failed", "jobid", j.ID, "job", j.Jobname)
	}
	if !record {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if _, err := w.o.DB.Pgx().Exec(ctx, `
		update cron.job_run_details set status = $2, return_message = $3, start_time = coalesce(start_time, now()),
			end_time = clock_timestamp()
		where runid = $1`, id, status, message); err != nil {
		w.o.Log.Warn("cron: recording a run failed", "jobid", j.ID, "error", err)
	}
}

var (
	errSuperuser = errors.New("cannot run jobs as superuser")
	errCopy      = errors.New("COPY not supported")
)

// copies matches a command that would send or expect rows.
var copies = regexp.MustCompile(`(?is)^\s*copy\s.*\s(from\s+stdin|to\s+stdout)\b`)

// execute runs the command in its own connection. It returns pg_cron's message:
// the command tag, or the number of rows.
func (w *Worker) execute(ctx context.Context, j job, id int64) (message string, err error) {
	if copies.MatchString(j.Command) {
		return "", errCopy
	}
	conn, err := w.o.Connect(ctx, j.Username, j.Database)
	if err != nil {
		w.o.Log.Info("cron: connecting for a job failed", "jobid", j.ID, "error", err)
		return "", errors.New("connection failed")
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		_ = conn.Close(closing)
	}()
	// cron.job_guard lets only superusers schedule as a superuser. A damaged table must not become
	// a way around it.
	var super bool
	if err := conn.QueryRow(ctx,
		`select rolsuper from pg_roles where rolname = current_user`).Scan(&super); err != nil {
		return "", err
	}
	if super {
		return "", errSuperuser
	}
	if _, err := w.o.DB.Pgx().Exec(ctx, `
		update cron.job_run_details set status = 'running', job_pid = $2, start_time = clock_timestamp()
		where runid = $1`, id, conn.PgConn().PID()); err != nil {
		return "", err
	}
	err = readResults(conn.PgConn().Exec(ctx, j.Command), &message)
	return message, err
}

// readResults discards the rows and stores the message of the last result.
func readResults(results *pgconn.MultiResultReader, message *string) error {
	for results.NextResult() {
		r := results.ResultReader()
		rows := 0
		for r.NextRow() {
			rows++
		}
		isTable := r.FieldDescriptions() != nil
		tag, err := r.Close()
		if err != nil {
			break // Close of the whole returns it
		}
		*message = tag.String()
		if isTable {
			*message = fmt.Sprintf("%d rows", rows)
			if rows == 1 {
				*message = "1 row"
			}
		}
	}
	return results.Close()
}

// errorText returns an error as libpq shows it, which is what pg_cron records.
func errorText(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err.Error()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:  %s\n", pg.Severity, pg.Message)
	for _, line := range []struct{ name, value string }{{"DETAIL", pg.Detail}, {"HINT", pg.Hint},
		{"CONTEXT", pg.Where}} {
		if line.value != "" {
			fmt.Fprintf(&text, "%s:  %s\n", line.name, line.value)
		}
	}
	return text.String()
}
