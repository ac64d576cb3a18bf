package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

const (
	// SSOPrefix begins the provider of an identity of single sign-on; the id of its row in
	// auth.sso_providers follows.
	SSOPrefix = "sso:"
	// MethodSAML is the authentication method of a sign-in by SAML.
	MethodSAML = "sso/saml"
)

// IsSSO reports whether the provider of an identity is one of single sign-on.
func IsSSO(provider string) bool { return strings.HasPrefix(provider, SSOPrefix) }

// usedAssertion begins the request_id of a row that records a used assertion. No id of a request
// begins with it.
const usedAssertion = "assertion:"

// UnusedRelayState selects the rows of auth.saml_relay_states that are requests.
const UnusedRelayState = `request_id not like '` + usedAssertion + `%'`

// UseAssertion records that an assertion of a provider has been used. It reports whether this is
// the first time. The sweep deletes the row after a day, when the assertion is too old anyway.
func UseAssertion(ctx context.Context, db *pool.Pool, provider uuid.UUID, assertion string, now time.Time) (bool, error) {
	tag, err := db.Pgx().Exec(ctx, `
		insert into auth.saml_relay_states (id, sso_provider_id, request_id, redirect_to, created_at, updated_at)
		values ($1, $2, $3, '', $4, $4) on conflict (id) do nothing`,
		assertionRow(provider, assertion), provider, usedAssertion+assertion, now)
	return err == nil && tag.RowsAffected() == 1, err
}

func assertionRow(provider uuid.UUID, assertion string) uuid.UUID {
	return uuid.NewHash(sha256.New(), provider, []byte(usedAssertion+assertion), 8)
}

// KeepSessionEnd keeps the end of the session that a flow will begin, in the row of its assertion.
func KeepSessionEnd(ctx context.Context, tx pgx.Tx, provider uuid.UUID, assertion string, flow uuid.UUID,
	end time.Time) error {
	_, err := tx.Exec(ctx, `update auth.saml_relay_states set flow_state_id = $2, redirect_to = $3 where id = $1`,
		assertionRow(provider, assertion), flow, end.Format(time.RFC3339))
	return err
}

// SessionEnd returns what KeepSessionEnd kept for a flow, or nil.
func SessionEnd(ctx context.Context, tx pgx.Tx, flow uuid.UUID) (*time.Time, error) {
	var end time.Time
	err := tx.QueryRow(ctx, `
		select redirect_to::timestamptz from auth.saml_relay_states
		 where flow_state_id = $1 and request_id like '`+usedAssertion+`%'`, flow).Scan(&end)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &end, err
}
