package auth

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/store"
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

// tokenReply is what every way of signing in answers.
type tokenReply struct {
	AccessToken          string        `json:"access_token"`
	TokenType            string        `json:"token_type"`
	ExpiresIn            int           `json:"expires_in"` // seconds
	ExpiresAt            int64         `json:"expires_at"` // seconds since 1970
	RefreshToken         string        `json:"refresh_token"`
	User                 *store.User   `json:"user"`
	ProviderToken        string        `json:"provider_token,omitempty"`
	ProviderRefreshToken string        `json:"provider_refresh_token,omitempty"`
	WeakPassword         *weakPassword `json:"weak_password,omitempty"`
}

type weakPassword struct {
	Message string   `json:"message,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// newTokenReply signs an access token for the session as it is now. Two in the same second are byte-identical: nothing in
// them is random.
func (e *Engine) newTokenReply(r *http.Request, tx pgx.Tx, u *store.User, session uuid.UUID, refreshToken, method string) (*tokenReply, error) {
	s, err := store.FindSession(r.Context(), tx, session)
	if err != nil {
		return nil, err
	}
	issued := e.now()
	expires := issued.Add(e.config.TokenExpiry)
	if limit := e.config.AllowLowAAL; limit > 0 && u.HasVerifiedFactor() && s.AssuranceLevel() == "aal1" {
		// Until the second factor is given the token may not outlive the session.
		if end := s.CreatedAt.Add(limit); end.Before(expires) {
			expires = end
		}
	}
	claims := accessClaims{
		Issuer: e.config.Issuer, Subject: u.ID.String(), Audience: u.Audience, Expires: expires.Unix(), IssuedAt: issued.Unix(),
		Email: u.Email, Phone: u.Phone, AppMetadata: u.AppMetadata, UserMetadata: u.UserMetadata, Role: u.Role,
		AAL: s.AssuranceLevel(), AMR: s.Methods, SessionID: session.String(), IsAnonymous: u.IsAnonymous,
		ClientID: s.ClientID, Scope: s.Scopes,
	}
	payload, err := json.Marshal(claims)
	if e.hooks.CustomAccessToken.Enabled() {
		payload, err = e.claimsByHook(r, tx, u, claims, method)
	}
	if err != nil {
		return nil, err
	}
	token, err := e.keys.Signer().Sign(payload)
	if err != nil {
		return nil, err
	}
	return &tokenReply{
		AccessToken: token, TokenType: "bearer", ExpiresIn: int(expires.Unix() - issued.Unix()),
		ExpiresAt: expires.Unix(), RefreshToken: refreshToken, User: u,
	}, nil
}
