package auth

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth/hook"
)

// TestSameAnswers checks replies that were compared with the real GoTrue's. The cases share one
// database.
func TestSameAnswers(t *testing.T) {
	w := newWorld(t)
	for name, check := range map[string]func(*testing.T, *world){
		"id in use": sameIDInUse, "link to the own address": sameLinkToOwnAddress,
		"metadata of administrators": sameMetadata, "phone sign-up": samePhoneSignup, "external hosts": sameHosts,
		"hook that raises": sameRaisingHook, "hook with an HTTP error": sameHookStatus, "WhatsApp": sameWhatsApp,
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			check(t, w)
		})
	}
}

// sameIDInUse: an id that is in use is an error of the database, not a taken address.
func sameIDInUse(t *testing.T, w *world) {
	made := w.do("POST", "/admin/users", w.admin(), m{"email": "id@example.org"}).want(200)
	again := m{"email": "id-2@example.org", "id": made.text("id")}
	r := w.do("POST", "/admin/users", w.admin(), again).want(500)
	if r.text("code") != "23505" || r.header.Get("X-Sb-Error-Code") != "unexpected_failure" {
		t.Errorf("%s", r.raw)
	}
	r = w.do("POST", "/admin/users", w.admin(), again, "X-Supabase-Api-Version", "2024-01-01")
	if r.text("message") != "Database error creating new user" {
		t.Errorf("%s", r.raw)
	}
}

func sameLinkToOwnAddress(_ *testing.T, w *world) {
	w.signUp("own@example.org")
	for _, kind := range []string{"email_change_new", "email_change_current"} {
		w.do("POST", "/admin/generate_link", w.admin(), m{"type": kind, "email": "own@example.org",
			"new_email": "Own@example.org"}).want(422, "email_exists")
	}
}

// sameMetadata: a contact that is added without a confirmation changes no app_metadata, and its
// identity has both marks.
func sameMetadata(t *testing.T, w *world) {
	s := w.signUp("meta@example.org")
	w.do("PUT", "/admin/users/"+s.text("user.id"), w.admin(), m{"app_metadata": m{"provider": "ours"}}).want(200)
	u := w.do("PUT", "/user", s.text("access_token"), m{"phone": "252610000001"}).want(200)
	if u.text("app_metadata.provider") != "ours" || u.text("app_metadata.providers") != "[email]" {
		t.Errorf("%s", u.raw)
	}
	for _, identity := range u.at("identities").([]any) {
		data := identity.(m)["identity_data"].(m)
		if data["email_verified"] == nil || data["phone_verified"] == nil {
			t.Errorf("%v", data)
		}
	}
}

func samePhoneSignup(t *testing.T, w *world) {
	s := w.post("/signup", m{"phone": "252610000002", "password": "password-1"}).want(200)
	data := s.at("user.identities").([]any)[0].(m)["identity_data"].(m)
	if data["phone_verified"] != false || data["email_verified"] != false {
		t.Errorf("%v", data)
	}
}

// sameHosts: links lead to the host that the request names, if it is in the list.
func sameHosts(t *testing.T, w *world) {
	w.signUp("hosts@example.org")
	w.restart(func(o *Options) { o.Config.Mail.ExternalHosts = []string{"auth.example.net", "localhost"} })
	defer w.restart(func(o *Options) { o.Config.Mail.ExternalHosts = nil })
	for _, c := range []struct{ host, proto, want string }{
		{"auth.example.net", "http", "https://auth.example.net/auth/v1/verify?"},
		{"localhost", "http", "http://localhost/auth/v1/verify?"},
		{"localhost", "", "https://localhost/auth/v1/verify?"},
		{"evil.example.net", "", "https://api.example.org/auth/v1/verify?"},
		{"", "", "https://api.example.org/auth/v1/verify?"},
	} {
		r := w.do("POST", "/admin/generate_link", w.admin(), m{"type": "recovery", "email": "hosts@example.org"},
			"X-Forwarded-Host", c.host, "X-Forwarded-Proto", c.proto).want(200)
		if !strings.HasPrefix(r.text("action_link"), c.want) {
			t.Errorf("%s: %s", c.host, r.text("action_link"))
		}
	}
	w.mails = nil
	w.do("POST", "/recover", "", m{"email": "hosts@example.org"}, "X-Forwarded-Host", "auth.example.net").want(200)
	if _, link, _ := w.mail(); link.Host != "auth.example.net" {
		t.Errorf("%s", link)
	}
}

