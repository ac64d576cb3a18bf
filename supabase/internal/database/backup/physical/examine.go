package physical

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"daawo/supabase/internal/database/backup/codec"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// countRows counts the rows of every table that is not Postgres' own. It skips
// unlogged tables, because backups do not contain their rows.
func countRows(ctx context.Context, url string) (map[string]int64, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `
		select format('%I.%I', n.nspname, c.relname)
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname not in ('pg_catalog', 'information_schema')`)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(tables))
	for _, table := range tables {
		var n int64
		err := conn.QueryRow(ctx, `select count(*) from `+table).Scan(&n)
		if err != nil && !isMissing(err) { // the table was dropped
			return nil, fmt.Errorf("count %s: %w", table, err)
		}
		counts[table] = n
	}
	return counts, nil
}

// examine checks a restored cluster: the checksum of every table page, the
// structure of every row, and every index against its table. It returns the row
// counts.
func examine(ctx context.Context, url string) (map[string]int64, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `create extension if not exists amcheck schema pg_catalog`); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, `
		select c.oid::regclass::text, v.msg
		from pg_class c, lateral verify_heapam(c.oid) v
		where c.relkind in ('r', 'm', 't') and c.relpersistence = 'p'`)
	if err != nil {
		return nil, err
	}
	var table, msg string
	var damage error
	_, err = pgx.ForEachRow(rows, []any{&table, &msg}, func() error {
		damage = errors.Join(damage, fmt.Errorf("%w: table %s: %s", codec.ErrDamaged, table, msg))
		return nil
	})
	if err := errors.Join(err, damage); err != nil {
		return nil, fmt.Errorf("check the tables: %w", err)
	}
	_, err = conn.Exec(ctx, `
		select bt_index_check(c.oid, heapallindexed => true)
		from pg_index i
		join pg_class c on c.oid = i.indexrelid
		join pg_am a on a.oid = c.relam and a.amname = 'btree'
		where c.relpersistence = 'p' and c.relkind = 'i' and i.indisready and i.indisvalid`)
	if err != nil {
		return nil, fmt.Errorf("%w: check the indexes: %w", codec.ErrDamaged, err)
	}
	return countRows(ctx, url)
}

// mismatch is a table with an unexpected number of restored rows.
type mismatch struct {
	table                   string
	before, after, restored int64 // restored is -1 if the table is missing
}

// compareCounts checks the row counts of the restored tables. Each count must lie
// between the counts of the running database from before and after the backup.
// changes are the changeCounts from before the backup.
func (s *Service) compareCounts(ctx context.Context, changes, before, after, restored map[string]int64) error {
	var found []mismatch
	for table, b := range before {
		a, exists := after[table]
		got, ok := restored[table]
		if !ok {
			got = -1
		}
		if exists && (got < min(a, b) || got > max(a, b)) {
			found = append(found, mismatch{table, b, a, got})
		}
	}
	found, err := s.ignoreLaterChanges(ctx, changes, found)
	if err != nil || len(found) == 0 {
		return err
	}
	m := found[0]
	return fmt.Errorf("table %s has %d rows in the backup, but had %d before and %d after", m.table, max(0, m.restored),
		m.before, m.after)
}

// ignoreLaterChanges returns the mismatches that inserts and deletes since the
// changeCounts do not explain. It waits 11 seconds, because idle sessions report
// their statistics within 10 seconds.
func (s *Service) ignoreLaterChanges(ctx context.Context, earlier map[string]int64, found []mismatch) ([]mismatch,
	error) {
	if len(found) == 0 {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(11 * time.Second):
	}
	now, err := s.changeCounts(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(m mismatch) bool {
		slack := now[m.table] - earlier[m.table]
		return m.restored >= max(0, min(m.before, m.after)-slack) && m.restored <= max(m.before, m.after)+slack
	}), nil
}

// changeCounts returns how many rows were ever inserted into or deleted from each
// table.
func (s *Service) changeCounts(ctx context.Context) (map[string]int64, error) {
	conn, err := pgx.Connect(ctx, s.opt.URL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx,
		`select format('%I.%I', schemaname, relname), n_tup_ins + n_tup_del from pg_stat_user_tables`)
	if err != nil {
		return nil, err
	}
	changes := map[string]int64{}
	var table string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&table, &n}, func() error {
		changes[table] = n
		return nil
	})
	return changes, err
}

// checkFresh reads back the files that were stored since the last test restore.
func (t *trees) checkFresh(ctx context.Context, files []file) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range files {
		if !t.fresh[f.Object] {
			continue
		}
		if err := t.repo.checkFile(ctx, f); err != nil {
			return err
		}
		delete(t.fresh, f.Object)
	}
	return nil
}

// checkFile reads a stored file and compares its checksum.
func (r repository) checkFile(ctx context.Context, f file) error {
	return r.read(ctx, f.Object, func(in io.Reader) error { return sameSum(in, f.SHA256) })
}

func sameSum(in io.Reader, want string) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return fmt.Errorf("%w: the content does not match its checksum", codec.ErrDamaged)
	}
	return nil
}

// isMissing reports whether a statement failed because a table is missing.
func isMissing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P01"
}
