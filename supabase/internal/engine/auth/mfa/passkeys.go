package mfa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// WithPasskeys calls h if passkeys are enabled, else it replies as GoTrue does when they are
// disabled.
func (s *Service) WithPasskeys(h func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !s.Config.WebAuthn.Passkeys {
			return apierror.Errorf(http.StatusNotFound, "passkey_disabled", "Passkeys are disabled")
		}
		return h(w, r)
	}
}

// passkeyHolder returns the user with the credentials of the passkeys.
func passkeyHolder(ctx context.Context, q store.Queries, u *store.User) (holder, error) {
	h := holder{user: u}
	keys, err := store.FindPasskeys(ctx, q, u.ID)
	for _, k := range keys {
		h.credentials = append(h.credentials, k.Credential)
	}
	return h, err
}

// passkeyOptions is a challenge to an authenticator.
type passkeyOptions struct {
	ChallengeID uuid.UUID `json:"challenge_id"`
	Options     any       `json:"options"`
	ExpiresAt   int64     `json:"expires_at"`
}

// storeChallenge stores a challenge to an authenticator; user is nil if the authenticator will name
// the user.
func (s *Service) storeChallenge(ctx context.Context, user *uuid.UUID, kind string, session *webauthn.SessionData,
	options any) (passkeyOptions, error) {
	expires := s.Now().Add(s.Config.WebAuthn.ChallengeExpiry)
	reply := passkeyOptions{ChallengeID: uuid.New(), Options: options, ExpiresAt: expires.Unix()}
	data, err := json.Marshal(session)
	if err != nil {
		return reply, err
	}
	_, err = s.DB.Exec(ctx, pool.Caller{}, `
		insert into auth.webauthn_challenges (id, user_id, challenge_type, session_data, created_at, expires_at)
		values ($1, $2, $3, $4, $5, $6)`, reply.ChallengeID, user, kind, data, s.Now(), expires)
	return reply, err
}

// passkeyAnswer is the reply of an authenticator.
type passkeyAnswer struct {
	ChallengeID string          `json:"challenge_id"`
	Credential  json.RawMessage `json:"credential"`
}

// takeChallenge returns a challenge and deletes it, so that it is answered once.
func (s *Service) takeChallenge(r *http.Request, user *uuid.UUID, kind string) (session webauthn.SessionData,
	p passkeyAnswer, err error) {
	bad := func(code, text string) error { return apierror.Errorf(http.StatusBadRequest, code, "%s", text) }
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return session, p, err
	}
	if p.ChallengeID == "" {
		return session, p, bad("validation_failed", "challenge_id is required")
	}
	if p.Credential == nil {
		return session, p, bad("validation_failed", "credential is required")
	}
	id, err := uuid.Parse(p.ChallengeID)
	if err != nil {
		return session, p, bad("validation_failed", "challenge_id must be a valid UUID")
	}
	var data []byte
	var expires time.Time
	err = s.DB.Pgx().QueryRow(r.Context(), `
		delete from auth.webauthn_challenges
		 where id = $1 and challenge_type = $2 and user_id is not distinct from $3 returning session_data, expires_at`,
		id, kind, user).Scan(&data, &expires)
	if errors.Is(err, pgx.ErrNoRows) {
		return session, p, bad("webauthn_challenge_not_found", "Challenge not found or already used")
	}
	if err != nil {
		return session, p, err
	}
	if s.Now().After(expires) {
		return session, p, bad("webauthn_challenge_expired", "Challenge has expired")
	}
	return session, p, json.Unmarshal(data, &session)
}

// checkManage returns an error if the user may not add or remove passkeys in the session.
func checkManage(c *session.Caller) error {
	if c.User.IsSSO {
		return apierror.Errorf(http.StatusUnprocessableEntity, "validation_failed",
			"SSO users cannot register passkeys")
	}
	if c.User.HasVerifiedFactor() && (c.Session == nil || c.Session.AAL != "aal2") {
		return apierror.Errorf(http.StatusForbidden, "insufficient_aal",
			"AAL2 session is required to manage passkeys when MFA is enabled")
	}
	return nil
}

