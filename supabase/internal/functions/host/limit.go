package host

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"sync"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// Limit adds the statements that count a request of a client and of its networks, and that fail
// beyond the limit. A window begins with the client's first request. The table is unlogged, so
// counting alone needs no disk flush. A client without an address is this machine, which has no
// limit.
func (s *services) Limit(ctx context.Context, b *pgx.Batch, client, name string, most int, per time.Duration) error {
	if client == "" {
		return nil
	}
	for _, part := range network.Of(client) {
		hash, err := s.clientHash(ctx, part.Key)
		if err != nil {
			return err
		}
		b.Queue(`select edge_functions.count_request($1, $2, $3, $4)`, hash, name, most*part.Share, per)
	}
	return nil
}

// Network returns the hash with which Limit counts a client, or "" for this machine.
func (s *services) Network(ctx context.Context, client string) (string, error) {
	if client == "" {
		return "", nil
	}
	return s.clientHash(ctx, network.Client(client))
}

// tooMany recognises the error of edge_functions.count_request. Its detail is the number of seconds
// until the window ends.
func tooMany(err error) (*edge.Error, bool) {
	pg, ok := pool.AsPgError(err)
	if !ok || pg.Code != "PT429" {
		return nil, false
	}
	left, perr := strconv.Atoi(pg.Detail)
	if perr != nil {
		return nil, false
	}
	return edge.TooMany(time.Duration(left) * time.Second), true
}

// clientHash returns the hash of a network with the salt of the day.
func (s *services) clientHash(ctx context.Context, network string) (string, error) {
	salt, err := s.saltOfToday(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(network))
	return hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

type saltCache struct {
	mu   sync.Mutex
	day  string
	salt []byte
}

// saltOfToday returns the salt of the day and creates it at its first use. It deletes older salts,
// as Sweep does every hour; without them no hash leads back to an address. A new day has other
// hashes, so all limits start again at midnight, UTC.
func (s *services) saltOfToday(ctx context.Context) ([]byte, error) {
	day := s.host.Now().UTC().Format(time.DateOnly)
	s.salt.mu.Lock()
	defer s.salt.mu.Unlock()
	if s.salt.day == day {
		return s.salt.salt, nil
	}
	var salt []byte
	err := s.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into edge_functions.daily_salts (day) values ($1) on conflict do nothing`,
			day); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from edge_functions.daily_salts where day < $1::date`, day); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select salt from edge_functions.daily_salts where day = $1`, day).Scan(&salt)
	})
	if err != nil {
		return nil, err
	}
	s.salt.day, s.salt.salt = day, salt
	return salt, nil
}
