package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// challengeRow is a row of auth.mfa_challenges.
type challengeRow struct {
	ID          uuid.UUID
	FactorID    uuid.UUID
	CreatedAt   time.Time
	VerifiedAt  *time.Time
	Address     string
	Code        string
	SessionData json.RawMessage
}

// insertChallenge stores a challenge and notes when the factor was challenged.
func insertChallenge(ctx context.Context, tx pgx.Tx, c challengeRow) error {
	// A client without an address (a unix socket) still needs one that it keeps.
	c.Address = cmp.Or(c.Address, "0.0.0.0")
	if _, err := tx.Exec(ctx, `
		insert into auth.mfa_challenges (id, factor_id, created_at, ip_address, otp_code, web_authn_session_data)
		values ($1, $2, $3, $4::inet, nullif($5, ''), $6)`,
		c.ID, c.FactorID, c.CreatedAt, c.Address, c.Code, c.SessionData); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `update auth.mfa_factors set last_challenged_at = $2, updated_at = $2 where id = $1`, c.FactorID, c.CreatedAt)
	return err
}

// challengeOf loads a challenge that may still be answered, and locks it: it is answered once.
func (e *Engine) challengeOf(r *http.Request, tx pgx.Tx, f *store.FactorRow, id uuid.UUID) (*challengeRow, error) {
	c := challengeRow{ID: id, FactorID: f.ID}
	err := tx.QueryRow(r.Context(), `
		select created_at, verified_at, host(ip_address), coalesce(otp_code, ''), web_authn_session_data
		  from auth.mfa_challenges where id = $1 and factor_id = $2 for update`, id, f.ID).
		Scan(&c.CreatedAt, &c.VerifiedAt, &c.Address, &c.Code, &c.SessionData)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "mfa_factor_not_found", "MFA factor with the provided challenge ID not found")
	}
	if err != nil {
		return nil, err
	}
	address := endpoint.ClientOf(r).Address
	address = cmp.Or(address, "0.0.0.0")
	if c.VerifiedAt != nil || c.Address != address {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "mfa_ip_address_mismatch", "Challenge and verify IP addresses mismatch.")
	}
	if e.now().After(c.CreatedAt.Add(e.config.MFA.ChallengeExpiry)) {
		if _, err := tx.Exec(r.Context(), `delete from auth.mfa_challenges where id = $1`, id); err != nil {
			return nil, err
		}
		return nil, store.AfterCommit(wire.Errorf(http.StatusUnprocessableEntity, "mfa_challenge_expired",
			"MFA challenge %v has expired, verify against another challenge or create a new challenge.", id))
	}
	return &c, nil
}
