package backup

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
		return `copy (select id, name, description, decrypted_secret, created_at, updated_at from vault.decrypted_secrets) to stdout`
	}
	return `copy ` + t.Name + ` (` + t.columns() + `) to stdout`
}

// copyIn reads rows into the table, which is empty unless an extension owns it.
func (t tableContent) copyIn(ctx context.Context, tx pgx.Tx, in io.Reader) (rows int64, err error) {
	target := t.Name
	if slices.Contains(extensionTables, t.Name) {
		if _, err := tx.Exec(ctx, `delete from `+t.Name); err != nil {
			return 0, err
		}
	}
	if t.Name == vaultTable {
		target = "pg_temp.imported_secrets"
		if _, err := tx.Exec(ctx, `create temporary table imported_secrets (
			id uuid, name text, description text, secret text, created_at timestamptz, updated_at timestamptz) on commit drop`); err != nil {
			return 0, err
		}
	}
	tag, err := tx.Conn().PgConn().CopyFrom(ctx, in, `copy `+target+` (`+t.columns()+`) from stdin`)
	if err == nil && t.Name == vaultTable {
		err = encryptSecrets(ctx, tx)
	}
	return tag.RowsAffected(), err
}

// encryptSecrets moves the imported secrets to the vault. The functions exist in
// every form of supabase_vault.
func encryptSecrets(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `
		with fresh as materialized (select s.*, vault._crypto_aead_det_noncegen() as nonce from pg_temp.imported_secrets s)
		insert into vault.secrets (id, name, description, secret, nonce, created_at, updated_at)
		select id, name, description, encode(vault._crypto_aead_det_encrypt(
			convert_to(secret, 'utf8'), convert_to(id::text, 'utf8'), 0, 'pgsodium'::bytea, nonce), 'base64'), nonce, created_at, updated_at
		from fresh`)
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
	rows, err := tx.Query(ctx, `select queue_name as name, is_unlogged as unlogged from pgmq.meta order by queue_name collate "C"`)
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
