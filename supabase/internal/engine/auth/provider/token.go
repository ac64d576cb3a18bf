package provider

import (
	"encoding/base64"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/provider/protocol"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// oauthTokenRequest is the body of POST /oauth/token, as a form or as JSON.
type oauthTokenRequest struct {
	GrantType    string `json:"grant_type"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Code         string `json:"code"`
	RedirectURI  string `json:"redirect_uri"`
	CodeVerifier string `json:"code_verifier"`
	Resource     string `json:"resource"`
	RefreshToken string `json:"refresh_token"`
}

// oauthTokenReply is the reply of RFC 6749, section 5.1, with the ID token of OpenID Connect Core,
// section 3.1.3.3.
type oauthTokenReply struct {
	AccessToken  string `json:"access_token"`
	ExpiresIn    int    `json:"expires_in"` // seconds
	IDToken      string `json:"id_token,omitempty"`
	RefreshToken string `json:"refresh_token"`
	TokenType    string `json:"token_type"`
}

// Token serves POST /oauth/token.
func (s *Server) Token(w http.ResponseWriter, r *http.Request) error {
	p, err := readTokenRequest(r)
	if err != nil {
		return err
	}
	client, err := s.authenticateClient(r, p)
	if err != nil {
		return err
	}
	if p.GrantType == "" {
		return session.OAuthError("invalid_request", "grant_type is required")
	}
	if !slices.Contains(client.Grants, p.GrantType) {
		return session.OAuthError("unsupported_grant_type", "Client is not allowed to use grant type: %s", p.GrantType)
	}
	var reply oauthTokenReply
	switch p.GrantType {
	case protocol.GrantCode:
		reply, err = s.exchangeCode(w, r, client, p)
	case protocol.GrantRefresh:
		if p.RefreshToken == "" {
			return session.OAuthError("invalid_request", "refresh_token is required for refresh_token grant")
		}
		var tokens *session.TokenReply
		if tokens, err = s.Sessions.Refresh(r, w.Header(), p.RefreshToken, &client.ID); err != nil {
			return refusedRefresh(err)
		}
		reply = oauthReply(tokens, "")
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

func oauthReply(t *session.TokenReply, idToken string) oauthTokenReply {
	return oauthTokenReply{t.AccessToken, t.ExpiresIn, idToken, t.RefreshToken, t.TokenType}
}

func readTokenRequest(r *http.Request) (p oauthTokenRequest, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		err = endpoint.ReadJSON(r, &p)
		return p, err
	}
	if err := r.ParseForm(); err != nil {
		return p, session.OAuthError("invalid_request", "Failed to parse form data")
	}
	f := r.PostForm // not the query, which is written into logs
	return oauthTokenRequest{
		GrantType: f.Get("grant_type"), ClientID: f.Get("client_id"), ClientSecret: f.Get("client_secret"),
		Code: f.Get("code"), RedirectURI: f.Get("redirect_uri"), CodeVerifier: f.Get("code_verifier"),
		Resource: f.Get("resource"), RefreshToken: f.Get("refresh_token"),
	}, nil
}

// authenticateClient returns the application that sent the request. It authenticates by the Basic
// header, by a secret in the body, or, without a secret, by its id.
func (s *Server) authenticateClient(r *http.Request, p oauthTokenRequest) (c protocol.Client, err error) {
	name, secret, method := p.ClientID, p.ClientSecret, protocol.AuthPost
	refuse := func(why string) error { return refusedClient(method, why) }
	if scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Basic") {
		method = protocol.AuthBasic
		plain, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return c, refuse("invalid basic auth encoding")
		}
		var ok bool
		if name, secret, ok = strings.Cut(string(plain), ":"); !ok {
			return c, refuse("invalid basic auth format")
		}
		// both are form-encoded (RFC 6749, section 2.3.1)
		if name, err = url.QueryUnescape(name); err != nil {
			return c, refuse("invalid basic auth encoding")
		}
		if secret, err = url.QueryUnescape(secret); err != nil {
			return c, refuse("invalid basic auth encoding")
		}
	} else if secret == "" {
		method = protocol.AuthNone
	}
	if name == "" {
		return c, refuse("client_id is required")
	}
	id, err := uuid.Parse(name)
	if err != nil {
		return c, refuse("invalid client_id format")
	}
	if c, err = clientByID(r.Context(), s.DB.Pgx(), id, ""); errors.Is(err, store.ErrNotFound) {
		return c, refuse("unknown client")
	}
	if err != nil {
		return c, err
	}
	if err := c.Authenticate(method, secret); err != nil {
		return c, refuse(err.Error())
	}
	return c, nil
}

// refusedClient returns the reply to an application that did not authenticate (RFC 6749, section
// 5.2). A client that sent the Basic header gets 401 with the scheme.
func refusedClient(method, why string) error {
	err := &apierror.Error{Status: http.StatusBadRequest, Code: "invalid_client",
		Message: "Invalid client credentials: " + why, Details: endpoint.OAuthFormat{}}
	if method != protocol.AuthBasic {
		return err
	}
	err.Status = http.StatusUnauthorized
	return err.WithHeader("WWW-Authenticate", `Basic realm="oauth"`)
}

// refusedRefresh returns the reply of RFC 6749, section 5.2, to a refresh token that is invalid or
// whose session has ended.
func refusedRefresh(err error) error {
	e, ok := apierror.AsError(err)
	if !ok || e.Status != http.StatusBadRequest {
		return err
	}
	if _, done := e.Details.(endpoint.OAuthFormat); done {
		return err
	}
	return session.OAuthError("invalid_grant", "%s", e.Message)
}

// exchangeCode begins the session of an authorization code for an application. The same transaction
// deletes the code.
func (s *Server) exchangeCode(w http.ResponseWriter, r *http.Request, client protocol.Client,
	p oauthTokenRequest) (oauthTokenReply, error) {
	if p.Code == "" {
		return oauthTokenReply{}, session.OAuthError("invalid_request", "code is required for authorization_code grant")
	}
	ctx := r.Context()
	return store.InTx(ctx, s.DB, func(tx pgx.Tx) (oauthTokenReply, error) {
		var none oauthTokenReply
		a, u, err := authorizationOfCode(ctx, tx, hashCode(p.Code))
		if errors.Is(err, store.ErrNotFound) {
			return none, session.OAuthError("invalid_grant", "Invalid authorization code")
		}
		if err != nil {
			return none, err
		}
		switch {
		case s.Now().After(a.ExpiresAt):
			return none, session.OAuthError("invalid_grant", "Authorization code has expired")
		case a.ClientID != client.ID:
			return none, session.OAuthError("invalid_grant", "Authorization code was not issued for this client")
		case p.Resource != "" && p.Resource != a.Resource:
			return none, session.OAuthError("invalid_grant",
				"Authorization code resource does not match the resource parameter")
		case p.RedirectURI != "" && p.RedirectURI != a.RedirectURI:
			return none, session.OAuthError("invalid_grant", "Invalid redirect_uri")
		case !protocol.Verifies(a.Method, a.Challenge, p.CodeVerifier):
			return none, session.OAuthError("invalid_grant",
				"PKCE verification failed: code challenge does not match previously saved code verifier")
		}
		if u.Banned(s.Now()) {
			return none, session.OAuthError("access_denied", "User is banned")
		}
		idToken := ""
		if scopes := protocol.Scopes(a.Scope); slices.Contains(scopes, protocol.ScopeOpenID) {
			if idToken, err = s.idToken(u, client.ID, a.Nonce, scopes); err != nil {
				return none, err
			}
		}
		if err := s.Store.Audit(ctx, tx, u, "login",
			map[string]any{"provider_type": "oauth_provider_authorization_code", "client_id": client.ID}); err != nil {
			return none, err
		}
		tokens, err := s.Sessions.Begin(r, tx, w.Header(), u, "oauth_provider/authorization_code",
			store.Application{ClientID: &client.ID, Scopes: a.Scope}, nil)
		if err != nil {
			return none, err
		}
		_, err = tx.Exec(ctx, `delete from auth.oauth_authorizations where id = $1`, a.ID)
		return oauthReply(tokens, idToken), err
	})
}
