package auth

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"daawo/supabase/internal/base/keys"
)

// TestErrorShapes checks the two formats of errors and their headers: the API version is echoed in
// errors only, and weak_password has no X-Sb-Error-Code in the dated format.
func TestErrorShapes(t *testing.T) {
	w := newWorld(t)
	bad := m{"email": "unknown@example.org", "password": "x"}
	for _, c := range []struct {
		version, echo string
		dated         bool
	}{{"", "", false}, {"2024-01-01", "2024-01-01", true}, {"2031-12-31", "2024-01-01", true},
		{"2019-01-01", "", false}, {"rubbish", "", false}} {
		r := w.do("POST", "/token?grant_type=password", "", bad, "X-Supabase-Api-Version", c.version).want(400)
		if got := r.header.Get("X-Supabase-Api-Version"); got != c.echo {
			t.Errorf("%q: echo %q", c.version, got)
		}
		if r.header.Get("X-Sb-Error-Code") != "invalid_credentials" {
			t.Errorf("%q: X-Sb-Error-Code %q", c.version, r.header.Get("X-Sb-Error-Code"))
		}
		want := `{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}`
		if c.dated {
			want = `{"code":"invalid_credentials","message":"Invalid login credentials"}`
		}
		if r.raw != want {
			t.Errorf("%q: %s", c.version, r.raw)
		}
	}
	ok := w.do("GET", "/settings", "", nil, "X-Supabase-Api-Version", "2024-01-01").want(200)
	if ok.header.Get("X-Supabase-Api-Version") != "" {
		t.Error("the version is echoed on success")
	}
	weak := m{"email": "a@example.org", "password": "x"}
	old := w.post("/signup", weak).want(422, "weak_password")
	if old.header.Get("X-Sb-Error-Code") != "weak_password" || len(old.at("weak_password.reasons").([]any)) != 1 {
		t.Errorf("old format: %v %s", old.header, old.raw)
	}
	dated := w.do("POST", "/signup", "", weak, "X-Supabase-Api-Version", "2024-01-01").want(422)
	if dated.header.Get("X-Sb-Error-Code") != "" || len(dated.at("weak_password.reasons").([]any)) != 1 {
		t.Errorf("dated format: %v %s", dated.header, dated.raw)
	}
}

// TestStatuses checks the status and the code of each error.
func TestStatuses(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	token := s.text("access_token")
	w.do("GET", "/user", "rubbish", nil).want(403, "bad_jwt")
	w.do("GET", "/user", "", nil).want(401, "no_authorization")
	w.do("GET", "/admin/users", token, nil).want(403, "not_admin")
	w.post("/signup", m{"email": "A@example.org", "password": "password-1"}).want(422, "user_already_exists")
	w.post("/token?grant_type=magic", m{}).want(400, "invalid_credentials")
	w.post("/token?grant_type=pkce", m{"auth_code": uuid.NewString(), "code_verifier": "x"}).want(404,
		"flow_state_not_found")
	w.post("/verify", m{"type": "signup", "email": "a@example.org", "token": "000000"}).want(403, "otp_expired")
	w.post("/verify", m{"type": "nonsense", "email": "a@example.org", "token": "000000"}).want(403, "otp_expired")
	w.do("POST", "/logout?scope=some", token, nil).want(400, "validation_failed")
	w.do("POST", "/logout", token, nil).want(204)
	w.do("GET", "/user", token, nil).want(403, "session_not_found")
	w.do("GET", "/nowhere", "", nil).want(404)
	if r := w.do("GET", "/nowhere", "", nil); !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") {
		t.Errorf("404 has content type %q", r.header.Get("Content-Type"))
	}
	if r := w.do("DELETE", "/signup", "", nil).want(405); r.raw != "" {
		t.Errorf("405 has a body: %q", r.raw)
	}
	if r := w.do("OPTIONS", "/signup", "", nil); r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("auth sets CORS headers; the gateway should")
	}
}

