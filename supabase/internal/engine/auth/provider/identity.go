package provider

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/provider/protocol"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// idClaims is the payload of an ID token (OpenID Connect Core, sections 2 and 5.1).
type idClaims struct {
	Issuer   string      `json:"iss,omitempty"`
	Subject  uuid.UUID   `json:"sub"`
	Audience []uuid.UUID `json:"aud"`
	Expires  int64       `json:"exp"`
	IssuedAt int64       `json:"iat"`
	Nonce    string      `json:"nonce,omitempty"`
	AuthTime int64       `json:"auth_time"`
	ClientID uuid.UUID   `json:"client_id"`

	Email         string `json:"email,omitempty"`
	EmailVerified bool   `json:"email_verified"`
	Phone         string `json:"phone_number,omitempty"`
	PhoneVerified bool   `json:"phone_number_verified"`
	Name          string `json:"name,omitempty"`
	Picture       string `json:"picture,omitempty"`
	Username      string `json:"preferred_username,omitempty"`
	UpdatedAt     int64  `json:"updated_at,omitempty"`
}

// signsIDTokens reports whether applications can verify what the current key signs. They cannot if
// it is a shared secret.
func (s *Server) signsIDTokens() bool {
	_, shared := s.Keys.Signer().Shared()
	return !shared
}

// idToken returns an ID token with the claims that the scopes cover. auth_time is the last sign-in
// to the account itself.
func (s *Server) idToken(u *store.User, client uuid.UUID, nonce string, scopes []string) (string, error) {
	if !s.signsIDTokens() {
		return "", errors.New("auth: an ID token needs an asymmetric signing key")
	}
	now := s.Now()
	c := idClaims{
		Issuer: s.Issuer, Subject: u.ID, Audience: []uuid.UUID{client}, Expires: now.Add(time.Hour).Unix(),
		IssuedAt: now.Unix(), Nonce: nonce, AuthTime: now.Unix(), ClientID: client,
	}
	if u.LastSignInAt != nil {
		c.AuthTime = u.LastSignInAt.Unix()
	}
	if slices.Contains(scopes, "email") {
		c.Email, c.EmailVerified = u.Email, u.Confirmed()
	}
	if slices.Contains(scopes, "phone") {
		c.Phone, c.PhoneVerified = u.Phone, u.PhoneConfirmed()
	}
	if slices.Contains(scopes, "profile") {
		c.Name, c.Picture, c.Username = profile(u)
		c.UpdatedAt = u.UpdatedAt.Unix()
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return s.Keys.Signer().Sign(payload)
}

// profile returns the user's names and picture from the metadata.
func profile(u *store.User) (name, picture, username string) {
	first := func(names ...string) string {
		for _, n := range names {
			if v, ok := u.UserMetadata[n].(string); ok && v != "" {
				return v
			}
		}
		return ""
	}
	name = first("name")
	name = cmp.Or(name, u.Email)
	return name, first("picture", "avatar_url"), first("preferred_username", "username")
}

// UserInfo serves GET /oauth/userinfo (OpenID Connect Core, section 5.3) with the claims that the
// session's scopes cover, in GoTrue's names.
func (s *Server) UserInfo(w http.ResponseWriter, _ *http.Request, c *session.Caller) error {
	u, out := c.User, map[string]any{"sub": c.User.ID}
	if c.Session == nil {
		return endpoint.SendJSON(w, http.StatusOK, out)
	}
	put := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	scopes := protocol.Scopes(c.Session.Scopes)
	if slices.Contains(scopes, "email") {
		put("email", u.Email)
		if u.Confirmed() {
			out["email_verified"] = true
		}
	}
	if slices.Contains(scopes, "phone") {
		put("phone", u.Phone)
		if u.PhoneConfirmed() {
			out["phone_verified"] = true
		}
	}
	if slices.Contains(scopes, "profile") {
		name, picture, username := profile(u)
		put("name", name)
		put("picture", picture)
		put("preferred_username", username)
		out["updated_at"] = u.UpdatedAt.Unix()
		if u.UserMetadata != nil {
			out["user_metadata"] = u.UserMetadata
		}
	}
	return endpoint.SendJSON(w, http.StatusOK, out)
}
