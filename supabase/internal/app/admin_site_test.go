package app

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/engine/auth"
)

// adminPages is an application for administrators.
var adminPages = fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>administrators</title>")}}

// testAdminSite checks that the administrators' application has an origin of its own, with the API
// on it, and that the site's origin does not serve it.
func testAdminSite(t *testing.T, _ *App, info Info) {
	get := func(url string) (*http.Response, string) {
		t.Helper()
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(body)
	}
	desk := info.Get("DESK_URL")
	if desk == "" || desk == info.Get("API_URL") {
		t.Fatalf("DESK_URL is %q", desk)
	}
	res, body := get(desk + "/")
	policy := res.Header.Get("Content-Security-Policy")
	if !strings.Contains(body, "administrators") || !strings.Contains(policy, "connect-src 'self'") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("%s: %s, policy %s", desk, body, policy)
	}
	if _, body := get(desk + "/site.json"); !strings.Contains(body, desk) {
		t.Errorf("its API is not on its origin: %s", body)
	}
	if res, _ := get(desk + "/rest/v1/?apikey=" + info.Get("SERVICE_ROLE_KEY")); res.StatusCode != http.StatusOK {
		t.Errorf("REST on its origin: %s", res.Status)
	}
	if _, body := get(info.Get("API_URL") + "/"); strings.Contains(body, "administrators") {
		t.Error("the site's origin serves the application")
	}
}

// TestAdminRelyingParty checks that the administrators' application is the relying party of
// WebAuthn, unless config.toml names another one or its address has no name.
func TestAdminRelyingParty(t *testing.T) {
	for admin, want := range map[string]string{
		"":                         " []",
		"http://127.0.0.1:54323":   "localhost [http://localhost:54323]",
		"http://localhost:54325":   "localhost [http://localhost:54325]",
		"https://desk.example.org": "desk.example.org [https://desk.example.org]",
		"https://192.0.2.7:54323":  " []",
	} {
		var c auth.Config
		(&services{Addresses: front.Addresses{Admin: admin}}).admitAdminSite(&c)
		if got := fmt.Sprint(c.WebAuthn.RPID, " ", c.WebAuthn.RPOrigins); got != want {
			t.Errorf("%s: %s, want %s", admin, got, want)
		}
	}
	c := auth.Config{WebAuthn: auth.WebAuthnConfig{RPID: "example.org", RPOrigins: []string{"https://example.org"}}}
	(&services{Addresses: front.Addresses{Admin: "https://desk.example.org"}}).admitAdminSite(&c)
	if c.WebAuthn.RPID != "example.org" || !slices.Contains(c.RedirectURLs, "https://desk.example.org") {
		t.Errorf("%+v", c)
	}
}