// TestRefreshReuse checks a used token: as the parent of the active token, as an older token, and
// after the reuse interval.
func TestRefreshReuse(t *testing.T) {
	w := newWorld(t)
	t0 := w.signUp("a@example.org").text("refresh_token")
	t1 := w.refresh(t0).want(200).text("refresh_token")
	// The parent of the active token returns the active token at any time.
	w.wait(11 * time.Second)
	if got := w.refresh(t0).want(200).text("refresh_token"); got != t1 {
		t.Fatalf("the parent returns %s, not %s", got, t1)
	}
	t2 := w.refresh(t1).want(200).text("refresh_token")
	// t0 is no longer the parent, and the reuse interval since its use is over.
	w.wait(11 * time.Second)
	access := w.refresh(t2).want(200)
	w.refresh(t0).want(400, "refresh_token_already_used")
	// The family is revoked. Revocation counts as use: the last token works for another ten
	// seconds.
	last := access.text("refresh_token")
	w.wait(5 * time.Second)
	revived := w.refresh(last).want(200).text("refresh_token")
	w.wait(11 * time.Second)
	w.refresh(last).want(200) // the parent of the active token
	w.wait(time.Second)
	w.refresh(t0).want(400, "refresh_token_already_used")
	w.wait(11 * time.Second)
	w.refresh(revived).want(400, "refresh_token_already_used")
	// The session still exists, so the access token works.
	w.do("GET", "/user", access.text("access_token"), nil).want(200)
}

// TestRefreshWithinInterval checks that an older token creates a new token within the reuse
// interval.
func TestRefreshWithinInterval(t *testing.T) {
	w := newWorld(t)
	t0 := w.signUp("a@example.org").text("refresh_token")
	t1 := w.refresh(t0).want(200).text("refresh_token")
	t2 := w.refresh(t1).want(200).text("refresh_token")
	w.wait(5 * time.Second)
	t3 := w.refresh(t0).want(200).text("refresh_token")
	if t3 == t1 || t3 == t2 {
		t.Fatal("the refresh returned an existing token")
	}
}

// TestRefreshTokenFormats checks malformed tokens, and signed tokens on a server that issues stored
// ones.
func TestRefreshTokenFormats(t *testing.T) {
	w := newWorld(t)
	w.refresh("abcdefghijkl").want(400, "refresh_token_not_found")
	for _, text := range []string{"", "short", "abcdefghijklm", "ABCDEFGHIJKL", strings.Repeat("A", 60)} {
		r := w.refresh(text).want(400, "validation_failed")
		if r.text("msg") != "Refresh token is not valid" {
			t.Errorf("%q: %s", text, r.raw)
		}
	}
	// A signed token works on a server that issues stored tokens.
	signed := newWorld(t, func(o *Options) { o.Config.SignedRefreshTokens = true })
	first := signed.signUp("a@example.org")
	token := first.text("refresh_token")
	if first.header.Get("sb-auth-refresh-token-counter") != "0" {
		t.Errorf("counter %q", first.header.Get("sb-auth-refresh-token-counter"))
	}
	signed.restart(func(o *Options) { o.Config.SignedRefreshTokens = false })
	second := signed.refresh(token).want(200)
	if second.header.Get("sb-auth-refresh-token-counter") != "1" ||
		second.header.Get("sb-auth-refresh-token-reuse") != "false" {
		t.Errorf("headers %v", second.header)
	}
	again := signed.refresh(token).want(200)
	if again.text("refresh_token") != second.text("refresh_token") ||
		again.header.Get("sb-auth-refresh-token-reuse-cause") != "concurrent-refresh,fail-to-save" {
		t.Errorf("reuse: %v", again.header)
	}
	signed.refresh(second.text("refresh_token")).want(200)
	signed.wait(11 * time.Second)
	signed.refresh(token).want(400, "refresh_token_already_used")
	signed.refresh(second.text("refresh_token")).want(400, "refresh_token_not_found") // the session has ended
}

// TestAccessTokens checks the claims and the headers. Access tokens of the same second are equal,
// and amr has the login's time.
func TestAccessTokens(t *testing.T) {
	w := newWorld(t)
	first := w.signUp("a@example.org")
	login := w.now().Unix()
	w.wait(time.Minute)
	one := w.refresh(first.text("refresh_token")).want(200)
	two := w.refresh(one.text("refresh_token")).want(200)
	if one.text("access_token") != two.text("access_token") {
		t.Error("two access tokens of the same second differ")
	}
	claims := payload(t, two.text("access_token"))
	if amr := claims["amr"].([]any)[0].(m); amr["method"] != "password" || int64(amr["timestamp"].(float64)) != login {
		t.Errorf("amr %v", amr)
	}
	for name, want := range map[string]any{
		"aud": "authenticated", "role": "authenticated", "aal": "aal1", "is_anonymous": false,
		"iss": "https://api.example.org/auth/v1", "email": "a@example.org", "phone": "",
		"session_id": first.header.Get("sb-auth-session-id"), "sub": first.text("user.id"),
	} {
		if claims[name] != want {
			t.Errorf("%s: %v, want %v", name, claims[name], want)
		}
	}
	h := two.header
	if h.Get("sb-auth-user-id") != first.text("user.id") || h.Get("sb-auth-session-id") == "" ||
		h.Get("sb-auth-refresh-token-reuse") != "false" ||
		h.Get("sb-auth-refresh-token-prefix") != two.text("refresh_token")[:5] {
		t.Errorf("headers %v", h)
	}
}

