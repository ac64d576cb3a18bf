package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/jackc/pgx/v5"
)

// ledger describes a table that records which files a database has applied, with the hash of each.
type ledger struct {
	table  string
	column string // the column of the file names; the hashes are in column hash
	create string // SQL that creates the table and its schema
}

// seen returns the recorded hash of each file. It creates the table only if it is missing, so a
// role without the right to create it can still find that there is nothing to do.
func (l ledger) seen(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	exists, err := l.created(ctx, conn)
	if err != nil {
		return nil, err
	}
	if !exists {
		if _, err := conn.Exec(ctx, l.create); err != nil {
			return nil, err
		}
	}
	rows, err := conn.Query(ctx, `select `+l.column+`, hash from `+l.table)
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	var name, hash string
	_, err = pgx.ForEachRow(rows, []any{&name, &hash}, func() error {
		hashes[name] = hash
		return nil
	})
	return hashes, err
}

func (l ledger) created(ctx context.Context, conn *pgx.Conn) (exists bool, err error) {
	err = conn.QueryRow(ctx, `select to_regclass($1) is not null`, l.table).Scan(&exists)
	return exists, err
}

// hashOf returns the hash that a ledger records for a file.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// fromScratch runs a file in its own transaction, as the login role and with its settings.
func fromScratch(ctx context.Context, conn *pgx.Conn, file func(tx pgx.Tx) error) error {
	if _, err := conn.Exec(ctx, `reset role; reset all`); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, file)
}
