package mfa

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Verify serves POST /factors/{id}/verify: the session gets the level aal2 and new tokens, and the
// user's sessions of a lower level end.
func (s *Service) Verify(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	f, err := store.FactorByID(r.Context(), s.DB.Pgx(), c.User, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	var p struct {
		ChallengeID uuid.UUID       `json:"challenge_id"`
		Code        string          `json:"code"`
		WebAuthn    *webAuthnAnswer `json:"webauthn"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Code == "" && f.FactorType != "webauthn" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Code needs to be non-empty")
	}
	if err := s.verifiable(f.FactorType); err != nil {
		return err
	}
	if c.Session == nil {
		return apierror.Errorf(http.StatusInternalServerError, "", "Cannot read SessionId claim as UUID")
	}
	ctx := r.Context()
	if err := s.Limiter.LimitSubject(ctx, ratelimit.Factor, f.ID.String()); err != nil {
		return err
	}
	queue := s.Sender.NotificationQueue(template.MFAFactorEnrolled)
	if q := s.Sender.CodeQueue(); q != nil && f.FactorType == "phone" {
		queue = q
	}
	reply, err := message.Queued(ctx, s.Sender, queue,
		func(tx message.Tx) (*session.TokenReply, error) {
			if err := mayAdd(ctx, tx, c, f); err != nil {
				return nil, err
			}
			// The lock keeps two requests from using one code.
			if _, err := tx.Exec(ctx, `select from auth.mfa_factors where id = $1 for update`, f.ID); err != nil {
				return nil, err
			}
			row, err := s.challengeOf(r, tx, f, p.ChallengeID)
			if err != nil {
				return nil, err
			}
			wrong, err := s.checkAnswer(ctx, tx, c.User, f, row, p.Code, p.WebAuthn)
			if err != nil {
				return nil, err
			}
			if err := s.callHook(r, tx, c.User, f, wrong == nil); err != nil {
				return nil, err
			}
			if wrong != nil {
				return nil, store.AfterCommit(wrong) // keeps what the hook has written
			}
			if err := s.Store.Audit(ctx, tx, c.User, "verification_attempted",
				map[string]any{"factor_id": f.ID, "challenge_id": row.ID, "factor_type": f.FactorType}); err != nil {
				return nil, err
			}
			return s.raise(r, tx, c, f, row)
		})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// checkAnswer checks what the user entered. wrong is the reply to a wrong answer; err is a failure.
func (s *Service) checkAnswer(ctx context.Context, tx pgx.Tx, u *store.User, f *store.FactorRow, c *challengeRow,
	code string, w *webAuthnAnswer) (wrong, err error) {
	switch {
	case f.FactorType == "phone" && s.Sender.ChecksCodes():
		valid, err := s.Sender.CheckCode(ctx, f.Phone, code)
		if err == nil && !valid {
			wrong = apierror.Errorf(http.StatusForbidden, "otp_expired", "Token has expired or is invalid")
		}
		return wrong, err
	case f.FactorType == "phone":
		if !store.Equal(c.Code, code) {
			return apierror.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed",
				"Invalid MFA Phone code entered"), nil
		}
		return nil, nil
	case f.FactorType == "webauthn":
		return s.checkWebAuthn(ctx, tx, u, f, c, w)
	}
	code = strings.TrimSpace(code) // as the library does
	valid, verr := totp.ValidateCustom(code, f.Secret, s.Now().UTC(),
		totp.ValidateOpts{Period: 30, Skew: 1, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if !valid {
		return apierror.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed",
			"Invalid TOTP code entered").WithCause(verr), nil
	}
	// A code is accepted once (RFC 6238, section 5.2). It is valid for a minute and a half.
	var used bool
	if err := tx.QueryRow(ctx,
		`select exists (select from auth.mfa_challenges where factor_id = $1 and verified_at > $2 and otp_code = $3)`,
		f.ID, s.Now().Add(-2*time.Minute), code).Scan(&used); err != nil {
		return nil, err
	}
	if used {
		return apierror.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed",
			"Invalid TOTP code entered").WithCause(errors.New("code already used")), nil
	}
	c.Code = code
	return nil, nil
}

// raise gives the session the level aal2 and a new refresh token, because the old one must not
// reach aal2.
func (s *Service) raise(r *http.Request, tx message.Tx, c *session.Caller, f *store.FactorRow,
	row *challengeRow) (*session.TokenReply, error) {
	ctx, now := r.Context(), s.Now()
	held, err := tx.Exec(ctx, `select from auth.sessions where id = $1 for update`, c.Session.ID)
	if err != nil {
		return nil, err // serialises with refreshes
	}
	if held.RowsAffected() == 0 { // the session has ended
		return nil, session.ErrSessionGone
	}
	if _, err := tx.Exec(ctx,
		`update auth.mfa_challenges set verified_at = $2, otp_code = $3 where id = $1`, row.ID, now,
		row.Code); err != nil {
		return nil, err
	}
	first := !f.Verified()
	if first {
		if _, err := tx.Exec(ctx, `update auth.mfa_factors set status = 'verified', updated_at = $2 where id = $1`,
			f.ID, now); err != nil {
			return nil, err
		}
	}
	method := map[string]string{"totp": "totp", "phone": "mfa/phone", "webauthn": "mfa/webauthn"}[f.FactorType]
	if err := store.AddMethod(ctx, tx, c.Session.ID, method, now); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `update auth.sessions set aal = 'aal2', factor_id = $2, updated_at = $3 where id = $1`,
		c.Session.ID, f.ID, now); err != nil {
		return nil, err
	}
	u, err := store.UserByID(ctx, tx, c.User.ID)
	if err != nil {
		return nil, err
	}
	token, err := s.Sessions.NextToken(ctx, tx, u, c.Session.ID)
	if err != nil {
		return nil, err
	}
	reply, err := s.Sessions.NewTokenReply(r, tx, u, c.Session.ID, token, method)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `delete from auth.sessions where user_id = $1 and aal < 'aal2'`, u.ID); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx,
		`delete from auth.mfa_factors
			where user_id = $1 and status = 'unverified'
			and factor_type = $2::auth.factor_type`, u.ID, f.FactorType); err != nil {
		return nil, err
	}
	if first {
		s.Sender.Notify(r, tx, u, template.MFAFactorEnrolled, "", template.Data{FactorType: f.FactorType})
	}
	return reply, nil
}

// callHook asks the hook whether the attempt is allowed. A rejection ends all sessions. The hook
// runs in the attempt's transaction: if all attempts waited for a second connection, none would get
// one.
func (s *Service) callHook(r *http.Request, tx pgx.Tx, u *store.User, f *store.FactorRow, valid bool) error {
	h := s.Hooks.MFAVerificationAttempt
	if !h.Enabled() {
		return nil
	}
	var v hookpoint.Verdict
	input := map[string]any{"user_id": u.ID, "factor_id": f.ID, "factor_type": f.FactorType, "valid": valid}
	if err := s.Hooks.Call(r, tx, h, "mfa-verification", input, &v); err != nil {
		return err
	}
	if !v.Rejected() {
		return nil
	}
	v.Message = cmp.Or(v.Message, "Further MFA verification attempts will be rejected.")
	if err := store.EndSessions(r.Context(), tx, u.ID); err != nil {
		return err
	}
	return store.AfterCommit(apierror.Errorf(http.StatusForbidden, "mfa_verification_rejected", "%s", v.Message))
}
