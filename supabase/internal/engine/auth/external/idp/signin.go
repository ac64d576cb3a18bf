package idp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Begin returns the URL to which the user is sent, and a secret for Exchange that the user must not
// see: the code verifier (RFC 7636) or the request token of OAuth 1.0a, "" for none. extra are more
// parameters.
func (p *Provider) Begin(ctx context.Context, state string, extra map[string]string) (address, kept string,
	err error) {
	if Known(p.Name) && p.Config.Secret == "" {
		return "", "", fmt.Errorf("%w: missing OAuth secret", ErrIncomplete)
	}
	if p.entry.oauth1 {
		return p.requestToken(ctx, state)
	}
	var options []oauth2.AuthCodeOption
	for name, value := range p.entry.params {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	for name, value := range extra {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	if p.entry.proofKey {
		kept = oauth2.GenerateVerifier()
		options = append(options, oauth2.S256ChallengeOption(kept))
	}
	return p.oauth.AuthCodeURL(state, options...), kept, nil
}

// Answer is what the user's browser brings back from a provider.
type Answer struct {
	Code  string // the code, or the verifier of OAuth 1.0a
	Token string // the request token of OAuth 1.0a
	Kept  string // the secret that Begin returned
}

// AnswerOf reads the parameters of a callback.
func AnswerOf(provider string, get func(string) string) Answer {
	if entries[provider].oauth1 {
		return Answer{Code: get("oauth_verifier"), Token: get("oauth_token")}
	}
	return Answer{Code: get("code")}
}

// Exchange exchanges the user's answer for the provider's tokens.
func (p *Provider) Exchange(ctx context.Context, a Answer) (Token, error) {
	if p.entry.oauth1 {
		return p.accessToken(ctx, a)
	}
	var options []oauth2.AuthCodeOption
	if a.Kept != "" {
		options = append(options, oauth2.VerifierOption(a.Kept))
	}
	t, err := p.oauth.Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), a.Code, options...)
	if err != nil {
		return Token{}, err
	}
	return Token{Access: t.AccessToken, Refresh: t.RefreshToken, source: t}, nil
}

// Person returns the user, from the ID token or the API of the provider. A user without an id is an
// error, because all of them would be one account.
func (p *Provider) Person(ctx context.Context, t Token) (Person, error) {
	person, err := p.read(ctx, t)
	if err == nil && person.Subject == "" {
		err = fmt.Errorf("%s does not say who signed in", p.Name)
	}
	return person, err
}

func (p *Provider) read(ctx context.Context, t Token) (Person, error) {
	a := account{ctx, p, t}
	switch {
	case p.entry.read != nil:
		return p.entry.read(a)
	case p.entry.openID:
		return p.readIDToken(ctx, t)
	case p.entry.inToken != "":
		doc, _ := t.source.Extra(p.entry.inToken).(map[string]any)
		return p.describe(a, doc)
	}
	var doc map[string]any
	if err := a.get(p.entry.user, &doc); err != nil {
		return Person{}, err
	}
	return p.describe(a, doc)
}

// describe returns the user of a document.
func (p *Provider) describe(a account, doc map[string]any) (Person, error) {
	iss := p.entry.iss
	if iss == (place{}) {
		iss = p.entry.api
	}
	person := p.entry.profile.person(iss.at(p.Config.URL), doc)
	if p.entry.emails == nil {
		return person, nil
	}
	var err error
	person.Emails, err = p.entry.emails(a, doc)
	return person, err
}

// readIDToken reads the ID token that came with the access token. Without one it asks the
// provider's endpoint, if the discovery document names that.
func (p *Provider) readIDToken(ctx context.Context, t Token) (Person, error) {
	if raw, ok := t.source.Extra("id_token").(string); ok && raw != "" {
		if err := p.CheckAccessToken(ctx, raw, t.Access); err != nil {
			return Person{}, err
		}
		return p.VerifyIDToken(ctx, raw, "", true)
	}
	info, err := p.oidc.UserInfo(oidc.ClientContext(ctx, p.client), oauth2.StaticTokenSource(t.source))
	if err != nil {
		return Person{}, err
	}
	var claims map[string]any
	if err := info.Claims(&claims); err != nil {
		return Person{}, err
	}
	return p.person(p.entry.issuer.at(p.Config.URL), claims), nil
}

// person returns the user that the claims of an ID token describe.
func (p *Provider) person(issuer string, claims map[string]any) Person {
	if p.custom != nil {
		return p.custom.person(issuer, claims)
	}
	person := p.entry.claims.person(issuer, claims)
	if _, told := claims["xms_edov"]; p.entry.tenants != "" && !told {
		// Any organisation can set the addresses of its users, so they count as unverified.
		for i := range person.Emails {
			person.Emails[i].Verified = false
		}
	}
	return person
}

// account is a user's account at a provider, with the token that reads it.
type account struct {
	ctx   context.Context
	p     *Provider
	token Token
}

// get reads a JSON document; path is below the provider's API.
func (a account) get(path string, into any) error {
	return a.getURL(a.p.entry.api.at(a.p.Config.URL)+path, into)
}

// maxDocument bounds a document in bytes.
const maxDocument = 1 << 20

func (a account) getURL(address string, into any) error {
	p := a.p
	request, err := http.NewRequestWithContext(a.ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	for name, value := range p.entry.headers {
		request.Header.Set(name, strings.ReplaceAll(value, clientID, p.oauth.ClientID))
	}
	if p.entry.oauth1 {
		p.sign(request, nil, signature{token: a.token.Access, secret: a.token.secret})
	} else {
		request.Header.Set("Authorization", "Bearer "+a.token.Access)
	}
	if p.Name == "facebook" {
		p.prove(request, a.token.Access)
	}
	body, err := p.send(request)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// send sends a request and returns the body of a reply with a status of 2xx.
func (p *Provider) send(request *http.Request) ([]byte, error) {
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument))
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s answered %d", p.Name, response.StatusCode)
	}
	return body, err
}
