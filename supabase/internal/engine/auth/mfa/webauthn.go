package mfa

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/store"
)

// webAuthnPart is the input of navigator.credentials.create or .get.
type webAuthnPart struct {
	Type    string `json:"type"` // create or request
	Options any    `json:"credential_options"`
}

// webAuthnAnswer is the output of navigator.credentials.create or .get.
type webAuthnAnswer struct {
	Type     string          `json:"type"`
	Response json.RawMessage `json:"credential_response"`
}

// relyingParty returns the relying party that this installation is. discoverable: credentials must
// name their user.
func (s *Service) relyingParty(discoverable bool) (*webauthn.WebAuthn, error) {
	c := s.Config.WebAuthn
	config := &webauthn.Config{RPID: c.RPID, RPDisplayName: c.RPDisplayName, RPOrigins: c.RPOrigins}
	if discoverable {
		config.AttestationPreference = protocol.PreferNoAttestation
		config.AuthenticatorSelection = protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationPreferred,
		}
	}
	rp, err := webauthn.New(config)
	if err != nil {
		return nil, apierror.Errorf(http.StatusInternalServerError, "", "Failed to initialize WebAuthn").WithCause(err)
	}
	return rp, nil
}

// holder is a user for the WebAuthn library.
type holder struct {
	user        *store.User
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte { return []byte(h.user.ID.String()) }

func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

func (h holder) WebAuthnName() string {
	name := h.user.Email
	name = cmp.Or(name, h.user.Phone)
	return name
}

func (h holder) WebAuthnDisplayName() string {
	name := h.user.UserMetadata.Text("name")
	name = cmp.Or(name, h.WebAuthnName())
	return name
}

// factorHolder returns the user with the credentials of the verified WebAuthn factors.
func factorHolder(ctx context.Context, tx pgx.Tx, u *store.User) (holder, error) {
	h := holder{user: u}
	factors, err := store.FindFactors(ctx, tx,
		`where user_id = $1 and factor_type = 'webauthn' and status = 'verified'`, u.ID)
	if err != nil {
		return h, err
	}
	for _, f := range factors {
		var c webauthn.Credential
		if f.Credential == nil {
			continue
		}
		if err := json.Unmarshal(f.Credential, &c); err != nil {
			return h, err
		}
		h.credentials = append(h.credentials, c)
	}
	return h, nil
}

// webAuthnChallenge begins the registration of a factor's credential or, for a verified factor, a
// login with it.
func (s *Service) webAuthnChallenge(ctx context.Context, tx pgx.Tx, u *store.User, f *store.FactorRow) (*webAuthnPart,
	json.RawMessage, error) {
	rp, err := s.relyingParty(false)
	if err != nil {
		return nil, nil, err
	}
	h, err := factorHolder(ctx, tx, u)
	if err != nil {
		return nil, nil, err
	}
	part := &webAuthnPart{Type: "request"}
	var session *webauthn.SessionData
	if f.Verified() {
		part.Options, session, err = rp.BeginLogin(h)
	} else {
		part.Type = "create"
		part.Options, session, err = rp.BeginRegistration(h,
			webauthn.WithExclusions(webauthn.Credentials(h.credentials).CredentialDescriptors()))
	}
	if err != nil {
		return nil, nil, apierror.Errorf(http.StatusInternalServerError, "",
			"Failed to generate WebAuthn data").WithCause(err)
	}
	data, err := json.Marshal(session)
	return part, data, err
}

// checkWebAuthn checks the signature of the authenticator, and stores the credential when it is
// registered. wrong is the reply to a wrong answer; err is a failure or the reply to a malformed
// request.
func (s *Service) checkWebAuthn(ctx context.Context, tx pgx.Tx, u *store.User, f *store.FactorRow, c *challengeRow,
	a *webAuthnAnswer) (wrong, err error) {
	bad := func(text string) error {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "%s", text)
	}
	switch {
	case a == nil:
		return nil, bad("WebAuthn config required")
	case a.Type != "create" && a.Type != "request":
		return nil, bad("WebAuthn type must be create or request")
	case a.Response == nil:
		return nil, bad("credential_response required")
	case (a.Type == "create") == f.Verified():
		// only an unverified factor is registered, only a verified one logs in
		return nil, bad("Invalid credential_response")
	}
	rp, err := s.relyingParty(false)
	if err != nil {
		return nil, err
	}
	h, err := factorHolder(ctx, tx, u)
	if err != nil {
		return nil, err
	}
	var session webauthn.SessionData
	if err := json.Unmarshal(c.SessionData, &session); err != nil {
		return nil, err
	}
	var credential *webauthn.Credential
	if a.Type == "create" {
		parsed, perr := protocol.ParseCredentialCreationResponseBody(bytes.NewReader(a.Response))
		if perr != nil {
			return nil, bad("Invalid credential_response")
		}
		credential, wrong = rp.CreateCredential(h, session, parsed)
	} else {
		parsed, perr := protocol.ParseCredentialRequestResponseBody(bytes.NewReader(a.Response))
		if perr != nil {
			return nil, bad("Invalid credential_response")
		}
		credential, wrong = rp.ValidateLogin(h, session, parsed)
		switch {
		case wrong != nil:
		case !ownCredential(f, credential):
			wrong = errors.New("credential of another factor")
		case credential.Authenticator.CloneWarning:
			wrong = errCloned
		}
	}
	if wrong != nil {
		return apierror.Errorf(http.StatusUnprocessableEntity, "mfa_verification_failed",
			"Failed to validate WebAuthn MFA response").WithCause(wrong), nil
	}
	stored, err := json.Marshal(credential)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		update auth.mfa_factors set web_authn_credential = $2, web_authn_aaguid = $3, updated_at = $4
		where id = $1`,
		f.ID, stored, aaguid(credential), s.Now())
	return nil, err
}

// errCloned: the authenticator has counted fewer signatures than the server, so it may be a copy
// (WebAuthn, section 6.1.1).
var errCloned = errors.New("signature counter of the authenticator did not increase")

// ownCredential reports whether the credential is the factor's, not another one of the user.
func ownCredential(f *store.FactorRow, c *webauthn.Credential) bool {
	var own webauthn.Credential
	return json.Unmarshal(f.Credential, &own) == nil && bytes.Equal(own.ID, c.ID)
}

// aaguid returns the model of the authenticator; nil if it is unknown.
func aaguid(c *webauthn.Credential) *[16]byte {
	if len(c.Authenticator.AAGUID) != 16 {
		return nil
	}
	id := [16]byte(c.Authenticator.AAGUID)
	return &id
}
