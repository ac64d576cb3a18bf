package idp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// signature is what signs a request of OAuth 1.0a besides the application's own secret.
type signature struct{ token, secret string }

// requestToken asks for a request token, with which the user goes to the provider. The state comes
// back as a parameter of the callback. kept is the token with its secret.
func (p *Provider) requestToken(ctx context.Context, state string) (address, kept string, err error) {
	reply, err := p.post(ctx, p.entry.api.at(p.Config.URL)+"/oauth/request_token",
		url.Values{"oauth_callback": {p.Config.RedirectURI + "?state=" + url.QueryEscape(state)}}, signature{})
	if err != nil {
		return "", "", err
	}
	return p.oauth.Endpoint.AuthURL + "?" + url.Values{"oauth_token": {reply.token}}.Encode(),
		url.QueryEscape(reply.token) + " " + reply.secret, nil
}

// accessToken exchanges the verifier that the user brings back. The request token must be the one
// that was given out for this sign-in.
func (p *Provider) accessToken(ctx context.Context, a Answer) (Token, error) {
	token, secret, _ := strings.Cut(a.Kept, " ")
	if a.Kept == "" || subtle.ConstantTimeCompare([]byte(token), []byte(url.QueryEscape(a.Token))) != 1 {
		return Token{}, errors.New("the request token belongs to another sign-in")
	}
	reply, err := p.post(ctx, p.oauth.Endpoint.TokenURL, url.Values{"oauth_verifier": {a.Code}},
		signature{token: a.Token, secret: secret})
	return Token{Access: reply.token, secret: reply.secret}, err
}

// post sends a signed request with parameters of the protocol and returns the token of the reply.
func (p *Provider) post(ctx context.Context, address string, params url.Values, with signature) (signature, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return signature{}, err
	}
	p.sign(request, params, with)
	body, err := p.send(request)
	if err != nil {
		return signature{}, err
	}
	reply, err := url.ParseQuery(string(body))
	if err != nil || reply.Get("oauth_token") == "" {
		return signature{}, fmt.Errorf("%s sent no token", p.Name)
	}
	return signature{token: reply.Get("oauth_token"), secret: reply.Get("oauth_token_secret")}, nil
}

// sign signs a request with HMAC-SHA1 (RFC 5849, section 3.4). params are further parameters of the
// protocol.
func (p *Provider) sign(r *http.Request, params url.Values, with signature) {
	oauth := map[string]string{
		"oauth_consumer_key": p.oauth.ClientID, "oauth_nonce": rand.Text(), "oauth_signature_method": "HMAC-SHA1",
		"oauth_timestamp": strconv.FormatInt(p.r.now().Unix(), 10), "oauth_version": "1.0",
	}
	for name := range params {
		oauth[name] = params.Get(name)
	}
	if with.token != "" {
		oauth["oauth_token"] = with.token
	}
	oauth["oauth_signature"] = hmacSHA1(escape(p.Config.Secret)+"&"+escape(with.secret), baseString(r, oauth))
	var header []string
	for _, name := range slices.Sorted(maps.Keys(oauth)) {
		header = append(header, escape(name)+`="`+escape(oauth[name])+`"`)
	}
	r.Header.Set("Authorization", "OAuth "+strings.Join(header, ", "))
}

// baseString returns the text that is signed: method, address and all parameters in order.
func baseString(r *http.Request, oauth map[string]string) string {
	var pairs []string
	for name, value := range oauth {
		pairs = append(pairs, escape(name)+"="+escape(value))
	}
	for name, values := range r.URL.Query() {
		for _, value := range values {
			pairs = append(pairs, escape(name)+"="+escape(value))
		}
	}
	slices.Sort(pairs)
	address := url.URL{Scheme: r.URL.Scheme, Host: strings.ToLower(r.URL.Host), Path: r.URL.Path}
	return r.Method + "&" + escape(address.String()) + "&" + escape(strings.Join(pairs, "&"))
}

// escape encodes as RFC 5849, section 3.6: a space is %20, and only unreserved characters stay.
func escape(s string) string {
	return strings.NewReplacer("+", "%20", "%7E", "~", "*", "%2A").Replace(url.QueryEscape(s))
}

func hmacSHA1(key, text string) string {
	h := hmac.New(sha1.New, []byte(key))
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// prove adds Facebook's proof that the application itself sends the request.
func (p *Provider) prove(r *http.Request, access string) {
	h := hmac.New(sha256.New, []byte(p.Config.Secret))
	h.Write([]byte(access))
	r.URL.RawQuery += "&appsecret_proof=" + hex.EncodeToString(h.Sum(nil))
}
