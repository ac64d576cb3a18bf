package idp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestPresets checks that every known provider has an issuer or a full set of URLs, and that only
// enabled providers are found.
func TestPresets(t *testing.T) {
	for _, name := range []string{"google", "apple", "azure", "linkedin_oidc", "slack_oidc", "kakao", "keycloak",
		"github", "facebook", "gitlab", "discord", "spotify", "twitch"} {
		p := presetFor(name, Config{URL: "https://id.example.org/"})
		if (p.issuer == "") == (p.authURL == "" || p.tokenURL == "" || p.read == nil) {
			t.Errorf("%s has neither an issuer nor all URLs: %+v", name, p)
		}
	}
	r := New(map[string]Config{"google": {}}, nil, time.Now)
	for _, name := range []string{"google", "github", ""} {
		if _, err := r.Provider(context.Background(), name, ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestProfiles checks how user information in the format of each provider is read.
func TestProfiles(t *testing.T) {
	for name, p := range map[string]Person{
		"facebook": facebook("", map[string]any{"id": "7", "name": "A", "email": "a@example.org",
			"picture": map[string]any{"data": map[string]any{"url": "u"}}}),
		"twitch": twitch("", map[string]any{"data": []any{map[string]any{"id": "7", "display_name": "A",
			"email": "a@example.org", "profile_image_url": "u"}}}),
		"kakao": personOf("kakao", "",
			map[string]any{"sub": "7", "name": "A", "email": "a@example.org", "picture": "u"}),
	} {
		if p.Subject != "7" || p.Data["full_name"] != "A" || p.Data["avatar_url"] != "u" || len(p.Emails) != 1 ||
			!p.Emails[0].Verified {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := twitch("", map[string]any{"data": []any{"rubbish"}}); p.Subject != "" {
		t.Errorf("%+v", p)
	}
	if p := (fields{id: "id", email: "email", verified: "verified"}).person("",
		map[string]any{"id": 12345678901.0, "email": "a@example.org", "verified": false}); p.Subject != "12345678901" ||
		p.Emails[0].Verified {
		t.Errorf("%+v", p)
	}
}

// TestIntroduce checks that the form which Apple posts sets a missing name and changes nothing
// else.
func TestIntroduce(t *testing.T) {
	long := strings.Repeat("x", 256)
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
		p := personOf("apple", "", map[string]any{"sub": "7", "email": "a@example.org"})
		p.Introduce(posted)
		if p.Data["name"] != want || p.Data["full_name"] != want || p.Subject != "7" || p.Data["sub"] != "7" ||
			len(p.Emails) != 1 || p.Emails[0].Address != "a@example.org" {
			t.Errorf("%s: %+v", posted, p)
		}
	}
	p := personOf("apple", "", map[string]any{"sub": "7", "name": "A"})
	if p.Introduce(`{"name":{"firstName":"B"}}`); p.Data["name"] != "A" {
		t.Errorf("%+v", p)
	}
}
