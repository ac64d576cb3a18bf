package store

import (
	"context"
	"fmt"
	"time"
)

// sweep describes rows of a table that can be deleted: where is a condition on the row t, in which
// $1 is before.
type sweep struct {
	table, where string
	before       time.Time
}

// sweeps returns what can be deleted at now: rows that expired at least a day ago.
//
// The refresh token before the current one stays. A client that lost the last reply and was offline
// since has no other (see session.refreshLegacy).
func (s *Store) sweeps(now time.Time) []sweep {
	const day = 24 * time.Hour
	c := s.Config
	out := []sweep{
		{"refresh_tokens", `t.revoked and t.updated_at < $1
			and not exists (select from auth.refresh_tokens n where n.parent = t.token and n.revoked is false)`,
			now.Add(-day)},
		{"sessions", `t.not_after < $1`, now.Add(-day)},
		{"flow_state", `t.created_at < $1`, now.Add(-day - c.LinkExpiry)}, // its link may still be valid
		{"saml_relay_states", `t.created_at < $1`, now.Add(-day)},
		{"oauth_client_states", `t.created_at < $1`, now.Add(-day)},
		{"oauth_authorizations", `t.expires_at < $1`, now.Add(-day)},
		{"mfa_challenges", `t.created_at < $1`, now.Add(-day)},
		{"mfa_factors", `t.status = 'unverified' and t.created_at < $1`, now.Add(-day)},
		{"webauthn_challenges", `t.expires_at < $1`, now.Add(-day)},
	}
	if c.Timebox > 0 {
		out = append(out, sweep{"sessions", `t.created_at < $1`, now.Add(-day - c.Timebox)})
	}
	if c.Inactivity > 0 {
		out = append(out, sweep{"sessions", `greatest(t.refreshed_at at time zone 'utc', t.created_at) < $1`,
			now.Add(-day - c.Inactivity)})
	}
	return out
}

// sweepBatch is the number of rows that one statement deletes, so that it locks few rows at a time.
const sweepBatch = 1000

// Sweep deletes flows, challenges, tokens and sessions that expired long ago. It may run beside all
// other work, and on several replicas at once.
func (s *Store) Sweep(ctx context.Context) error {
	for _, rows := range s.sweeps(s.Now()) {
		statement := fmt.Sprintf(`
			delete from auth.%[1]s where id in (
			  select t.id from auth.%[1]s t where %[2]s limit %[3]d for update skip locked)`, rows.table, rows.where,
			sweepBatch)
		for {
			done, err := s.DB.Pgx().Exec(ctx, statement, rows.before)
			if err != nil {
				return fmt.Errorf("sweep %s: %w", rows.table, err)
			}
			if done.RowsAffected() < sweepBatch {
				break
			}
		}
	}
	return nil
}