// RegistrationOptions serves POST /passkeys/registration/options.
func (s *Service) RegistrationOptions(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	if err := checkManage(c); err != nil {
		return err
	}
	h, err := passkeyHolder(r.Context(), s.DB.Pgx(), c.User)
	if err != nil {
		return err
	}
	if len(h.credentials) >= s.Config.WebAuthn.MaxPasskeys {
		return errTooManyPasskeys
	}
	rp, err := s.relyingParty(true)
	if err != nil {
		return err
	}
	options, session, err := rp.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.credentials).CredentialDescriptors()))
	if err != nil {
		return apierror.Errorf(http.StatusInternalServerError, "",
			"Failed to generate WebAuthn registration options").WithCause(err)
	}
	reply, err := s.storeChallenge(r.Context(), &c.User.ID, "registration", session, options.Response)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

var errTooManyPasskeys = apierror.Errorf(http.StatusUnprocessableEntity, "too_many_passkeys",
	"Maximum number of passkeys reached")

// Register serves POST /passkeys/registration/verify.
func (s *Service) Register(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	if err := checkManage(c); err != nil {
		return err
	}
	ceremony, p, err := s.takeChallenge(r, &c.User.ID, "registration")
	if err != nil {
		return err
	}
	ctx := r.Context()
	parsed, err := protocol.ParseCredentialCreationResponseBody(bytes.NewReader(p.Credential))
	if err != nil {
		return apierror.Errorf(http.StatusBadRequest, "webauthn_verification_failed",
			"Invalid credential response").WithCause(err)
	}
	rp, err := s.relyingParty(true)
	if err != nil {
		return err
	}
	made := store.Passkey{ID: uuid.New(), FriendlyName: "Passkey", CreatedAt: s.Now()} // until the user renames it
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		if err := s.Sessions.Reauthorize(ctx, tx, c); err != nil {
			return nil, err
		}
		if err := checkManage(c); err != nil {
			return nil, err
		}
		h, err := passkeyHolder(ctx, tx, c.User)
		if err != nil {
			return nil, err
		}
		if len(h.credentials) >= s.Config.WebAuthn.MaxPasskeys {
			return nil, errTooManyPasskeys
		}
		credential, err := rp.CreateCredential(h, ceremony, parsed)
		if err != nil {
			return nil, apierror.Errorf(http.StatusBadRequest, "webauthn_verification_failed",
				"Credential verification failed").WithCause(err)
		}
		transports, err := json.Marshal(credential.Transport)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, `
			insert into auth.webauthn_credentials (
			  id, user_id, credential_id, public_key, attestation_type, aaguid, sign_count, transports,
			  backup_eligible, backed_up, friendly_name, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`,
			made.ID, c.User.ID, credential.ID, credential.PublicKey, credential.AttestationType, aaguid(credential),
			int64(credential.Authenticator.SignCount), transports, credential.Flags.BackupEligible,
			credential.Flags.BackupState, made.FriendlyName, made.CreatedAt); err != nil {
			if pool.IsCode(err, "23505") {
				return nil, apierror.Errorf(http.StatusUnprocessableEntity, "webauthn_credential_exists",
					"This credential is already registered")
			}
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, c.User, "passkey_created", map[string]any{"passkey_id": made.ID})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, made)
}

