package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/jackc/pgx/v5"
)

// ledger is a table that records which files a database has seen, and by a hash in which form.
type ledger struct {
	table  string
	column string // the files' names; the hash is in the column hash
	create string // makes the table, and its schema
}

// seen returns the hash of each file. It makes the table only where there is none: a role that owns nothing of it may
// still find that there is nothing to do.
func (l ledger) seen(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	there, err := l.exists(ctx, conn)
	if err != nil {
		return nil, err
	}
	if !there {
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

func (l ledger) exists(ctx context.Context, conn *pgx.Conn) (there bool, err error) {
	err = conn.QueryRow(ctx, `select to_regclass($1) is not null`, l.table).Scan(&there)
	return there, err
}

// hashOf is what a ledger records of a file.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// afresh runs a file in a transaction of its own. What the one before has set for its session is not for this one.
func afresh(ctx context.Context, conn *pgx.Conn, file func(tx pgx.Tx) error) error {
	if _, err := conn.Exec(ctx, `reset all`); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, file)
}
