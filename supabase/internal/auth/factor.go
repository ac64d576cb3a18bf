package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/wire"
)

// factorRow is a row of auth.mfa_factors.
type factorRow struct {
	Factor
	UserID     uuid.UUID
	Secret     string
	Credential json.RawMessage // WebAuthn, as the library encodes it; null before the first verification
}

func (f *factorRow) verified() bool { return f.Status == "verified" }

const selectFactor = `
	select id, user_id, created_at, updated_at, status::text, coalesce(friendly_name, ''), factor_type::text,
	       coalesce(phone, ''), last_challenged_at, coalesce(secret, ''), web_authn_credential, web_authn_aaguid
	  from auth.mfa_factors `

func findFactors(ctx context.Context, q queries, where string, args ...any) ([]factorRow, error) {
	rows, err := q.Query(ctx, selectFactor+where, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (factorRow, error) {
		var f factorRow
		err := row.Scan(&f.ID, &f.UserID, &f.CreatedAt, &f.UpdatedAt, &f.Status, &f.FriendlyName, &f.FactorType, &f.Phone,
			&f.LastChallengedAt, &f.Secret, &f.Credential, &f.WebAuthnAAGUID)
		f.CreatedAt, f.UpdatedAt = f.CreatedAt.UTC(), f.UpdatedAt.UTC()
		utc(&f.LastChallengedAt)
		return f, err
	})
}

// factorOf loads the factor that a request names, if it is the user's.
func (e *Engine) factorOf(r *http.Request, u *User) (*factorRow, error) {
	id, err := uuid.Parse(chi.URLParam(r, "factor_id"))
	if err != nil {
		return nil, wire.Errorf(http.StatusNotFound, "validation_failed", "factor_id must be an UUID")
	}
	found, err := findFactors(r.Context(), e.db.Pgx(), `where id = $1 and user_id = $2`, id, u.ID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, wire.Errorf(http.StatusNotFound, "mfa_factor_not_found", "Factor not found")
	}
	return &found[0], nil
}

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
func (e *Engine) challengeOf(r *http.Request, tx pgx.Tx, f *factorRow, id uuid.UUID) (*challengeRow, error) {
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
	address := clientOf(r).address
	address = cmp.Or(address, "0.0.0.0")
	if c.VerifiedAt != nil || c.Address != address {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "mfa_ip_address_mismatch", "Challenge and verify IP addresses mismatch.")
	}
	if e.now().After(c.CreatedAt.Add(e.config.MFA.ChallengeExpiry)) {
		if _, err := tx.Exec(r.Context(), `delete from auth.mfa_challenges where id = $1`, id); err != nil {
			return nil, err
		}
		return nil, refused{wire.Errorf(http.StatusUnprocessableEntity, "mfa_challenge_expired",
			"MFA challenge %v has expired, verify against another challenge or create a new challenge.", id)}
	}
	return &c, nil
}

// deleteFactor removes a factor and what it proved from the sessions.
func deleteFactor(ctx context.Context, tx pgx.Tx, f *factorRow) error {
	method := map[string]string{"totp": "totp", "phone": "mfa/phone", "webauthn": "mfa/webauthn"}[f.FactorType]
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`delete from auth.mfa_amr_claims c using auth.sessions s where s.id = c.session_id and s.factor_id = $1 and c.authentication_method = $2`, []any{f.ID, method}},
		{`update auth.sessions set aal = 'aal1', factor_id = null where user_id = $1 and factor_id = $2`, []any{f.UserID, f.ID}},
		{`delete from auth.mfa_factors where id = $1`, []any{f.ID}},
	} {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}
