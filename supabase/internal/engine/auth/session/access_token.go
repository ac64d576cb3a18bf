package session

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/store"
)

// accessClaims is the payload of an access token, in GoTrue's order.
type accessClaims struct {
	Issuer       string           `json:"iss,omitempty"`
	Subject      string           `json:"sub"`
	Audience     string           `json:"aud"`
	Expires      int64            `json:"exp"`
	IssuedAt     int64            `json:"iat"`
	Email        string           `json:"email"`
	Phone        string           `json:"phone"`
	AppMetadata  store.Metadata   `json:"app_metadata"`
	UserMetadata store.Metadata   `json:"user_metadata"`
	Role         string           `json:"role"`
	AAL          string           `json:"aal,omitempty"`
	AMR          []store.AMREntry `json:"amr,omitempty"`
	SessionID    string           `json:"session_id,omitempty"`
	IsAnonymous  bool             `json:"is_anonymous"`
	ClientID     *uuid.UUID       `json:"client_id,omitempty"` // the application that holds the session
	Scope        string           `json:"scope,omitempty"`
}

// TokenReply is the reply to every sign-in.
type TokenReply struct {
	AccessToken          string      `json:"access_token"`
	TokenType            string      `json:"token_type"`
	ExpiresIn            int         `json:"expires_in"` // seconds
	ExpiresAt            int64       `json:"expires_at"` // seconds since 1970
	RefreshToken         string      `json:"refresh_token"`
	User                 *store.User `json:"user"`
	ProviderToken        string      `json:"provider_token,omitempty"`
	ProviderRefreshToken string      `json:"provider_refresh_token,omitempty"`
}

// NewTokenReply signs an access token for the session as it is now.
func (m *Manager) NewTokenReply(r *http.Request, tx pgx.Tx, u *store.User, session uuid.UUID, refreshToken,
	method string) (*TokenReply, error) {
	s, err := store.FindSessionState(r.Context(), tx, session)
	if err != nil {
		return nil, err
	}
	return m.sign(r, tx, u, s, refreshToken, method)
}

// sign signs an access token for the state of a session. Nothing in it is random, so two tokens of
// the same second are equal.
func (m *Manager) sign(r *http.Request, tx pgx.Tx, u *store.User, s *store.SessionState, refreshToken,
	method string) (*TokenReply, error) {
	issued, level := m.Now(), s.Methods.AssuranceLevel()
	expires := issued.Add(m.Config.TokenExpiry)
	if limit := m.Config.AllowLowAAL; limit > 0 && u.HasVerifiedFactor() && level == "aal1" {
		// Without the second factor the token must not outlive the session.
		if end := s.CreatedAt.Add(limit); end.Before(expires) {
			expires = end
		}
	}
	claims := accessClaims{
		Issuer: m.Config.Issuer, Subject: u.ID.String(), Audience: u.Audience, Expires: expires.Unix(),
		IssuedAt: issued.Unix(), Email: u.Email, Phone: u.Phone, AppMetadata: u.AppMetadata,
		UserMetadata: u.UserMetadata, Role: u.Role, AAL: level, AMR: s.Methods.WithProvider(u), SessionID: s.ID.String(),
		IsAnonymous: u.IsAnonymous, ClientID: s.ClientID, Scope: s.Scopes,
	}
	payload, err := json.Marshal(claims)
	if m.Hooks.CustomAccessToken.Enabled() {
		payload, err = m.claimsByHook(r, tx, u, claims, method)
	}
	if err != nil {
		return nil, err
	}
	token, err := m.Keys.Signer().Sign(payload)
	if err != nil {
		return nil, err
	}
	return &TokenReply{
		AccessToken: token, TokenType: "bearer", ExpiresIn: int(expires.Unix() - issued.Unix()),
		ExpiresAt: expires.Unix(), RefreshToken: refreshToken, User: u,
	}, nil
}

// claimsByHook lets a hook change the claims of an access token. The claims that clients need must
// stay.
func (m *Manager) claimsByHook(r *http.Request, tx pgx.Tx, u *store.User, claims accessClaims,
	method string) (json.RawMessage, error) {
	var out struct {
		Claims map[string]json.RawMessage `json:"claims"`
	}
	input := map[string]any{"user_id": u.ID, "claims": claims, "authentication_method": method}
	if err := m.Hooks.Call(r, tx, m.Hooks.CustomAccessToken, "customize-access-token", input, &out); err != nil {
		return nil, err
	}
	if out.Claims == nil {
		return nil, apierror.Errorf(http.StatusInternalServerError, "", "output claims field is missing")
	}
	var missing []string
	for _, name := range []string{"aud", "exp", "iat", "sub", "email", "phone", "role", "aal", "session_id",
		"is_anonymous"} {
		if _, ok := out.Claims[name]; !ok {
			missing = append(missing, fmt.Sprintf("- (root): %s is required\n", name))
		}
	}
	if missing != nil {
		return nil, apierror.Errorf(http.StatusInternalServerError, "",
			"output claims do not conform to the expected schema: \n%s", strings.Join(missing, ""))
	}
	return json.Marshal(out.Claims)
}

// TokenRedirect returns target with the tokens in the fragment, which browsers do not send to
// servers.
func TokenRedirect(target string, t *TokenReply, q url.Values) string {
	q.Set("access_token", t.AccessToken)
	q.Set("token_type", t.TokenType)
	q.Set("expires_in", strconv.Itoa(t.ExpiresIn))
	q.Set("expires_at", strconv.FormatInt(t.ExpiresAt, 10))
	q.Set("refresh_token", t.RefreshToken)
	q.Set("sb", "") // by which clients recognise the redirect
	return target + "#" + q.Encode()
}
