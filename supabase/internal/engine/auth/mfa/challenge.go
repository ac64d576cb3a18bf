package mfa

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
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

// insertChallenge stores a challenge and its time at the factor.
func insertChallenge(ctx context.Context, tx pgx.Tx, c challengeRow) error {
	// A client without an address (a unix socket) gets one, because the reply must come from the
	// same address.
	c.Address = cmp.Or(c.Address, "0.0.0.0")
	if _, err := tx.Exec(ctx, `
		insert into auth.mfa_challenges (id, factor_id, created_at, ip_address, otp_code, web_authn_session_data)
		values ($1, $2, $3, $4::inet, $5, $6)`,
		c.ID, c.FactorID, c.CreatedAt, c.Address, c.Code, c.SessionData); err != nil {
		return err
	}
	return markChallenged(ctx, tx, c.FactorID, c.CreatedAt)
}

// markChallenged stores the time of a challenge at its factor. The column is unique in the whole
// table (GoTrue's schema), so a time that another factor has is moved by less than a millisecond.
func markChallenged(ctx context.Context, tx pgx.Tx, factor uuid.UUID, at time.Time) (err error) {
	for range 10 {
		err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
			_, err := savepoint.Exec(ctx,
				`update auth.mfa_factors set last_challenged_at = $2, updated_at = $2 where id = $1`, factor, at)
			return err
		})
		if !pool.IsCode(err, "23505") {
			return err
		}
		at = at.Add(time.Duration(1+rand.IntN(999)) * time.Microsecond)
	}
	return err
}

// challengeOf returns a challenge that can still be answered, and locks it, so that it is answered
// once.
func (s *Service) challengeOf(r *http.Request, tx pgx.Tx, f *store.FactorRow, id uuid.UUID) (*challengeRow, error) {
	c := challengeRow{ID: id, FactorID: f.ID}
	err := tx.QueryRow(r.Context(), `
		select created_at, verified_at, host(ip_address), coalesce(otp_code, ''), web_authn_session_data
		  from auth.mfa_challenges where id = $1 and factor_id = $2 for update`, id, f.ID).
		Scan(&c.CreatedAt, &c.VerifiedAt, &c.Address, &c.Code, &c.SessionData)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "mfa_factor_not_found",
			"MFA factor with the provided challenge ID not found")
	}
	if err != nil {
		return nil, err
	}
	address := endpoint.ClientOf(r).Address
	address = cmp.Or(address, "0.0.0.0")
	if c.VerifiedAt != nil || c.Address != address {
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "mfa_ip_address_mismatch",
			"Challenge and verify IP addresses mismatch.")
	}
	if s.Now().After(c.CreatedAt.Add(s.Config.MFA.ChallengeExpiry)) {
		if _, err := tx.Exec(r.Context(), `delete from auth.mfa_challenges where id = $1`, id); err != nil {
			return nil, err
		}
		return nil, store.AfterCommit(apierror.Errorf(http.StatusUnprocessableEntity, "mfa_challenge_expired",
			"MFA challenge %v has expired, verify against another challenge or create a new challenge.", id))
	}
	return &c, nil
}

// challengeReply is the reply of Challenge.
type challengeReply struct {
	ID        uuid.UUID     `json:"id"`
	Type      string        `json:"type"`
	ExpiresAt int64         `json:"expires_at,omitempty"`
	WebAuthn  *webAuthnPart `json:"webauthn,omitempty"`
}

// Challenge serves POST /factors/{id}/challenge.
func (s *Service) Challenge(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	f, err := store.FactorByID(r.Context(), s.DB.Pgx(), c.User, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	if err := s.verifiable(f.FactorType); err != nil {
		return err
	}
	var p struct {
		Channel string `json:"channel"`
	}
	if f.FactorType != "totp" {
		if err := endpoint.ReadJSON(r, &p); err != nil {
			return err
		}
	}
	row := challengeRow{ID: uuid.New(), FactorID: f.ID, CreatedAt: s.Now(), Address: endpoint.ClientOf(r).Address}
	reply := challengeReply{ID: row.ID, Type: f.FactorType,
		ExpiresAt: row.CreatedAt.Add(s.Config.MFA.ChallengeExpiry).Unix()}
	var wait message.Queue
	if f.FactorType == "phone" {
		wait = s.Sender.TextQueue()
	}
	_, err = message.Queued(r.Context(), s.Sender, wait, func(tx message.Tx) (any, error) {
		if err := mayAdd(r.Context(), tx, c, f); err != nil {
			return nil, err
		}
		switch f.FactorType {
		case "phone":
			if err := s.sendFactorCode(r, tx, c.User, f, &row, p.Channel); err != nil {
				return nil, err
			}
		case "webauthn":
			var err error
			if reply.WebAuthn, row.SessionData, err = s.webAuthnChallenge(r.Context(), tx, c.User, f); err != nil {
				return nil, err
			}
		}
		if err := insertChallenge(r.Context(), tx, row); err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(r.Context(), tx, c.User, "challenge_created",
			map[string]any{"factor_id": f.ID, "factor_status": f.Status})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// verifiable returns an error if factors of the kind cannot be used.
func (s *Service) verifiable(kind string) error {
	off := func(code, name string) error {
		return apierror.Errorf(http.StatusUnprocessableEntity, code, "MFA verification is disabled for %s", name)
	}
	m := s.Config.MFA
	switch {
	case kind == "totp" && m.DisableTOTPVerify:
		return off("mfa_totp_verify_not_enabled", "TOTP")
	case kind == "phone" && !m.EnablePhoneVerify:
		return off("mfa_phone_verify_not_enabled", "Phone")
	case kind == "webauthn" && !m.EnableWebAuthnVerify:
		return off("mfa_webauthn_verify_not_enabled", "WebAuthn")
	}
	return nil
}

// sendFactorCode sends a code to the phone of the factor.
func (s *Service) sendFactorCode(r *http.Request, tx message.Tx, u *store.User, f *store.FactorRow, c *challengeRow,
	channel string) error {
	if err := s.Sender.CheckChannel(channel); err != nil {
		return err
	}
	channel = cmp.Or(channel, "sms")
	// Another request may have sent a code since.
	if err := tx.QueryRow(r.Context(), `select last_challenged_at from auth.mfa_factors where id = $1 for update`,
		f.ID).Scan(&f.LastChallengedAt); errors.Is(err, pgx.ErrNoRows) {
		return store.ErrContactChanged
	} else if err != nil {
		return err
	}
	if err := s.Limiter.TooSoon(f.LastChallengedAt, s.Config.MFA.PhoneMaxFrequency,
		"over_sms_send_rate_limit"); err != nil {
		return err
	}
	c.Code = password.Code(s.Config.MFA.PhoneCodeLength)
	_, err := s.Sender.SendSMS(r, tx, u, message.SMSData{OTP: c.Code, Type: "mfa", Phone: f.Phone},
		s.Config.MFA.PhoneTemplate, channel, "mfa")
	return err
}
