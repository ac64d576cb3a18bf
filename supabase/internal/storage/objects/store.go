// Package objects is storage without a protocol: buckets and objects as rows of the storage schema, their bytes in a
// backend, and the order of steps that keeps the two in agreement. Bytes are durable before a row names them and are
// deleted after no row does, so a crash can only leave bytes that nobody names; Sweep removes those.
//
// The REST, TUS and S3 protocols are written on top of it. It imports db, wire and the backend.
package objects

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/storage/backend"

	"github.com/jackc/pgx/v5"
)

// Config makes a Store.
type Config struct {
	Pool          *db.Pool        // logs in as supabase_storage_admin, or another role that may become the callers'
	Backend       backend.Backend //
	FileSizeLimit int64           // bytes; buckets may only lower it
	EmptyMax      int             // most objects that one call empties a bucket of; 0 means 200,000
	URLSecret     []byte          // signs URLs (HS256); SetSecrets replaces it
	Log           *slog.Logger
	Now           func() time.Time
	Step          func(string) // nil, or called before each step of a write, for tests that stop the process there
}

// Store serves all protocols. Its methods may be called from many goroutines.
type Store struct {
	pool     *db.Pool
	Backend  backend.Backend
	limit    int64
	emptyMax int
	secrets  atomic.Pointer[[][]byte] // of URLs: the first one signs, all check
	log      *slog.Logger
	now      func() time.Time
	step     func(string)
}

// New makes a Store.
func New(c Config) *Store {
	s := &Store{pool: c.Pool, Backend: c.Backend, limit: c.FileSizeLimit, emptyMax: c.EmptyMax, log: c.Log, now: c.Now, step: c.Step}
	s.SetSecrets(c.URLSecret)
	if s.emptyMax == 0 {
		s.emptyMax = 200_000
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.step == nil {
		s.step = func(string) {}
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Limit is the largest object that a bucket takes.
func (s *Store) Limit(bucket *int64) int64 {
	if bucket != nil {
		return min(*bucket, s.limit)
	}
	return s.limit
}

// Healthy says whether the tables answer.
func (s *Store) Healthy(ctx context.Context) error {
	return s.pool.Query(ctx, Caller{}.Service().pg(), `select id from storage.buckets limit 1`, nil, func(r pgx.Rows) error { return nil })
}

func (s *Store) tx(ctx context.Context, c Caller, fn func(pgx.Tx) error) error {
	return MapDatabase(s.pool.Tx(ctx, c.pg(), pgx.TxOptions{}, fn))
}

// rows runs one statement as the caller and collects its rows.
func rows[T any](ctx context.Context, s *Store, c Caller, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	var out []T
	err := s.pool.Query(ctx, c.pg(), sql, args, func(r pgx.Rows) (err error) {
		out, err = pgx.CollectRows(r, scan)
		return err
	})
	return out, MapDatabase(err)
}

// row is rows for at most one; nil means none.
func row[T any](ctx context.Context, s *Store, c Caller, scan pgx.RowToFunc[T], sql string, args ...any) (*T, error) {
	out, err := rows(ctx, s, c, scan, sql, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return &out[0], nil
}

// LockKey is storage-api's hash of an object's path, so that both servers wait for each other.
func LockKey(parts ...string) int64 {
	hash := int32(5381)
	for i, p := range parts {
		if i > 0 {
			hash = int32(int64(hash)*33) ^ '/'
		}
		for j := range len(p) {
			hash = int32(int64(hash)*33) ^ int32(p[j])
		}
	}
	return int64(uint32(hash))
}

// lockTimeout is how long a writer waits for another one of the same object.
var lockTimeout = db.Setting{Name: "lock_timeout", Value: "5s"}

// lock waits until no other transaction writes the object; lockError says that one did for too long.
func lock(bucket, name string) step {
	return statement(`select pg_advisory_xact_lock($1)`, text(strconv.FormatInt(LockKey(bucket, name), 10)))
}

func lockError(err error) error {
	if isCode(err, "ResourceLocked") {
		return ErrLockTimeout().WithCause(err)
	}
	return err
}
