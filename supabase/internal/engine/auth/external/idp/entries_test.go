package idp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestEntries checks that every known provider tells where users sign in and how they are read, and
// that only enabled providers with all values are found.
func TestEntries(t *testing.T) {
	for _, name := range Names() {
		e := entryOf(name, Config{URL: "https://id.example.org/"})
		if e.openID == (e.user != "" || e.inToken != "") {
			t.Errorf("%s has neither an ID token nor a document, or both", name)
		}
		for _, p := range []place{e.auth, e.token} {
			if got := p.at("https://id.example.org/"); p != (place{}) && !strings.HasPrefix(got, "https://id.example.org/") {
				t.Errorf("%s: %s", name, got)
			}
		}
		if e.openID && e.auth == (place{}) && e.issuer.host == "" {
			t.Errorf("%s has no issuer", name)
		}
	}
	r := New(map[string]Config{"github": {}, "keycloak": {ClientIDs: []string{"id"}}}, nil, time.Now)
	for name, want := range map[string]error{"google": ErrUnknown, "": ErrUnknown, "github": ErrIncomplete,
		"keycloak": ErrIncomplete} {
		if _, err := r.Provider(context.Background(), name, ""); !errors.Is(err, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := r.Incomplete(); len(got) != 2 || got["github"] == nil || got["keycloak"] == nil {
		t.Errorf("incomplete: %v", got)
	}
}

// TestNameOf checks which issuers belong to known providers.
func TestNameOf(t *testing.T) {
	r := New(map[string]Config{"keycloak": {URL: "https://id.example.org/realms/a/"}}, nil, time.Now)
	for issuer, want := range map[string]string{
		"https://accounts.google.com": "google", "https://account.apple.com": "apple",
		"https://appleid.apple.com": "apple", "https://www.facebook.com": "facebook",
		"https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0": "azure",
		"https://login.microsoftonline.com/x/y/v2.0":                                  "",
		"https://id.example.org/realms/a":                                             "keycloak",
		"https://marketplace.vercel.com":                                              "vercel_marketplace",
		"":                                                                            "", "https://evil.example": "",
	} {
		if got := r.NameOf(issuer); got != want {
			t.Errorf("%s: %q, want %q", issuer, got, want)
		}
	}
	if got := New(nil, nil, time.Now).NameOf(""); got != "" {
		t.Errorf("%q", got)
	}
}

// TestMapping checks paths, joined members, lists, numbers and documents of another form.
func TestMapping(t *testing.T) {
	m := mapping{id: "list.0.id", email: "mail", verified: "a b", custom: map[string]string{"x": "x.y"},
		data: map[string]string{"name": "first last", "none": "list.7.id list.z"}}
	doc := map[string]any{"list": []any{map[string]any{"id": 12345678901.0}}, "mail": "a@example.org", "a": true,
		"b": "1", "first": "Ayan", "x": map[string]any{"y": false}}
	p := m.person("iss", doc)
	if p.Subject != "12345678901" || p.Data["name"] != "Ayan" || p.Data["none"] != nil || !p.Emails[0].Verified ||
		p.Data["custom_claims"].(map[string]any)["x"] != false {
		t.Errorf("%+v", p)
	}
	doc["b"] = "0"
	if p := m.person("iss", doc); p.Emails[0].Verified {
		t.Error("one of two members verifies the address")
	}
	for _, doc := range []map[string]any{nil, {"list": "rubbish"}, {"list": []any{"rubbish"}}, {"list": []any{}}} {
		for _, name := range Names() {
			if p := entries[name].profile.person("", doc); p.Subject != "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if p := m.person("", doc); p.Subject != "" || len(p.Emails) > 0 {
			t.Errorf("%+v", p)
		}
	}
}

// TestIntroduce checks that the form which Apple posts sets a missing name and changes nothing
// else.
func TestIntroduce(t *testing.T) {
	long := strings.Repeat("x", 256)
	apple := func(claims map[string]any) Person { return entries["apple"].claims.person("", claims) }
	for posted, want := range map[string]any{
		`{"name":{"firstName":" Ayan ","lastName":"Cali\nMaxamed"},"email":"other@example.org"}`: "Ayan Cali Maxamed",
		`{"name":{"firstName":"Ayan"}}`:                "Ayan",
		`{"name":{"lastName":"\u0000Cali"},"sub":"8"}`: "Cali",
		`{"name":{"firstName":"` + long + `"}}`:        nil,
		`{"name":{"firstName":" "}}`:                   nil,
		`{"name":"Ayan"}`:                              nil,
		`{`:                                            nil,
		``:                                             nil,
	} {
		p := apple(map[string]any{"sub": "7", "email": "a@example.org"})
		p.Introduce(posted)
		if p.Data["name"] != want || p.Data["full_name"] != want || p.Subject != "7" || p.Data["sub"] != "7" ||
			len(p.Emails) != 1 || p.Emails[0].Address != "a@example.org" {
			t.Errorf("%s: %+v", posted, p)
		}
	}
	p := standardClaims.person("", map[string]any{"sub": "7", "name": "A"})
	if p.Introduce(`{"name":{"firstName":"B"}}`); p.Data["name"] != "A" {
		t.Errorf("%+v", p)
	}
}

// TestSignature checks the text that OAuth 1.0a signs, with the example of RFC 5849, section
// 3.4.1.1, as far as it has no body, and a signature with known secrets.
func TestSignature(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://EXAMPLE.COM/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := baseString(r, map[string]string{"oauth_consumer_key": "9djdj82h48djs9d2", "oauth_token": "kkk9d7dh3k39sjv7",
		"oauth_signature_method": "HMAC-SHA1", "oauth_timestamp": "137131201", "oauth_nonce": "7d8f3e4a"})
	const want = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26" +
		"oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26" +
		"oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if got := escape("Ladies + Gentlemen*~"); got != "Ladies%20%2B%20Gentlemen%2A~" {
		t.Error(got)
	}
}

// TestRequestToken checks that a verifier of OAuth 1.0a is exchanged only with the request token of
// its own sign-in.
func TestRequestToken(t *testing.T) {
	r := New(map[string]Config{"twitter": {ClientIDs: []string{"id"}, Secret: "s"}}, &http.Client{
		Transport: refusing{t}}, time.Now)
	p, err := r.Provider(t.Context(), "twitter", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Answer{{Code: "v", Token: "theirs", Kept: "ours secret"}, {Code: "v", Kept: "ours secret"},
		{Code: "v", Token: "theirs"}, {Code: "v"}} {
		if _, err := p.Exchange(t.Context(), a); err == nil || !strings.Contains(err.Error(), "another sign-in") {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

// refusing is a transport that must not be used.
type refusing struct{ t *testing.T }

func (r refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	r.t.Errorf("%s was requested", q.URL)
	return nil, errors.New("refused")
}