func payload(t testing.TB, token string) m {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims m
	if err := json.Unmarshal(raw, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// TestTimes checks that times have nine decimals in the reply to a sign-up and six in later
// replies, and that only later replies have confirmed_at.
func TestTimes(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	if got := s.text("user.last_sign_in_at"); got != "2026-03-01T12:00:00.123456789Z" {
		t.Errorf("last_sign_in_at of the sign-up: %s", got)
	}
	if s.at("user.confirmed_at") != nil {
		t.Error("the reply to the sign-up has confirmed_at")
	}
	u := w.do("GET", "/user", s.text("access_token"), nil).want(200)
	// Postgres rounds to microseconds.
	if got := u.text("last_sign_in_at"); len(got) != len("2026-03-01T12:00:00.123457Z") {
		t.Errorf("last_sign_in_at of a later reply: %s", got)
	}
	if u.text("confirmed_at") == "" {
		t.Error("a later reply has no confirmed_at")
	}
	identity := u.at("identities").([]any)[0].(m)
	if identity["identity_data"].(m)["email_verified"] != false || u.at("user_metadata.email_verified") != true {
		t.Errorf("email_verified: %v %v", identity["identity_data"], u.at("user_metadata"))
	}
}

// TestEmailChangeNeedsConfirmation checks that MailerAutoconfirm applies to sign-ups only.
func TestEmailChangeNeedsConfirmation(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	r := w.do("PUT", "/user", s.text("access_token"), m{"email": "b@example.org"}).want(200)
	if r.text("new_email") != "b@example.org" || r.text("email") != "a@example.org" {
		t.Errorf("%s", r.raw)
	}
	if to, _, _ := w.mail(); to != "b@example.org" {
		t.Errorf("the first mail went to %s", to)
	}
}

// TestNoEnumeration checks that the replies for known and unknown addresses look alike.
func TestNoEnumeration(t *testing.T) {
	w := newWorld(t, confirming)
	w.post("/signup", m{"email": "a@example.org", "password": "password-1"}).want(200)
	_, _, code := w.mail()
	w.post("/verify", m{"type": "signup", "email": "a@example.org", "token": code}).want(200)
	fresh := w.post("/signup", m{"email": "b@example.org", "password": "password-1"}).want(200)
	taken := w.post("/signup", m{"email": "a@example.org", "password": "password-2"}).want(200)
	if fresh.at("user") != nil || taken.at("user") != nil {
		t.Error("an unconfirmed user is wrapped in a user member")
	}
	if taken.text("role") != "" || len(taken.at("identities").([]any)) != 0 ||
		taken.text("confirmation_sent_at") == "" {
		t.Errorf("%s", taken.raw)
	}
	if w.signIn("a@example.org", "password-2").status != 400 {
		t.Error("the second sign-up changed the password")
	}
	w.post("/recover", m{"email": "stranger@example.org"}).want(200)
	w.post("/resend", m{"type": "signup", "email": "stranger@example.org"}).want(200)
}

// TestVerifyRedirects checks the redirects of links: tokens, errors and PKCE codes, with the empty
// parameter sb.
func TestVerifyRedirects(t *testing.T) {
	w := newWorld(t, confirming)
	w.do("POST", "/signup?redirect_to=https://app.example.com/in", "",
		m{"email": "a@example.org", "password": "password-1"}).want(200)
	_, link, _ := w.mail()
	if !strings.HasPrefix(link.String(), "https://api.example.org/auth/v1/verify?token=") {
		t.Errorf("the link is %s", link)
	}
	_, to := w.follow(link)
	q, _ := url.ParseQuery(to.Fragment)
	if to.Host != "app.example.com" || q.Get("access_token") == "" || q.Get("type") != "signup" || !q.Has("sb") ||
		q.Get("sb") != "" {
		t.Errorf("%s", to)
	}
	_, to = w.follow(link) // a link works once
	q, _ = url.ParseQuery(to.Fragment)
	if q.Get("error") != "access_denied" || q.Get("error_code") != "otp_expired" || !q.Has("sb") {
		t.Errorf("%s", to)
	}
	w.do("GET", "/verify?type=signup", "", nil).want(400, "validation_failed")
	// With a code challenge the redirect has a code in the query instead.
	verifier := strings.Repeat("v", 50)
	w.do("POST", "/otp?redirect_to=https://app.example.com/in?x=1", "",
		m{"email": "a@example.org", "code_challenge": verifier, "code_challenge_method": "plain"}).want(200)
	_, link, _ = w.mail()
	_, to = w.follow(link)
	code := to.Query().Get("code")
	if code == "" || to.Query().Get("x") != "1" || to.Fragment != "" {
		t.Fatalf("%s", to)
	}
	w.post("/token?grant_type=pkce", m{"auth_code": code, "code_verifier": "wrong"}).want(400, "bad_code_verifier")
	w.post("/token?grant_type=pkce", m{"auth_code": code, "code_verifier": verifier}).want(200)
	w.post("/token?grant_type=pkce", m{"auth_code": code, "code_verifier": verifier}).want(404, "flow_state_not_found")
}

// TestDoubleEmailChange checks that both addresses must confirm a change, in any order.
func TestDoubleEmailChange(t *testing.T) {
	for name, newFirst := range map[string]bool{"new first": true, "current first": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, confirming)
			w.post("/signup", m{"email": "a@example.org", "password": "password-1"}).want(200)
			_, _, code := w.mail()
			token := w.post("/verify",
				m{"type": "signup", "email": "a@example.org", "token": code}).want(200).text("access_token")
			w.do("PUT", "/user", token, m{"email": "b@example.org"}).want(200)
			_, first, _ := w.mail()
			_, second, _ := w.mail()
			if !newFirst {
				first, second = second, first
			}
			_, to := w.follow(first)
			if to.Query().Has("message") || !strings.Contains(to.Fragment, "Confirmation+link+accepted") &&
				!strings.Contains(to.String(), "message=Confirmation+link+accepted") ||
				!strings.HasSuffix(to.String(), "&sb=") {
				t.Errorf("after the first confirmation: %s", to)
			}
			if got := w.do("GET", "/user", token, nil).want(200).text("email"); got != "a@example.org" {
				t.Fatalf("after the first confirmation the address is %s", got)
			}
			w.follow(second)
			if got := w.do("GET", "/user", token, nil).want(200); got.text("email") != "b@example.org" ||
				got.text("new_email") != "" {
				t.Fatalf("%s", got.raw)
			}
			w.signIn("b@example.org", "password-1").want(200)
		})
	}
}

