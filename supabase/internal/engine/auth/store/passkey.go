package store

import (
	"context"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
)

// Passkey is a row of auth.webauthn_credentials: a credential that signs in by itself, because the
// authenticator names the account. Second factors are in auth.mfa_factors.
type Passkey struct {
	ID           uuid.UUID  `json:"id"`
	FriendlyName string     `json:"friendly_name,omitempty"`
	CreatedAt    time.Time  `json:"created_at"`
	LastUsedAt   *time.Time `json:"last_used_at,omitempty"`

	Credential webauthn.Credential `json:"-"`
}

// FindPasskeys returns the passkeys of a user, oldest first.
func FindPasskeys(ctx context.Context, q Queries, user uuid.UUID) ([]Passkey, error) {
	rows, err := q.Query(ctx, `
		select id, friendly_name, created_at, last_used_at, credential_id, public_key, attestation_type, aaguid,
			sign_count,
		       transports, backup_eligible, backed_up
		  from auth.webauthn_credentials where user_id = $1 order by created_at`, user)
	if err != nil {
		return nil, err
	}
	// not nil, so that JSON has a list
	return pgx.AppendRows([]Passkey{}, rows, func(row pgx.CollectableRow) (Passkey, error) {
		var p Passkey
		var id *uuid.UUID
		var count int64
		c := &p.Credential
		err := row.Scan(&p.ID, &p.FriendlyName, &p.CreatedAt, &p.LastUsedAt, &c.ID, &c.PublicKey, &c.AttestationType,
			&id, &count, &c.Transport, &c.Flags.BackupEligible, &c.Flags.BackupState)
		c.Authenticator.SignCount = uint32(count)
		if id != nil {
			c.Authenticator.AAGUID = id[:]
		}
		p.CreatedAt = p.CreatedAt.UTC()
		UTC(&p.LastUsedAt)
		return p, err
	})
}

// ErrNoPasskey is the reply to an unknown passkey.
var ErrNoPasskey = apierror.Errorf(http.StatusNotFound, "validation_failed", "Passkey not found")

// RemovePasskey deletes a passkey of owner. The audit log names actor.
func (s *Store) RemovePasskey(ctx context.Context, owner, actor *User, name string) error {
	id, err := uuid.Parse(name)
	if err != nil {
		return ErrNoPasskey
	}
	_, err = InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		tag, err := tx.Exec(ctx, `delete from auth.webauthn_credentials where id = $1 and user_id = $2`, id, owner.ID)
		if err != nil {
			return nil, err
		}
		if tag.RowsAffected() == 0 {
			return nil, ErrNoPasskey
		}
		return nil, s.Audit(ctx, tx, actor, "passkey_deleted", map[string]any{"passkey_id": id})
	})
	return err
}
