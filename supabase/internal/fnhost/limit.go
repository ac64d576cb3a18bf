package fnhost

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"sync"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/db"

	"github.com/jackc/pgx/v5"
)

// Limit counts a request in its client's window, which begins with the client's first request. The counting row is not
// logged (request_limits is an unlogged table), so this costs a round trip but no disk flush. A client without an address
// is this machine itself, and is not limited.
func (s *services) Limit(ctx context.Context, client, name string, most int, per time.Duration) (time.Duration, error) {
	if client == "" {
		return 0, nil
	}
	hash, err := s.clientHash(ctx, client)
	if err != nil {
		return 0, err
	}
	const q = `
insert into private.request_limits as l (client, name) values ($1, $2)
on conflict (client, name) do update
  set requests = case when l.started_at <= now() - $3::interval then 1 else l.requests + 1 end,
      started_at = case when l.started_at <= now() - $3::interval then now() else l.started_at end
returning requests, extract(epoch from started_at + $3::interval - now())::float8`
	var requests int
	var left float64
	err = s.host.DB.Query(ctx, db.Caller{Role: edge.Service.Role}, q, []any{hash, name, per}, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&requests, &left}, func() error { return nil })
		return err
	})
	if err != nil {
		return 0, public(err)
	}
	if requests <= most {
		return 0, nil
	}
	return max(time.Duration(left*float64(time.Second)), time.Second), nil
}

// clientHash is the address under the salt of the day. Of an IPv6 address only the network counts: one household has
// 2^64 of them.
func (s *services) clientHash(ctx context.Context, client string) (string, error) {
	if a, err := netip.ParseAddr(client); err == nil {
		if a = a.Unmap().WithZone(""); a.Is6() {
			client = netip.PrefixFrom(a, 64).Masked().String()
		} else {
			client = a.String()
		}
	}
	salt, err := s.saltOfToday(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(client))
	return hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

type saltCache struct {
	mu   sync.Mutex
	day  string
	salt []byte
}

// saltOfToday is the day's salt, made by whoever is first. Yesterday's are deleted on the way: with them goes the last
// way back from a hash to an address.
func (s *services) saltOfToday(ctx context.Context) ([]byte, error) {
	day := s.host.Now().UTC().Format(time.DateOnly)
	s.salt.mu.Lock()
	defer s.salt.mu.Unlock()
	if s.salt.day == day {
		return s.salt.salt, nil
	}
	var salt []byte
	err := s.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into private.daily_salts (day) values ($1) on conflict do nothing`, day); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from private.daily_salts where day < $1::date - 1`, day); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select salt from private.daily_salts where day = $1`, day).Scan(&salt)
	})
	if err != nil {
		return nil, err
	}
	s.salt.day, s.salt.salt = day, salt
	return salt, nil
}
