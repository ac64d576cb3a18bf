package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// countRows counts the rows of every table that is not Postgres' own. Unlogged
// tables are left out: no backup has their rows, by their nature.
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
		if err != nil && !isMissing(err) { // dropped meanwhile
			return nil, fmt.Errorf("count %s: %w", table, err)
		}
		counts[table] = n
	}
	return counts, nil
}

// examine reads a restored cluster through: every page of every table with its
// checksum, every row's structure, every index against its table. It returns
// the number of rows.
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
		damage = errors.Join(damage, fmt.Errorf("%w: table %s: %s", ErrDamaged, table, msg))
		return nil
	})
	if err := errors.Join(err, damage); err != nil {
		return nil, fmt.Errorf("look through the tables: %w", err)
	}
	_, err = conn.Exec(ctx, `
		select bt_index_check(c.oid, heapallindexed => true)
		from pg_index i
		join pg_class c on c.oid = i.indexrelid
		join pg_am a on a.oid = c.relam and a.amname = 'btree'
		where c.relpersistence = 'p' and c.relkind = 'i' and i.indisready and i.indisvalid`)
	if err != nil {
		return nil, fmt.Errorf("%w: look through the indexes: %w", ErrDamaged, err)
	}
	return countRows(ctx, url)
}

// compareCounts checks the rows of the restored tables against the running
// ones, counted before and after: what was restored lies in between, give or
// take the rows that came and went in the meantime. churned is what churn said
// before.
func (s *Service) compareCounts(ctx context.Context, churned, before, after, restored map[string]int64) error {
	var churn map[string]int64
	for table, b := range before {
		a, ok := after[table]
		got, restoredIt := restored[table]
		if !ok || restoredIt && min(a, b) <= got && got <= max(a, b) {
			continue // dropped meanwhile, or right
		}
		if churn == nil {
			var err error
			if churn, err = s.laterChurn(ctx); err != nil {
				return err
			}
		}
		slack := churn[table] - churned[table]
		if !restoredIt || got < min(a, b)-slack || got > max(a, b)+slack {
			return fmt.Errorf("table %s has %d rows in the backup and had %d before and %d after", table, got, b, a)
		}
	}
	return nil
}

// laterChurn is churn when all sessions have told theirs, which idle ones do
// within ten seconds.
func (s *Service) laterChurn(ctx context.Context) (map[string]int64, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(11 * time.Second):
		return s.churn(ctx)
	}
}

// churn is how many rows were ever inserted into or deleted from each table.
func (s *Service) churn(ctx context.Context) (map[string]int64, error) {
	conn, err := pgx.Connect(ctx, s.opt.URL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `select format('%I.%I', schemaname, relname), n_tup_ins + n_tup_del from pg_stat_user_tables`)
	if err != nil {
		return nil, err
	}
	churn := map[string]int64{}
	var table string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&table, &n}, func() error {
		churn[table] = n
		return nil
	})
	return churn, err
}

// proveFresh reads back the files that were stored since the last proof.
func (t *trees) proveFresh(ctx context.Context, files []file) error {
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

// checkFile reads a stored file through.
func (r repository) checkFile(ctx context.Context, f file) error {
	return r.read(ctx, f.Object, func(in io.Reader) error { return sameSum(in, f.SHA256) })
}

func sameSum(in io.Reader, want string) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return fmt.Errorf("%w: the content is not what its sum says", ErrDamaged)
	}
	return nil
}

// isMissing reports whether a statement failed for want of a table.
func isMissing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P01"
}
