package idp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// AcceptsIDTokens reports whether native applications may send ID tokens of the provider.
func (p *Provider) AcceptsIDTokens() bool {
	_, known := IDTokenIssuer(p.Name)
	return known || p.oidc != nil && !p.entry.browser
}

// Excludes returns why a token is none of the provider's, or "". Only the names of Apple and Azure
// tell it before the provider is asked. named is the issuer of the request.
func (p *Provider) Excludes(raw, named string) string {
	label := map[string]string{"apple": "an Apple", "azure": "an Azure"}[p.Name]
	if label == "" || p.Config.URL != "" {
		return ""
	}
	issuer := issuerOf(raw)
	foreign := !slices.Contains(p.entry.issuers, issuer)
	if p.Name == "azure" {
		foreign = !strings.HasPrefix(issuer, azureHost) && !strings.HasPrefix(issuer, "https://sts.windows.net/")
	}
	switch {
	case foreign:
		return "Detected ID token issuer is not " + label + " ID token issuer"
	case named != "" && named != issuer:
		return "Provided issuer does not match ID token issuer"
	}
	return ""
}

// issuerOf returns the issuer that a token names, unverified.
func issuerOf(raw string) string {
	var claims struct {
		Issuer string `json:"iss"`
	}
	if parts := strings.Split(raw, "."); len(parts) == 3 {
		if text, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(text, &claims) // a token of another form names no issuer
		}
	}
	return claims.Issuer
}

// VerifyIDToken checks an ID token: signature, issuer, expiry, audience and, unless skipped, the
// nonce, which the token holds as hex SHA-256. An invalid token is an ErrToken.
func (p *Provider) VerifyIDToken(ctx context.Context, raw, nonce string, skipNonce bool) (Person, error) {
	t, claims, err := p.verify(ctx, raw)
	if err != nil {
		return Person{}, err
	}
	if !skipNonce && !p.Config.SkipNonceCheck && !p.entry.skipNonce {
		if (t.Nonce == "") != (nonce == "") {
			return Person{}, fmt.Errorf("%w: Passed nonce and nonce in id_token should either both exist or not",
				ErrToken)
		}
		if sum := sha256.Sum256([]byte(nonce)); nonce != "" && hex.EncodeToString(sum[:]) != t.Nonce {
			return Person{}, fmt.Errorf("%w: Nonces mismatch", ErrToken)
		}
	}
	return p.person(t.Issuer, claims), nil
}

// CheckAccessToken checks that the access token belongs to the ID token, if that has an at_hash.
func (p *Provider) CheckAccessToken(ctx context.Context, raw, access string) error {
	t, _, err := p.verify(ctx, raw)
	if err != nil || t.AccessTokenHash == "" {
		return err
	}
	if err := t.VerifyAccessToken(access); err != nil {
		return fmt.Errorf("%w: %w", ErrToken, err)
	}
	return nil
}

func (p *Provider) verify(ctx context.Context, raw string) (*oidc.IDToken, map[string]any, error) {
	issuer := p.oidc
	if issuer == nil {
		var err error
		if issuer, err = p.r.discover(ctx, p.entry, p.entry.issuer.at(p.Config.URL)); err != nil {
			return nil, nil, err
		}
	}
	verifier := issuer.Verifier(&oidc.Config{SkipClientIDCheck: true, SkipIssuerCheck: p.entry.manyIssuers(),
		Now: p.r.now})
	t, err := verifier.Verify(oidc.ClientContext(ctx, p.client), raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if !slices.ContainsFunc(slices.Concat(p.Config.ClientIDs, p.Config.Audiences),
		func(id string) bool { return id != "" && slices.Contains(t.Audience, id) }) {
		return nil, nil, fmt.Errorf("%w: Unacceptable audience in id_token: %v", ErrToken, t.Audience)
	}
	if t.Subject == "" {
		return nil, nil, fmt.Errorf("%w: Missing sub claim in id_token", ErrToken)
	}
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if p.entry.manyIssuers() && !p.entry.issuedBy(t.Issuer, claims) {
		return nil, nil, fmt.Errorf("%w: issued by %q, which is no name of the provider or of the token's tenant",
			ErrToken, t.Issuer)
	}
	return t, claims, nil
}
