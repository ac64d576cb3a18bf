package mfa

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/boombuler/barcode/qr"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// enrollReply is the reply of Enroll.
type enrollReply struct {
	ID           uuid.UUID   `json:"id"`
	Type         string      `json:"type"`
	FriendlyName string      `json:"friendly_name"`
	TOTP         *totpSecret `json:"totp,omitempty"`
	Phone        string      `json:"phone,omitempty"`
}

// totpSecret is the secret of a new TOTP factor.
type totpSecret struct {
	QRCode string `json:"qr_code"` // SVG; auth-js makes it a data: URL
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

// Enroll serves POST /factors: it stores a factor, which protects the account once it is verified.
func (s *Service) Enroll(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	if c.Session == nil {
		return apierror.Errorf(http.StatusInternalServerError, "",
			"A valid session and a registered user are required to enroll a factor")
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
	if err := s.enrollable(p.FactorType); err != nil {
		return err
	}
	now := s.Now()
	f := store.FactorRow{UserID: c.User.ID, Factor: store.Factor{ID: uuid.New(), CreatedAt: now, UpdatedAt: now,
		Status: "unverified", FriendlyName: p.FriendlyName, FactorType: p.FactorType}}
	reply := enrollReply{ID: f.ID, Type: p.FactorType, FriendlyName: p.FriendlyName}
	switch p.FactorType {
	case "phone":
		if p.Phone == "" {
			return apierror.Errorf(http.StatusBadRequest, "validation_failed",
				"Phone number required to enroll Phone factor")
		}
		var err error
		if f.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
		reply.Phone = p.Phone
	case "totp":
		p.Issuer = cmp.Or(p.Issuer, s.Redirects.Host())
		key, err := totp.Generate(totp.GenerateOpts{Issuer: p.Issuer, AccountName: accountName(c.User)})
		if err != nil {
			return apierror.Errorf(http.StatusInternalServerError, "", "Error generating QR Code").WithCause(err)
		}
		image, err := qrSVG(key.String())
		if err != nil {
			return apierror.Errorf(http.StatusInternalServerError, "", "Error generating QR Code").WithCause(err)
		}
		f.Secret = key.Secret()
		reply.TOTP = &totpSecret{QRCode: image, Secret: key.Secret(), URI: key.URL()}
	}
	_, err := store.InTx(r.Context(), s.DB,
		func(tx pgx.Tx) (any, error) { return nil, s.storeFactor(r.Context(), tx, c, &f) })
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// accountName names the user in an authenticator app.
func accountName(u *store.User) string {
	name := u.Email
	name = cmp.Or(name, u.Phone)
	name = cmp.Or(name, u.ID.String())
	return name
}

// enrollable returns an error if factors of the kind cannot be added.
func (s *Service) enrollable(kind string) error {
	off := func(code, name string) error {
		return apierror.Errorf(http.StatusUnprocessableEntity, code, "MFA enroll is disabled for %s", name)
	}
	m := s.Config.MFA
	switch {
	case kind == "totp" && m.DisableTOTPEnroll:
		return off("mfa_totp_enroll_not_enabled", "TOTP")
	case kind == "phone" && !m.EnablePhoneEnroll:
		return off("mfa_phone_enroll_not_enabled", "Phone")
	case kind == "webauthn" && !m.EnableWebAuthnEnroll:
		return off("mfa_webauthn_enroll_not_enabled", "WebAuthn")
	case kind != "totp" && kind != "phone" && kind != "webauthn":
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"factor_type needs to be totp, phone, or webauthn")
	}
	return nil
}

// storeFactor stores a factor. It returns an error if the user has too many factors or one of the
// same name, or must use an existing factor first.
func (s *Service) storeFactor(ctx context.Context, tx pgx.Tx, c *session.Caller, f *store.FactorRow) error {
	now := s.Now()
	if err := s.Sessions.Reauthorize(ctx, tx, c); err != nil {
		return err // its lock lets concurrent enrolments of one user count each other
	}
	if _, err := tx.Exec(ctx,
		`delete from auth.mfa_factors where status = 'unverified' and created_at < $1 and user_id = $2`,
		now.Add(-s.Config.MFA.FactorExpiry), f.UserID); err != nil {
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
				return apierror.Errorf(http.StatusUnprocessableEntity, "mfa_verified_factor_exists",
					"A verified phone factor already exists, unenroll the existing factor to continue")
			}
			if _, err := tx.Exec(ctx, `delete from auth.mfa_factors where id = $1`, other.ID); err != nil {
				return err
			}
			continue
		}
		if other.FriendlyName == f.FriendlyName {
			return apierror.Errorf(http.StatusUnprocessableEntity, "mfa_factor_name_conflict",
				"A factor with the friendly name %q for this user already exists", f.FriendlyName)
		}
		count++
		if other.Verified() {
			verified++
		}
	}
	switch {
	case count >= s.Config.MFA.MaxFactors, verified >= s.Config.MFA.MaxVerified:
		return apierror.Errorf(http.StatusUnprocessableEntity, "too_many_enrolled_mfa_factors",
			"Maximum number of verified factors reached, unenroll to continue")
	case verified > 0 && c.Session.AAL != "aal2":
		return apierror.Errorf(http.StatusForbidden, "insufficient_aal", "AAL2 required to enroll a new factor")
	}
	if _, err := tx.Exec(ctx, `
		insert into auth.mfa_factors
			(id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone)
		values ($1, $2, $3, $4::auth.factor_type, 'unverified', $5, $5, $6, nullif($7, ''))`,
		f.ID, f.UserID, f.FriendlyName, f.FactorType, now, f.Secret, f.Phone); err != nil {
		return err
	}
	return s.Store.Audit(ctx, tx, c.User, "factor_in_progress",
		map[string]any{"factor_id": f.ID, "factor_type": f.FactorType})
}

