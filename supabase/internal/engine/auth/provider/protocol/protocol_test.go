package protocol

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRegister(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := func(s string) *string { return &s }
	list := func(s ...string) *[]string { return &s }
	good := list("https://app.example.org/back")
	for _, tt := range []struct {
		name         string
		m            Metadata
		kind, method string // of the client; "" if Register fails
	}{
		{"minimum", Metadata{RedirectURIs: good}, Confidential, AuthBasic},
		{"public by its method", Metadata{RedirectURIs: good, AuthMethod: text(AuthNone)}, Public, AuthNone},
		{"public by its type", Metadata{RedirectURIs: good, ClientType: text(Public)}, Public, AuthNone},
		{"secret in the body", Metadata{RedirectURIs: good, AuthMethod: text(AuthPost)}, Confidential, AuthPost},
		{"empty list and method", Metadata{RedirectURIs: good, Grants: list(), AuthMethod: text("")}, Confidential,
			AuthBasic},
		{"no redirect URI", Metadata{}, "", ""},
		{"empty list of redirect URIs", Metadata{RedirectURIs: list()}, "", ""},
		{"eleven redirect URIs", Metadata{RedirectURIs: list(slices.Repeat(*good, 11)...)}, "", ""},
		{"unknown type", Metadata{RedirectURIs: good, ClientType: text("native")}, "", ""},
		{"unknown method", Metadata{RedirectURIs: good, AuthMethod: text("private_key_jwt")}, "", ""},
		{"public with a secret", Metadata{RedirectURIs: good, ClientType: text(Public), AuthMethod: text(AuthBasic)},
			"", ""},
		{"confidential without a secret",
			Metadata{RedirectURIs: good, ClientType: text(Confidential), AuthMethod: text(AuthNone)}, "", ""},
		{"implicit grant", Metadata{RedirectURIs: good, Grants: list("implicit")}, "", ""},
		{"NUL in the name", Metadata{RedirectURIs: good, Name: text("a\x00b")}, "", ""},
		{"long name", Metadata{RedirectURIs: good, Name: text(strings.Repeat("x", 1025))}, "", ""},
		{"script as client URI", Metadata{RedirectURIs: good, URI: text("javascript:alert(1)")}, "", ""},
		{"data as logo URI", Metadata{RedirectURIs: good, LogoURI: text("data:image/svg+xml,<svg onload=alert(1)>")},
			"", ""},
	} {
		c, err := Register(tt.m, "manual", now)
		if (err == nil) != (tt.kind != "") || err == nil && (c.Type != tt.kind || c.AuthMethod != tt.method) {
			t.Errorf("%s: %+v %v", tt.name, c, err)
		}
		if err == nil && (c.Secret != "") != (c.Type == Confidential) {
			t.Errorf("%s: secret %q", tt.name, c.Secret)
		}
	}
}

func TestRedirectURIs(t *testing.T) {
	for uri, ok := range map[string]bool{
		"https://app.example.org/back":                         true,
		"https://app.example.org/back?a=b":                     true,
		"http://localhost:3000/back":                           true,
		"http://127.0.0.1/back":                                true,
		"http://[::1]:8080/back":                               true,
		"myapp://back":                                         true,
		"":                                                     false,
		"/back":                                                false,
		"//app.example.org/back":                               false,
		"http://app.example.org/back":                          false,
		"http://localhost.example.org/":                        false,
		"http://localhost@evil.example.org/":                   false,
		"https://good.org@evil.example.org/":                   false,
		"https://app.example.org/back#":                        false,
		"https://app.example.org/back#x":                       false,
		"https://a.example.org/,https://b.org":                 false,
		"javascript://app.example.org/%0aalert(1)":             false,
		"JavaScript://app.example.org/x":                       false,
		"data://text/html,x":                                   false,
		"file://host/etc/passwd":                               false,
		"https://app.example.org/\r\nX: y":                     false,
		"https://app.example.org/" + strings.Repeat("x", 2048): false,
	} {
		if err := checkRedirectURI(uri); (err == nil) != ok {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

func TestAuthenticate(t *testing.T) {
	c, err := Register(Metadata{RedirectURIs: &[]string{"https://app.example.org/"}}, "manual", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	first := c.Secret
	if err := c.Authenticate(AuthBasic, first); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ method, secret string }{
		{AuthBasic, ""}, {AuthBasic, first + "x"}, {AuthBasic, c.SecretHash}, {AuthPost, first}, {AuthNone, ""},
	} {
		if c.Authenticate(tt.method, tt.secret) == nil {
			t.Errorf("accepted: %+v", tt)
		}
	}
	if c.NewSecret(); c.Authenticate(AuthBasic, first) == nil {
		t.Error("the old secret still works")
	}
}

func TestRequests(t *testing.T) {
	challenge := strings.Repeat("A", 43)
	good := Request{Scope: "openid email", Challenge: challenge, ChallengeMethod: "S256"}
	plain := good
	plain.ChallengeMethod, plain.Challenge = "plain", strings.Repeat("A.~", 40)
	for _, r := range []Request{good, plain} {
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(*Request){
		"implicit flow":  func(r *Request) { r.ResponseType = "token" },
		"unknown scope":  func(r *Request) { r.Scope = "email admin" },
		"no scope":       func(r *Request) { r.Scope = " " },
		"no challenge":   func(r *Request) { r.Challenge = "" },
		"no method":      func(r *Request) { r.ChallengeMethod = "" },
		"unknown method": func(r *Request) { r.ChallengeMethod = "S512" },
		"short verifier": func(r *Request) {
			r.ChallengeMethod, r.Challenge = "plain",
				strings.Repeat("A", 42)
		},
		"long verifier": func(r *Request) {
			r.ChallengeMethod, r.Challenge = "plain",
				strings.Repeat("A", 129)
		},
		"short challenge":        func(r *Request) { r.Challenge = "A" },
		"malformed challenge":    func(r *Request) { r.Challenge = strings.Repeat("A", 42) + "=" },
		"long state":             func(r *Request) { r.State = strings.Repeat("x", 4097) },
		"NUL in state":           func(r *Request) { r.State = "a\x00" },
		"invalid UTF-8":          func(r *Request) { r.Nonce = "\xff" },
		"long nonce":             func(r *Request) { r.Nonce = strings.Repeat("x", 256) },
		"relative resource":      func(r *Request) { r.Resource = "/mcp" },
		"resource with fragment": func(r *Request) { r.Resource = "https://a.example.org/#" },
		"resource with query":    func(r *Request) { r.Resource = "https://a.example.org/?a" },
	} {
		r := good
		if change(&r); r.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	// RFC 7636, appendix B
	if !Verifies("s256", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") {
		t.Error("the verifier of the RFC is rejected")
	}
	if Verifies("s256", challenge, challenge) || !Verifies("plain", challenge, challenge) {
		t.Error("a challenge is its own verifier with plain, and with nothing else")
	}
	if Verifies("plain", "", "") || Verifies("", challenge, challenge) {
		t.Error("a code without a challenge or without a method needs no verifier")
	}
	if Covers([]string{"email"}, []string{"email", "openid"}) ||
		!Covers([]string{"email", "openid"}, []string{"email"}) || Covers(nil, []string{"email"}) {
		t.Error("Covers gives a wrong result")
	}
}
