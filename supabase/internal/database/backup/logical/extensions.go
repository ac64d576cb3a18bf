package logical

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Content of extensions that an export has: the jobs of pg_cron, the queues of
// pgmq, and the secrets of supabase_vault. Each installation encrypts secrets
// with its own key, so an export has them in clear.

const (
	jobsTable    = "cron.job"
	jobsSequence = "cron.jobid_seq"
	vaultTable   = "vault.secrets"
)

// extensionTables lists tables that belong to an extension and hold content.
var extensionTables = []string{jobsTable, vaultTable}

// vaultColumns are the columns of vaultTable in an export.
var vaultColumns = []string{"id", "name", "description", "secret", "created_at", "updated_at"}

// copyOut returns the COPY statement that reads the table.
func (t tableContent) copyOut() string {
	if t.Name == vaultTable {
		return `copy (select id, name, description, decrypted_secret, created_at, updated_at
			from vault.decrypted_secrets) to stdout`
	}
	return `copy ` + t.Name + ` (` + t.columns() + `) to stdout`
}

// copyIn reads rows into the table, which is empty unless an extension owns it.
func (t tableContent) copyIn(ctx context.Context, tx pgx.Tx, in io.Reader) (rows int64, err error) {
	into := func(target string) error {
		tag, err := tx.Conn().PgConn().CopyFrom(ctx, in, `copy `+target+` (`+t.columns()+`) from stdin`)
		rows = tag.RowsAffected()
		return err
	}
	var super bool
	if err := tx.QueryRow(ctx, `select rolsuper from pg_roles where rolname = current_user`).Scan(&super); err != nil {
		return 0, err
	}
	switch {
	case t.Name == vaultTable:
		err = importSecrets(ctx, tx, super, into)
	case t.Name == jobsTable && super:
		if _, err = tx.Exec(ctx, `delete from cron.job`); err == nil {
			err = into(t.Name)
		}
	case t.Name == jobsTable:
		err = importJobs(ctx, tx, into)
	default:
		err = into(t.Name)
	}
	return rows, err
}

// importSecrets replaces the secrets. The functions exist in every form of
// supabase_vault. Without superuser the secrets get new ids.
func importSecrets(ctx context.Context, tx pgx.Tx, super bool, into func(string) error) error {
	if _, err := tx.Exec(ctx, `delete from vault.secrets; create temporary table imported_secrets (
		id uuid, name text, description text, secret text,
		created_at timestamptz, updated_at timestamptz) on commit drop`); err != nil {
		return err
	}
	if err := into("pg_temp.imported_secrets"); err != nil {
		return err
	}
	insert := `select vault.create_secret(secret, name, description) from pg_temp.imported_secrets`
	if super {
		insert = `
			with fresh as materialized (select s.*, vault._crypto_aead_det_noncegen() as nonce
				from pg_temp.imported_secrets s)
			insert into vault.secrets (id, name, description, secret, nonce, created_at, updated_at)
			select id, name, description, encode(vault._crypto_aead_det_encrypt(
				convert_to(secret, 'utf8'), convert_to(id::text, 'utf8'), 0, 'pgsodium'::bytea, nonce), 'base64'),
				nonce, created_at, updated_at
			from fresh`
	}
	_, err := tx.Exec(ctx, insert)
	return err
}

// importJobs replaces the jobs as the role postgres, which may change only its
// own. The jobs get new ids.
func importJobs(ctx context.Context, tx pgx.Tx, into func(string) error) error {
	if _, err := tx.Exec(ctx,
		`create temporary table imported_jobs (like cron.job) on commit drop;
			grant select on imported_jobs to postgres`); err != nil {
		return err
	}
	if err := into("pg_temp.imported_jobs"); err != nil {
		return err
	}
	var others string
	if err := tx.QueryRow(ctx, `select coalesce(string_agg(distinct username, ', '), '') from (
		select username from pg_temp.imported_jobs union all select username from cron.job) j
		where username <> 'postgres'`).Scan(&others); err != nil {
		return err
	}
	if others != "" {
		return fmt.Errorf("there are jobs of %s: only a superuser can import them", others)
	}
	_, err := tx.Exec(ctx, `set local role postgres`)
	if err == nil {
		_, err = tx.Exec(ctx, `select cron.unschedule(jobid) from cron.job`)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `
			do $$
			declare
				j  record;
				id bigint;
			begin
				for j in select * from pg_temp.imported_jobs order by jobid loop
					if j.jobname is null then
						id := cron.schedule(j.schedule, j.command);
					else
						id := cron.schedule(j.jobname, j.schedule, j.command);
					end if;
					perform cron.alter_job(id, database := j.database, active := j.active);
				end loop;
			end $$`)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `reset role`)
	}
	return err
}

// setSequence sets the last value of a sequence. Without superuser the jobs have
// new numbers already.
func setSequence(ctx context.Context, tx pgx.Tx, name string, last int64) error {
	if name == jobsSequence {
		var may bool
		if err := tx.QueryRow(ctx, `select has_sequence_privilege($1, 'update')`, name).Scan(&may); err != nil || !may {
			return err
		}
	}
	_, err := tx.Exec(ctx, `select setval($1::text::regclass, $2)`, name, last)
	return err
}

// queue is a queue of pgmq.
type queue struct {
	Name     string `json:"name"`
	Unlogged bool   `json:"unlogged,omitempty"`
}

// readQueues returns the queues, which an application may have created after the
// migrations.
func readQueues(ctx context.Context, tx pgx.Tx) ([]queue, error) {
	var exists bool
	if err := tx.QueryRow(ctx, `select to_regclass('pgmq.meta') is not null`).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := tx.Query(ctx,
		`select queue_name as name, is_unlogged as unlogged from pgmq.meta order by queue_name collate "C"`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[queue])
}

// makeQueues creates the queues of an export that this installation lacks.
func makeQueues(ctx context.Context, tx pgx.Tx, theirs []queue) error {
	var installed bool
	if err := tx.QueryRow(ctx, `select to_regclass('pgmq.meta') is not null`).Scan(&installed); err != nil {
		return err
	}
	if len(theirs) > 0 && !installed {
		return fmt.Errorf("%w: the export has queues, and this installation has no extension pgmq", ErrOtherSchema)
	}
	ours, err := readQueues(ctx, tx)
	if err != nil {
		return err
	}
	for _, q := range theirs {
		if slices.ContainsFunc(ours, func(own queue) bool { return own.Name == q.Name }) {
			continue
		}
		create := `select pgmq.create($1)`
		if q.Unlogged {
			create = `select pgmq.create_unlogged($1)`
		}
		// The owner of the schema public owns the queues too.
		if _, err := tx.Exec(ctx, `set local role postgres`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, create, q.Name); err != nil {
			return fmt.Errorf("queue %s: %w", q.Name, err)
		}
		if _, err := tx.Exec(ctx, `reset role`); err != nil {
			return err
		}
	}
	return nil
}
