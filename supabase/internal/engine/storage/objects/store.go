// Package objects implements storage without a protocol: buckets and objects as rows of the storage
// schema, their bytes in a backend, and the order of steps that keeps rows and bytes consistent.
// Bytes are durable before a row refers to them, and they are deleted after the last reference is
// gone. A crash therefore leaves only unreferenced bytes, which Sweep removes.
//
// Store handles objects; Buckets, Multipart and Signer handle buckets, S3 multipart uploads and
// signed URLs. The REST, TUS and S3 protocols build on them.
package objects

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/backend"

	"github.com/jackc/pgx/v5"
)

// Config configures a Store.
type Config struct {
	// logs in as supabase_storage_admin, or as another role that may switch to the callers' roles
	Pool          *pool.Pool
	Backend       backend.Backend
	FileSizeLimit int64  // bytes; buckets can only lower it
	EmptyMax      int    // largest number of objects that Buckets.Empty deletes in one call; 0 means 200,000
	URLSecret     []byte // signs URLs (HS256); Signer.SetSecrets replaces it
	EncryptionKey string // of the column upload_signature, which storage-api reads
	Log           *slog.Logger
	Now           func() time.Time
	Step          func(string) // if set, called before each step of a write; tests stop the process there
}

// base holds what the stores of this package share.
type base struct {
	pool    *pool.Pool
	Backend backend.Backend
	log     *slog.Logger
	now     func() time.Time
	step    func(string)
	marks   marks
}

// Store reads and writes objects for all protocols. Its methods may be called from many goroutines.
type Store struct {
	*base
	Buckets   *Buckets
	Multipart *Multipart
	Signer    *Signer
}

// New returns a Store and its Buckets, Multipart and Signer.
func New(c Config) *Store {
	b := &base{pool: c.Pool, Backend: c.Backend, log: c.Log, now: c.Now, step: c.Step}
	if b.log == nil {
		b.log = slog.Default()
	}
	if b.step == nil {
		b.step = func(string) {}
	}
	if b.now == nil {
		b.now = time.Now
	}
	if c.EmptyMax == 0 {
		c.EmptyMax = 200_000
	}
	s := &Store{base: b, Signer: &Signer{now: b.now},
		Buckets: &Buckets{base: b, limit: c.FileSizeLimit, emptyMax: c.EmptyMax}}
	s.Multipart = &Multipart{base: b, objects: s, secret: c.EncryptionKey}
	s.Signer.SetSecrets(c.URLSecret)
	return s
}

// Healthy returns nil if the storage tables can be queried.
func (s *Store) Healthy(ctx context.Context) error {
	return s.pool.Query(ctx, Caller{}.Service().session(), `select id from storage.buckets limit 1`, nil,
		func(r pgx.Rows) error { return nil })
}

func (b *base) tx(ctx context.Context, c Caller, fn func(pgx.Tx) error) error {
	return MapDatabase(b.pool.Tx(ctx, c.session(), pgx.TxOptions{}, fn))
}

// rows runs one statement as the caller and collects its rows.
func rows[T any](ctx context.Context, b *base, c Caller, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	var out []T
	err := b.pool.Query(ctx, c.session(), sql, args, func(r pgx.Rows) (err error) {
		out, err = pgx.CollectRows(r, scan)
		return err
	})
	return out, MapDatabase(err)
}

// row returns the first row of the statement, or nil if there is none.
func row[T any](ctx context.Context, b *base, c Caller, scan pgx.RowToFunc[T], sql string, args ...any) (*T, error) {
	out, err := rows(ctx, b, c, scan, sql, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return &out[0], nil
}

// LockKey returns storage-api's hash of an object's path, so that both servers take the same
// advisory lock.
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

// lockTimeout is how long a writer waits for another writer of the same object.
var lockTimeout = pool.Setting{Name: "lock_timeout", Value: "5s"}

// lock waits until no other transaction writes the object. lockError maps its timeout.
func lock(bucket, name string) step {
	return statement(`select pg_advisory_xact_lock($1)`, text(strconv.FormatInt(LockKey(bucket, name), 10)))
}

// lockBoth returns steps that lock two objects. Transactions that lock the same two do so in the
// same order.
func lockBoth(bucket, name, otherBucket, otherName string) []step {
	if LockKey(otherBucket, otherName) < LockKey(bucket, name) {
		bucket, name, otherBucket, otherName = otherBucket, otherName, bucket, name
	}
	return []step{lock(bucket, name), lock(otherBucket, otherName)}
}

func lockError(err error) error {
	if isCode(err, "ResourceLocked") {
		return ErrLockTimeout().WithCause(err)
	}
	return err
}
