package auth

import (
	"context"
	"fmt"
	"time"
)

// swept is what has no use any more a while after its time, by table. $1 is the time before which that is so.
//
// Of the refresh tokens the one before the current stays: a phone that lost the last answer, and was off since, has no
// other (refreshLegacy).
func (e *Engine) swept(now time.Time) []sweep {
	const day = 24 * time.Hour
	c := e.config
	out := []sweep{
		{"refresh_tokens", `t.revoked and t.updated_at < $1
			and not exists (select from auth.refresh_tokens n where n.parent = t.token and n.revoked is false)`, now.Add(-day)},
		{"sessions", `t.not_after < $1`, now.Add(-day)},
		{"flow_state", `t.created_at < $1`, now.Add(-day - c.Mail.CodeExpiry)}, // it may wait for a link in a mailbox
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
		out = append(out, sweep{"sessions", `greatest(t.refreshed_at at time zone 'utc', t.created_at) < $1`, now.Add(-day - c.Inactivity)})
	}
	return out
}

type sweep struct {
	table, where string
	before       time.Time
}

// sweepBatch is how many rows one statement removes: none keeps others waiting.
const sweepBatch = 1000

// Sweep removes what is left of flows, challenges and sessions that ended long ago. It may run beside anything, and on
// several replicas at once.
func (e *Engine) Sweep(ctx context.Context) error {
	for _, s := range e.swept(e.now()) {
		statement := fmt.Sprintf(`
			delete from auth.%[1]s where id in (
			  select t.id from auth.%[1]s t where %[2]s limit %[3]d for update skip locked)`, s.table, s.where, sweepBatch)
		for {
			done, err := e.db.Pgx().Exec(ctx, statement, s.before)
			if err != nil {
				return fmt.Errorf("sweep %s: %w", s.table, err)
			}
			if done.RowsAffected() < sweepBatch {
				break
			}
		}
	}
	return nil
}