// LoginOptions serves POST /passkeys/authentication/options.
func (s *Service) LoginOptions(w http.ResponseWriter, r *http.Request) error {
	rp, err := s.relyingParty(true)
	if err != nil {
		return err
	}
	options, session, err := rp.BeginDiscoverableLogin()
	if err != nil {
		return apierror.Errorf(http.StatusInternalServerError, "",
			"Failed to generate WebAuthn authentication options").WithCause(err)
	}
	reply, err := s.storeChallenge(r.Context(), nil, "authentication", session, options.Response)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// Login serves POST /passkeys/authentication/verify.
func (s *Service) Login(w http.ResponseWriter, r *http.Request) error {
	ceremony, p, err := s.takeChallenge(r, nil, "authentication")
	if err != nil {
		return err
	}
	failed := func(text string, err error) error {
		return apierror.Errorf(http.StatusBadRequest, "webauthn_verification_failed", "%s", text).WithCause(err)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBody(bytes.NewReader(p.Credential))
	if err != nil {
		return failed("Invalid credential response", err)
	}
	rp, err := s.relyingParty(true)
	if err != nil {
		return err
	}
	ctx := r.Context()
	var u *store.User
	find := func(_, handle []byte) (webauthn.User, error) {
		id, err := uuid.Parse(string(handle))
		if err != nil {
			return nil, err
		}
		if u, err = store.UserByID(ctx, s.DB.Pgx(), id); err != nil {
			return nil, err
		}
		return passkeyHolder(ctx, s.DB.Pgx(), u)
	}
	_, credential, err := rp.ValidatePasskeyLogin(find, ceremony, parsed)
	if err != nil {
		return failed("Credential verification failed", err)
	}
	if credential.Authenticator.CloneWarning {
		return failed("Credential verification failed", errCloned)
	}
	switch {
	case u.Email != "" && !u.Confirmed():
		return apierror.Errorf(http.StatusForbidden, "email_not_confirmed", "Email not confirmed")
	case u.Phone != "" && !u.PhoneConfirmed():
		return apierror.Errorf(http.StatusForbidden, "phone_not_confirmed", "Phone not confirmed")
	case u.Banned(s.Now()):
		return apierror.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	reply, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (*session.TokenReply, error) {
		var id uuid.UUID
		if err := tx.QueryRow(ctx, `
			update auth.webauthn_credentials set last_used_at = $2, updated_at = $2, sign_count = $3
			where credential_id = $1 returning id`,
			credential.ID, s.Now(), int64(credential.Authenticator.SignCount)).Scan(&id); err != nil {
			return nil, err
		}
		if err := s.Store.Audit(ctx, tx, u, "login", map[string]any{"passkey_id": id}); err != nil {
			return nil, err
		}
		return s.Sessions.SignIn(r, tx, w.Header(), u, "passkey")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// ListPasskeys serves GET /passkeys.
func (s *Service) ListPasskeys(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	keys, err := store.FindPasskeys(r.Context(), s.DB.Pgx(), c.User.ID)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, keys)
}

// RenamePasskey serves PATCH /passkeys/{id}.
func (s *Service) RenamePasskey(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	id, err := uuid.Parse(chi.URLParam(r, "passkey_id"))
	if err != nil {
		return store.ErrNoPasskey
	}
	var p struct {
		Name string `json:"friendly_name"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Name == "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "friendly_name is required")
	}
	if len(p.Name) > 120 {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"friendly_name must be 120 characters or less")
	}
	ctx := r.Context()
	renamed := store.Passkey{ID: id, FriendlyName: p.Name}
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		err := tx.QueryRow(ctx, `
			update auth.webauthn_credentials set friendly_name = $3, updated_at = $4 where id = $1 and user_id = $2
			returning created_at, last_used_at`, id, c.User.ID, p.Name, s.Now()).Scan(&renamed.CreatedAt,
			&renamed.LastUsedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, store.ErrNoPasskey
		}
		if err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, c.User, "passkey_updated", map[string]any{"passkey_id": id})
	})
	if err != nil {
		return err
	}
	renamed.CreatedAt = renamed.CreatedAt.UTC()
	store.UTC(&renamed.LastUsedAt)
	return endpoint.SendJSON(w, http.StatusOK, renamed)
}

// DeletePasskey serves DELETE /passkeys/{id}.
func (s *Service) DeletePasskey(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	if err := checkManage(c); err != nil {
		return err
	}
	if err := s.Store.RemovePasskey(r.Context(), c.User, c.User, chi.URLParam(r, "passkey_id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
