package ratelimit

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// levelAfter is the level of a bucket after one more drop. A bucket whose time lies further in the
// future than it takes to empty was written by a wrong clock and counts as empty, so that it does
// not refuse requests until that time.
const levelAfter = `case when b.updated_at > $2::timestamptz + $5::interval then 0
	else greatest(0,
		b.level - greatest(0, extract(epoch from $2::timestamptz - b.updated_at))::float8 * $3::float8) end + 1`

// bucket is a leaky bucket: it holds capacity drops and loses perSecond of them.
type bucket struct{ capacity, perSecond float64 }

// bucketOf returns the bucket for most requests in per, with as many at once.
func bucketOf(most int, per time.Duration) bucket {
	return bucket{float64(most), float64(most) / per.Seconds()}
}

// empties returns the time in which a full bucket empties.
func (b bucket) empties() time.Duration {
	return time.Duration(b.capacity / b.perSecond * float64(time.Second))
}

// times returns a bucket for n times as much.
func (b bucket) times(n int) bucket { return bucket{b.capacity * float64(n), b.perSecond * float64(n)} }

// drop is one drop into the bucket of a key.
type drop struct {
	key string
	bucket
}

// pour adds drops to their buckets, one after the other. It returns false if one of them would
// overflow; later buckets get no drop then, so refused requests of one client do not use up the
// limit of its network.
func (l *Limiter) pour(ctx context.Context, drops ...drop) (bool, error) {
	for _, d := range drops {
		if room, err := l.pourOne(ctx, d); !room || err != nil {
			return false, err
		}
	}
	if rand.IntN(500) == 0 { // delete old buckets now and then
		_, err := l.DB.Pgx().Exec(ctx, `delete from auth_limits.buckets where updated_at < $1`,
			l.Now().Add(-24*time.Hour))
		return true, err
	}
	return true, nil
}

// pourOne adds one drop to its bucket. It returns false if the bucket would overflow. One statement
// does it, so that replicas cannot race. The key is stored as a hash, because it may hold an
// address.
func (l *Limiter) pourOne(ctx context.Context, d drop) (bool, error) {
	hash := sha256.Sum256([]byte(d.key))
	var level float64
	err := l.DB.Pgx().QueryRow(ctx, `
		insert into auth_limits.buckets as b (key, level, updated_at) values ($1, 1, $2)
		on conflict (key) do update
		set level = `+levelAfter+`, updated_at = $2
		where `+levelAfter+` <= $4::float8
		returning level`,
		hash[:], l.Now(), d.perSecond, d.capacity, d.empties()).Scan(&level)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// level returns the level of a bucket after one more drop, without adding the drop and without a
// lock. (The query mentions $4, which levelAfter does not use, so that Postgres knows its type.)
func (l *Limiter) level(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, key string, b bucket) (float64, error) {
	hash := sha256.Sum256([]byte(key))
	level := 1.0
	err := q.QueryRow(ctx, `select `+levelAfter+` from auth_limits.buckets b where b.key = $1 and $4::float8 > 0`,
		hash[:], l.Now(), b.perSecond, b.capacity, b.empties()).Scan(&level)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return level, err
}
