package store

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
)

// FactorRow is a row of auth.mfa_factors.
type FactorRow struct {
	Factor
	UserID     uuid.UUID
	Secret     string
	Credential json.RawMessage // WebAuthn, as the library encodes it; null until it is verified
}

// Verified reports whether the factor has been verified.
func (f *FactorRow) Verified() bool { return f.Status == "verified" }

const selectFactor = `
	select id, user_id, created_at, updated_at, status::text, coalesce(friendly_name, ''), factor_type::text,
	       coalesce(phone, ''), last_challenged_at, coalesce(secret, ''), web_authn_credential, web_authn_aaguid
	  from auth.mfa_factors `

// FindFactors returns the factors that the condition selects.
func FindFactors(ctx context.Context, q Queries, where string, args ...any) ([]FactorRow, error) {
	rows, err := q.Query(ctx, selectFactor+where, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (FactorRow, error) {
		var f FactorRow
		err := row.Scan(&f.ID, &f.UserID, &f.CreatedAt, &f.UpdatedAt, &f.Status, &f.FriendlyName, &f.FactorType,
			&f.Phone, &f.LastChallengedAt, &f.Secret, &f.Credential, &f.WebAuthnAAGUID)
		f.CreatedAt, f.UpdatedAt = f.CreatedAt.UTC(), f.UpdatedAt.UTC()
		UTC(&f.LastChallengedAt)
		return f, err
	})
}

// FactorByID returns the user's factor with the id, or the reply to a bad or unknown id.
func FactorByID(ctx context.Context, q Queries, u *User, name string) (*FactorRow, error) {
	id, err := uuid.Parse(name)
	if err != nil {
		return nil, apierror.Errorf(http.StatusNotFound, "validation_failed", "factor_id must be an UUID")
	}
	found, err := FindFactors(ctx, q, `where id = $1 and user_id = $2`, id, u.ID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, apierror.Errorf(http.StatusNotFound, "mfa_factor_not_found", "Factor not found")
	}
	return &found[0], nil
}

// DeleteFactor deletes a factor, and from the sessions the methods and levels that it gave.
func DeleteFactor(ctx context.Context, tx pgx.Tx, f *FactorRow) error {
	method := map[string]string{"totp": "totp", "phone": "mfa/phone", "webauthn": "mfa/webauthn"}[f.FactorType]
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`delete from auth.mfa_amr_claims c using auth.sessions s
			where s.id = c.session_id and s.factor_id = $1 and c.authentication_method = $2`, []any{f.ID, method}},
		{`update auth.sessions set aal = 'aal1', factor_id = null where user_id = $1 and factor_id = $2`,
			[]any{f.UserID, f.ID}},
		{`delete from auth.mfa_factors where id = $1`, []any{f.ID}},
	} {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}