// mayAdd returns an error if f is a new factor, the user has a verified one by now, and the session
// has not used one. Otherwise a factor that a thief of the password has enrolled before would
// replace the user's. The lock orders concurrent additions of one user.
func mayAdd(ctx context.Context, tx pgx.Tx, c *session.Caller, f *store.FactorRow) error {
	if f.Verified() {
		return nil
	}
	if err := store.LockUser(ctx, tx, f.UserID); err != nil {
		return err
	}
	verified, err := store.FindFactors(ctx, tx, `where user_id = $1 and status = 'verified' limit 1`, f.UserID)
	if err != nil || len(verified) == 0 || c.Session != nil && c.Session.AAL == "aal2" {
		return err
	}
	return apierror.Errorf(http.StatusForbidden, "insufficient_aal", "AAL2 required to verify a new factor")
}

// qrSVG draws a QR code with the highest error correction, three units a module and the margin that
// readers need.
func qrSVG(content string) (string, error) {
	code, err := qr.Encode(content, qr.H, qr.Auto)
	if err != nil {
		return "", err
	}
	const unit, margin = 3, 4
	n := code.Bounds().Dx()
	size := (n + 2*margin) * unit
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+
		`<rect width="100%%" height="100%%" fill="white"/><path fill="black" d="`,
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

// Unenroll serves DELETE /factors/{id}.
func (s *Service) Unenroll(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	f, err := store.FactorByID(r.Context(), s.DB.Pgx(), c.User, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	if c.Session == nil {
		return apierror.Errorf(http.StatusInternalServerError, "",
			"A valid session and factor are required to unenroll a factor")
	}
	if f.Verified() && c.Session.AAL != "aal2" {
		return apierror.Errorf(http.StatusUnprocessableEntity, "insufficient_aal",
			"AAL2 required to unenroll verified factor")
	}
	ctx := r.Context()
	_, err = message.Queued(ctx, s.Sender, s.Sender.NotificationQueue(template.MFAFactorUnenrolled),
		func(tx message.Tx) (any, error) {
			if err := s.Sessions.Reauthorize(ctx, tx, c); err != nil {
				return nil, err
			}
			if err := store.DeleteFactor(ctx, tx, f); err != nil {
				return nil, err
			}
			s.Sender.Notify(r, tx, c.User, template.MFAFactorUnenrolled, "", template.Data{FactorType: f.FactorType})
			return nil, s.Store.Audit(ctx, tx, c.User, "factor_unenrolled",
				map[string]any{"factor_id": f.ID, "factor_status": f.Status, "session_id": c.Session.ID})
		})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct {
		ID uuid.UUID `json:"id"`
	}{f.ID})
}
