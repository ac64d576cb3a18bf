package auth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/engine/auth/hook"
)

// TestHooks checks a database function that changes claims, and an HTTP service that gets signed
// requests for mails and new users.
func TestHooks(t *testing.T) {
	var seen []m
	var signature string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body m
		_ = json.NewDecoder(r.Body).Decode(&body)
		seen, signature = append(seen, body), r.Header.Get("webhook-signature")
		w.Header().Set("Content-Type", "application/json")
		if u, ok := body["user"].(map[string]any); ok && u["email"] == "refused@example.org" &&
			body["email_data"] == nil {
			fmt.Fprint(w, `{"error":{"http_code":403,"message":"not you"}}`)
			return
		}
		fmt.Fprint(w, `{}`)
	}))
	defer service.Close()
	secret := []string{"v1,whsec_" + base64.StdEncoding.EncodeToString([]byte("a-secret-of-some-length"))}
	w := newWorld(t, func(o *Options) {
		o.Config.Hooks.CustomAccessToken = hook.Hook{URI: "pg-functions://postgres/public/claims"}
		o.Config.Hooks.SendEmail = hook.Hook{URI: service.URL, Secrets: secret}
		o.Config.Hooks.BeforeUserCreated = hook.Hook{URI: service.URL, Secrets: secret}
	})
	w.db.ExecAs("supabase_admin", `
		create function public.claims(event jsonb) returns jsonb language sql as $$
		  select jsonb_build_object('claims', event -> 'claims' || jsonb_build_object('plan', 'gold')) $$;
		grant usage on schema public to supabase_auth_admin; grant execute on function public.claims to supabase_auth_admin`)
	s := w.signUp("a@example.org")
	if payload(t, s.text("access_token"))["plan"] != "gold" {
		t.Error("the claims were not changed")
	}
	name := "Ca\"a\\b\\141\nd é"
	s = w.post("/signup", m{"email": "b@example.org", "password": "password-1", "data": m{"name": name}}).want(200)
	if got := payload(t, s.text("access_token"))["user_metadata"].(map[string]any)["name"]; got != name {
		t.Errorf("the name became %q", got)
	}
	w.post("/signup", m{"email": "refused@example.org", "password": "password-1"}).want(403)
	w.post("/recover", m{"email": "a@example.org"}).want(200)
	last := seen[len(seen)-1]["email_data"].(map[string]any)
	if last["email_action_type"] != "recovery" || len(last["token"].(string)) != 6 ||
		!strings.HasPrefix(signature, "v1,") || len(w.mails) != 0 {
		t.Errorf("%v %q", last, signature)
	}
}
