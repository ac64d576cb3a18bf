package auth

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/password"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

type enrollReply struct {
	ID           uuid.UUID   `json:"id"`
	Type         string      `json:"type"`
	FriendlyName string      `json:"friendly_name"`
	TOTP         *totpSecret `json:"totp,omitempty"`
	Phone        string      `json:"phone,omitempty"`
}

type totpSecret struct {
	QRCode string `json:"qr_code"` // SVG; auth-js makes it a data: URL
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

// asFactorUser lets a handler run for a user who is somebody: second factors protect accounts, not visitors.
func (e *Engine) asFactorUser(h func(http.ResponseWriter, *http.Request, *session.Caller) error) func(http.ResponseWriter, *http.Request) error {
	return e.sessions.AsUser(func(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
		if c.User.IsAnonymous {
			return wire.Errorf(http.StatusForbidden, "no_authorization", "Anonymous user not allowed to perform these actions")
		}
		return h(w, r, c)
	})
}

// enroll answers POST /factors: a factor that protects once it has been verified.
func (e *Engine) enroll(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	if c.Session == nil {
		return wire.Errorf(http.StatusInternalServerError, "", "A valid session and a registered user are required to enroll a factor")
	}
	var p struct {
		FriendlyName string `json:"friendly_name"`
		FactorType   string `json:"factor_type"`
		Issuer       string `json:"issuer"`
		Phone        string `json:"phone"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if err := e.enrollable(p.FactorType); err != nil {
		return err
	}
	now := e.now()
	f := store.FactorRow{UserID: c.User.ID, Factor: store.Factor{ID: uuid.New(), CreatedAt: now, UpdatedAt: now, Status: "unverified", FriendlyName: p.FriendlyName, FactorType: p.FactorType}}
	reply := enrollReply{ID: f.ID, Type: p.FactorType, FriendlyName: p.FriendlyName}
	switch p.FactorType {
	case "phone":
		if p.Phone == "" {
			return wire.Errorf(http.StatusBadRequest, "validation_failed", "Phone number required to enroll Phone factor")
		}
		var err error
		if f.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
		reply.Phone = p.Phone
	case "totp":
		p.Issuer = cmp.Or(p.Issuer, e.redirects.Host())
		key, err := totp.Generate(totp.GenerateOpts{Issuer: p.Issuer, AccountName: account(c.User)})
		if err != nil {
			return wire.Errorf(http.StatusInternalServerError, "", "Error generating QR Code").WithCause(err)
		}
		image, err := qrSVG(key.String())
		if err != nil {
			return wire.Errorf(http.StatusInternalServerError, "", "Error generating QR Code").WithCause(err)
		}
		f.Secret = key.Secret()
		reply.TOTP = &totpSecret{QRCode: image, Secret: key.Secret(), URI: key.URL()}
	}
	_, err := store.InTx(r.Context(), e.db, func(tx pgx.Tx) (any, error) { return nil, e.storeFactor(r.Context(), tx, c, &f) })
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

func account(u *store.User) string {
	name := u.Email
	name = cmp.Or(name, u.Phone)
	name = cmp.Or(name, u.ID.String())
	return name
}

func (e *Engine) enrollable(kind string) error {
	off := func(code, name string) error {
		return wire.Errorf(http.StatusUnprocessableEntity, code, "MFA enroll is disabled for %s", name)
	}
	m := e.config.MFA
	switch {
	case kind == "totp" && m.DisableTOTPEnroll:
		return off("mfa_totp_enroll_not_enabled", "TOTP")
	case kind == "phone" && !m.EnablePhoneEnroll:
		return off("mfa_phone_enroll_not_enabled", "Phone")
	case kind == "webauthn" && !m.EnableWebAuthnEnroll:
		return off("mfa_webauthn_enroll_not_enabled", "WebAuthn")
	case kind != "totp" && kind != "phone" && kind != "webauthn":
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "factor_type needs to be totp, phone, or webauthn")
	}
	return nil
}

// storeFactor stores a factor, unless the user has too many, one of its name, or must prove the ones there are first.
func (e *Engine) storeFactor(ctx context.Context, tx pgx.Tx, c *session.Caller, f *store.FactorRow) error {
	now := e.now()
	if _, err := tx.Exec(ctx, `select from auth.users where id = $1 for update`, f.UserID); err != nil {
		return err // two enrolments of one user count one another
	}
	if _, err := tx.Exec(ctx, `delete from auth.mfa_factors where status = 'unverified' and created_at < $1 and user_id = $2`,
		now.Add(-e.config.MFA.FactorExpiry), f.UserID); err != nil {
		return err
	}
	existing, err := store.FindFactors(ctx, tx, `where user_id = $1`, f.UserID)
	if err != nil {
		return err
	}
	count, verified := 0, 0
	for _, other := range existing {
		if f.FactorType == "phone" && other.FactorType == "phone" && other.Phone == f.Phone {
			if other.Verified() {
				return wire.Errorf(http.StatusUnprocessableEntity, "mfa_verified_factor_exists", "A verified phone factor already exists, unenroll the existing factor to continue")
			}
			if _, err := tx.Exec(ctx, `delete from auth.mfa_factors where id = $1`, other.ID); err != nil {
				return err
			}
			continue
		}
		if other.FriendlyName == f.FriendlyName {
			return wire.Errorf(http.StatusUnprocessableEntity, "mfa_factor_name_conflict", "A factor with the friendly name %q for this user already exists", f.FriendlyName)
		}
		count++
		if other.Verified() {
			verified++
		}
	}
	switch {
	case count >= e.config.MFA.MaxFactors, verified >= e.config.MFA.MaxVerified:
		return wire.Errorf(http.StatusUnprocessableEntity, "too_many_enrolled_mfa_factors", "Maximum number of verified factors reached, unenroll to continue")
	case verified > 0 && c.Session.AAL != "aal2":
		return wire.Errorf(http.StatusForbidden, "insufficient_aal", "AAL2 required to enroll a new factor")
	}
	if _, err := tx.Exec(ctx, `
		insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone)
		values ($1, $2, $3, $4::auth.factor_type, 'unverified', $5, $5, nullif($6, ''), nullif($7, ''))`,
		f.ID, f.UserID, f.FriendlyName, f.FactorType, now, f.Secret, f.Phone); err != nil {
		return err
	}
	return e.store.Audit(ctx, tx, c.User, "factor_in_progress", map[string]any{"factor_id": f.ID, "factor_type": f.FactorType})
}

// qrSVG draws a QR code of the highest error correction, three units a module, with the margin that readers need.
func qrSVG(content string) (string, error) {
	code, err := qr.Encode(content, qr.H, qr.Auto)
	if err != nil {
		return "", err
	}
	const unit, margin = 3, 4
	n := code.Bounds().Dx()
	size := (n + 2*margin) * unit
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d"><rect width="100%%" height="100%%" fill="white"/><path fill="black" d="`,
		size, size, size, size)
	for y := range n {
		for x := range n {
			if red, _, _, _ := code.At(x, y).RGBA(); red == 0 {
				fmt.Fprintf(&b, "M%d %dh%dv%dh-%dz", (x+margin)*unit, (y+margin)*unit, unit, unit, unit)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String(), nil
}

type challengeReply struct {
	ID        uuid.UUID     `json:"id"`
	Type      string        `json:"type"`
	ExpiresAt int64         `json:"expires_at,omitempty"`
	WebAuthn  *webAuthnPart `json:"webauthn,omitempty"`
}

// challenge answers POST /factors/{id}/challenge.
func (e *Engine) challenge(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	f, err := store.FactorByID(r.Context(), e.db.Pgx(), c.User, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	if err := e.verifiable(f.FactorType); err != nil {
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
	row := challengeRow{ID: uuid.New(), FactorID: f.ID, CreatedAt: e.now(), Address: endpoint.ClientOf(r).Address}
	reply := challengeReply{ID: row.ID, Type: f.FactorType, ExpiresAt: row.CreatedAt.Add(e.config.MFA.ChallengeExpiry).Unix()}
	var wait message.Queue
	if f.FactorType == "phone" {
		wait = e.sender.TextQueue()
	}
	_, err = message.Queued(r.Context(), e.sender, wait, func(tx message.Tx) (any, error) {
		switch f.FactorType {
		case "phone":
			if err := e.sendFactorCode(r, tx, c.User, f, &row, p.Channel); err != nil {
				return nil, err
			}
		case "webauthn":
			var err error
			if reply.WebAuthn, row.SessionData, err = e.webAuthnChallenge(r.Context(), tx, c.User, f); err != nil {
				return nil, err
			}
		}
		if err := insertChallenge(r.Context(), tx, row); err != nil {
			return nil, err
		}
		return nil, e.store.Audit(r.Context(), tx, c.User, "challenge_created", map[string]any{"factor_id": f.ID, "factor_status": f.Status})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

func (e *Engine) verifiable(kind string) error {
	off := func(code, name string) error {
		return wire.Errorf(http.StatusUnprocessableEntity, code, "MFA verification is disabled for %s", name)
	}
	m := e.config.MFA
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

func (e *Engine) sendFactorCode(r *http.Request, tx message.Tx, u *store.User, f *store.FactorRow, c *challengeRow, channel string) error {
	if err := e.sender.CheckChannel(channel); err != nil {
		return err
	}
	channel = cmp.Or(channel, "sms")
	if err := e.limiter.TooSoon(f.LastChallengedAt, e.config.MFA.PhoneMaxFrequency, "over_sms_send_rate_limit"); err != nil {
		return err
	}
	c.Code = password.Code(e.config.MFA.PhoneCodeLength)
	_, err := e.sender.SendSMS(r, tx, u, message.SMSData{OTP: c.Code, Type: "mfa", Phone: f.Phone}, e.config.MFA.PhoneTemplate, channel, "mfa")
	return err
}

// verifyFactor answers POST /factors/{id}/verify: the session becomes aal2 and gets new tokens, the user's weaker
// sessions end.
func (e *Engine) verifyFactor(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	f, err := store.FactorByID(r.Context(), e.db.Pgx(), c.User, chi.URLParam(r, "factor_id"))
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
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Code needs to be non-empty")
	}
	if err := e.verifiable(f.FactorType); err != nil {
		return err
	}
	if c.Session == nil {
		return wire.Errorf(http.StatusInternalServerError, "", "Cannot read SessionId claim as UUID")
	}
	ctx := r.Context()
	if err := e.limiter.LimitSubject(ctx, ratelimit.Factor, f.ID.String()); err != nil {
		return err
	}
	reply, err := message.Queued(ctx, e.sender, e.sender.NotificationQueue(template.MFAFactorEnrolled), func(tx message.Tx) (*session.TokenReply, error) {
		// Two answers with one code follow one another.
		if _, err := tx.Exec(ctx, `select from auth.mfa_factors where id = $1 for update`, f.ID); err != nil {
			return nil, err
		}
		row, err := e.challengeOf(r, tx, f, p.ChallengeID)
		if err != nil {
			return nil, err
		}
		wrong, err := e.answer(ctx, tx, c.User, f, row, p.Code, p.WebAuthn)
		if err != nil {
			return nil, err
		}
		if err := e.factorVerdict(r, tx, c.User, f, wrong == nil); err != nil {
			return nil, err
		}
		if wrong != nil {
			return nil, store.AfterCommit(wrong) // what the hook wrote of the attempt is kept
		}
		if err := e.store.Audit(ctx, tx, c.User, "verification_attempted", map[string]any{"factor_id": f.ID, "challenge_id": row.ID, "factor_type": f.FactorType}); err != nil {
			return nil, err
		}
		return e.raise(r, tx, c, f, row)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// answer checks what was entered. wrong is the refusal; err is a failure.
func (e *Engine) answer(ctx context.Context, tx pgx.Tx, u *store.User, f *store.FactorRow, c *challengeRow, code string, w *webAuthnAnswer) (wrong, err error) {
	switch f.FactorType {
	case "phone":
		if !store.Equal(c.Code, code) {
			return wire.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed", "Invalid MFA Phone code entered"), nil
		}
		return nil, nil
	case "webauthn":
		return e.webAuthnAnswer(ctx, tx, u, f, c, w)
	}
	code = strings.TrimSpace(code) // as the library does
	valid, verr := totp.ValidateCustom(code, f.Secret, e.now().UTC(), totp.ValidateOpts{Period: 30, Skew: 1, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if !valid {
		return wire.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed", "Invalid TOTP code entered").WithCause(verr), nil
	}
	// A code is taken once (RFC 6238, 5.2). It is good for a minute and a half.
	var used bool
	if err := tx.QueryRow(ctx, `select exists (select from auth.mfa_challenges where factor_id = $1 and verified_at > $2 and otp_code = $3)`,
		f.ID, e.now().Add(-2*time.Minute), code).Scan(&used); err != nil {
		return nil, err
	}
	if used {
		return wire.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed", "Invalid TOTP code entered").WithCause(errors.New("the code was used")), nil
	}
	c.Code = code
	return nil, nil
}

// raise makes the session aal2 and swaps its refresh token: the one that was given before may not reach aal2.
func (e *Engine) raise(r *http.Request, tx message.Tx, c *session.Caller, f *store.FactorRow, row *challengeRow) (*session.TokenReply, error) {
	ctx, now := r.Context(), e.now()
	held, err := tx.Exec(ctx, `select from auth.sessions where id = $1 for update`, c.Session.ID)
	if err != nil {
		return nil, err // no refresh is under way
	}
	if held.RowsAffected() == 0 { // it was signed out meanwhile
		return nil, session.ErrSessionGone
	}
	if _, err := tx.Exec(ctx, `update auth.mfa_challenges set verified_at = $2, otp_code = nullif($3, '') where id = $1`, row.ID, now, row.Code); err != nil {
		return nil, err
	}
	first := !f.Verified()
	if first {
		if _, err := tx.Exec(ctx, `update auth.mfa_factors set status = 'verified', updated_at = $2 where id = $1`, f.ID, now); err != nil {
			return nil, err
		}
	}
	method := map[string]string{"totp": "totp", "phone": "mfa/phone", "webauthn": "mfa/webauthn"}[f.FactorType]
	if err := store.AddMethod(ctx, tx, c.Session.ID, method, now); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `update auth.sessions set aal = 'aal2', factor_id = $2, updated_at = $3 where id = $1`, c.Session.ID, f.ID, now); err != nil {
		return nil, err
	}
	u, err := store.UserByID(ctx, tx, c.User.ID)
	if err != nil {
		return nil, err
	}
	token, err := e.sessions.NextToken(ctx, tx, u, c.Session.ID)
	if err != nil {
		return nil, err
	}
	reply, err := e.sessions.NewTokenReply(r, tx, u, c.Session.ID, token, method)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `delete from auth.sessions where user_id = $1 and aal < 'aal2'`, u.ID); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `delete from auth.mfa_factors where user_id = $1 and status = 'unverified' and factor_type = $2::auth.factor_type`, u.ID, f.FactorType); err != nil {
		return nil, err
	}
	if first {
		e.sender.Notify(r, tx, u, template.MFAFactorEnrolled, "", template.Data{FactorType: f.FactorType})
	}
	return reply, nil
}

// unenroll answers DELETE /factors/{id}.
func (e *Engine) unenroll(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	f, err := store.FactorByID(r.Context(), e.db.Pgx(), c.User, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	if c.Session == nil {
		return wire.Errorf(http.StatusInternalServerError, "", "A valid session and factor are required to unenroll a factor")
	}
	if f.Verified() && c.Session.AAL != "aal2" {
		return wire.Errorf(http.StatusUnprocessableEntity, "insufficient_aal", "AAL2 required to unenroll verified factor")
	}
	ctx := r.Context()
	_, err = message.Queued(ctx, e.sender, e.sender.NotificationQueue(template.MFAFactorUnenrolled), func(tx message.Tx) (any, error) {
		if err := store.DeleteFactor(ctx, tx, f); err != nil {
			return nil, err
		}
		e.sender.Notify(r, tx, c.User, template.MFAFactorUnenrolled, "", template.Data{FactorType: f.FactorType})
		return nil, e.store.Audit(ctx, tx, c.User, "factor_unenrolled", map[string]any{"factor_id": f.ID, "factor_status": f.Status, "session_id": c.Session.ID})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct {
		ID uuid.UUID `json:"id"`
	}{f.ID})
}