// sameRaisingHook: the client sees what a hook in the database raises.
func sameRaisingHook(t *testing.T, w *world) {
	w.db.ExecAs("supabase_admin", `
		create function public.raises(event jsonb) returns jsonb language plpgsql as $$
		  begin raise exception 'closed on Fridays' using hint = 'come back'; end $$;
		grant usage on schema public to supabase_auth_admin;
		grant execute on function public.raises to supabase_auth_admin`)
	w.signUp("hook@example.org")
	w.restart(func(o *Options) {
		o.Config.Hooks.CustomAccessToken = hook.Hook{URI: "pg-functions://postgres/public/raises"}
	})
	defer w.restart(func(o *Options) { o.Config.Hooks = Hooks{} })
	r := w.signIn("hook@example.org", "password-1").want(500)
	if r.text("code") != "P0001" || r.text("message") != "closed on Fridays" || r.text("hint") != "come back" {
		t.Errorf("%s", r.raw)
	}
}

// sameHookStatus: an error of the server has an id, and a service that asks for a retry gets it at
// once.
func sameHookStatus(t *testing.T, w *world) {
	calls, status, ids := 0, 0, map[string]bool{}
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		calls++
		ids[r.Header.Get("webhook-id")] = true
		rw.Header().Set("Retry-After", "1")
		rw.WriteHeader(status)
	}))
	defer service.Close()
	w.restart(func(o *Options) {
		o.Config.Hooks.BeforeUserCreated = hook.Hook{URI: service.URL}
		o.RequestIDHeader = "X-Request-Id"
	})
	defer w.restart(func(o *Options) { o.Config.Hooks = Hooks{}; o.RequestIDHeader = "" })
	for _, c := range []struct {
		status, calls int
		message       string
	}{{429, 3, "Service currently unavailable due to hook"}, {503, 3, "Service currently unavailable due to hook"},
		{418, 1, "Unexpected status code returned from hook: 418"}} {
		calls, status = 0, c.status
		r := w.do("POST", "/signup", "", m{"email": "h@example.org", "password": "password-1"}, "X-Request-Id",
			"request-1").want(500, "unexpected_failure")
		if r.text("msg") != c.message || r.text("error_id") != "request-1" || calls != c.calls ||
			r.header.Get("X-Sb-Error-Code") != "unexpected_failure" {
			t.Errorf("%d: %d calls, %s", c.status, calls, r.raw)
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d ids of three hooks: attempts of one have the same id", len(ids))
	}
}

// sameWhatsApp: the hook that sends texts sends by any channel.
func sameWhatsApp(t *testing.T, w *world) {
	var sent []string
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var body struct{ SMS struct{ OTP, Phone string } }
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &body)
		sent = append(sent, body.SMS.Phone+" "+body.SMS.OTP)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, "{}")
	}))
	defer service.Close()
	w.restart(confirming, func(o *Options) { o.Config.Hooks.SendSMS = hook.Hook{URI: service.URL} })
	defer w.restart(func(o *Options) {
		o.Config.Hooks, o.Config.MailerAutoconfirm, o.Config.PhoneAutoconfirm = Hooks{}, true, true
	})
	w.post("/otp", m{"phone": "252610000003", "channel": "whatsapp"}).want(200)
	w.post("/signup", m{"phone": "252610000004", "password": "password-1", "channel": "pigeon"}).want(200)
	_, code, _ := strings.Cut(sent[0], " ")
	token := w.post("/verify", m{"type": "sms", "phone": "252610000003", "token": code}).want(200).text("access_token")
	w.do("PUT", "/user", token, m{"phone": "252610000005", "channel": "whatsapp"}).want(200)
	f := w.do("POST", "/factors", token, m{"factor_type": "phone", "phone": "252610000003"}).want(200)
	w.do("POST", "/factors/"+f.text("id")+"/challenge", token, m{"channel": "whatsapp"}).want(200)
	if len(sent) != 4 {
		t.Errorf("%v", sent)
	}
}

// TestSecretWithKeyID checks that an HS256 token is refused if its kid names a key of another
// algorithm.
func TestSecretWithKeyID(t *testing.T) {
	pair, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	secret := keys.Secret("", testSecret)
	v := keys.NewVerifier(keys.Options{}, pair, secret)
	for id, accepted := range map[string]bool{"": true, "other": true, pair.ID: false} {
		token, err := keys.Secret(id, testSecret).Sign([]byte(`{"role":"anon"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(token); (err == nil) != accepted {
			t.Errorf("kid %q: %v", id, err)
		}
	}
}