// TestTokensWithoutSession checks that a token without a session reads the user, and the paging
// headers of the list of users.
func TestTokensWithoutSession(t *testing.T) {
	w := newWorld(t)
	id := w.signUp("a@example.org").text("user.id")
	token, err := keys.Secret("", testSecret).Sign(json.RawMessage(`{"sub":"` + id +
		`","aud":"authenticated","role":"authenticated","exp":4102444800}`))
	if err != nil {
		t.Fatal(err)
	}
	w.do("GET", "/user", token, nil, "apikey", "whatever").want(200)
	list := w.do("GET", "/admin/users?per_page=1", w.admin(), nil).want(200)
	if u := list.at("users").([]any)[0].(m); u["identities"] != nil {
		t.Errorf("identities %v", u["identities"])
	}
	if list.header.Get("X-Total-Count") != "1" ||
		list.header.Get("Link") != `</admin/users?page=1&per_page=1>; rel="last"` {
		t.Errorf("paging headers %v", list.header)
	}
}

// TestCallbackErrors checks that a callback without a flow redirects to the site with an error, and
// sends HTML followed by JSON.
func TestCallbackErrors(t *testing.T) {
	w := newWorld(t)
	r := w.do("GET", "/callback", "", nil).want(303)
	if !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || !strings.HasPrefix(r.raw, "<a href=") ||
		!strings.Contains(r.raw, `"error_code":"bad_oauth_callback"`) {
		t.Errorf("%v %s", r.header, r.raw)
	}
	to, _ := url.Parse(r.header.Get("Location"))
	if to.Host != "example.org" || to.Query().Get("error") != "invalid_request" {
		t.Errorf("%s", to)
	}
}
