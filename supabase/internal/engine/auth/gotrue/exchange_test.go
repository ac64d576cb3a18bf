package gotrue

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/testdb"
)

// filler writes accounts, sessions, factors, links and applications through a server's API, and
// checks them through another's.
type filler struct {
	t     *testing.T
	p     *process
	admin string
}

type object = map[string]any

// call sends a request and returns its status and body.
func (f filler) call(method, path string, body object, token string) (int, object) {
	f.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	headers := []string{"Content-Type", "application/json"}
	if token != "" {
		headers = append(headers, "Authorization", "Bearer "+token)
	}
	status, _, reply := f.p.send(method, path, string(text), headers...)
	var out object
	_ = json.Unmarshal([]byte(reply), &out) // a list stays empty; the status tells
	return status, out
}

// must is call for a request that succeeds.
func (f filler) must(method, path string, body object, token string) object {
	f.t.Helper()
	status, out := f.call(method, path, body, token)
	if status != 200 && status != 201 {
		f.t.Fatalf("%s %s: %d %v", method, path, status, out)
	}
	return out
}

func text(o object, name string) string { return fmt.Sprint(o[name]) }

// code returns the TOTP code of a secret at a time.
func (f filler) code(secret string, at time.Time) string {
	f.t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		f.t.Fatal(err)
	}
	return code
}

// contents are what one server wrote and the other has to serve.
type contents struct {
	first, session, factorSession, anonymous object
	secret, factor, deleted                  string
	links                                    map[string]string // token hashes by type
	application                              object
	users                                    object
}

func (f filler) fill() contents {
	c := contents{links: map[string]string{}}
	account := func(email string) object { return object{"email": email, "password": "password-1"} }
	c.first = f.must("POST", "/signup", account("ada@example.org"), "")
	c.session = f.must("POST", "/token?grant_type=refresh_token", object{"refresh_token": c.first["refresh_token"]}, "")

	weak := f.must("POST", "/signup", account("factor@example.org"), "")
	factor := f.must("POST", "/factors", object{"factor_type": "totp", "friendly_name": "phone"},
		text(weak, "access_token"))
	c.factor, c.secret = text(factor, "id"), text(factor["totp"].(object), "secret")
	challenge := f.must("POST", "/factors/"+c.factor+"/challenge", nil, text(weak, "access_token"))
	c.factorSession = f.must("POST", "/factors/"+c.factor+"/verify",
		object{"challenge_id": challenge["id"], "code": f.code(c.secret, time.Now())}, text(weak, "access_token"))

	f.must("POST", "/factors", object{"factor_type": "phone", "phone": "15550008"}, text(c.session, "access_token"))

	c.anonymous = f.must("POST", "/signup", object{"data": object{"x": 1}}, "")
	made := func(extra object) string {
		extra["password"], extra["email_confirm"], extra["phone_confirm"] = "password-1", true, true
		return text(f.must("POST", "/admin/users", extra, f.admin), "id")
	}
	made(object{"email": "made@example.org", "app_metadata": object{"plan": "free"}})
	made(object{"phone": "15550009"})
	banned := made(object{"email": "banned@example.org"})
	f.must("PUT", "/admin/users/"+banned, object{"ban_duration": "24h"}, f.admin)
	c.deleted = made(object{"email": "deleted@example.org"})
	f.must("DELETE", "/admin/users/"+c.deleted, object{"should_soft_delete": true}, f.admin)
	for kind, email := range map[string]string{
		"invite": "invited@example.org", "signup": "pending@example.org", "magiclink": "ada@example.org",
		"recovery": "made@example.org",
	} {
		link := f.must("POST", "/admin/generate_link", object{"type": kind, "email": email, "password": "password-1"},
			f.admin)
		c.links[kind] = text(link, "hashed_token")
	}
	for _, method := range []string{"none", "client_secret_post"} {
		c.application = f.must("POST", "/admin/oauth/clients", object{
			"client_name": "shop", "redirect_uris": []string{"https://shop.example.net/callback"},
			"token_endpoint_auth_method": method,
		}, f.admin)
	}
	c.users = f.must("GET", "/admin/users?per_page=100", nil, f.admin)
	return c
}

// check checks that the server serves what the other wrote.
func (f filler) check(c contents) {
	account := func(email string) object { return object{"email": email, "password": "password-1"} }
	refresh := func(session object) object { return object{"refresh_token": session["refresh_token"]} }
	const password, renew = "/token?grant_type=password", "/token?grant_type=refresh_token"
	if users := f.must("GET", "/admin/users?per_page=100", nil,
		f.admin); len(users["users"].([]any)) != len(c.users["users"].([]any)) {
		f.t.Errorf("%d users, want %d", len(users["users"].([]any)), len(c.users["users"].([]any)))
	}
	signedIn := f.must("POST", password, account("factor@example.org"), "")
	challenge := f.must("POST", "/factors/"+c.factor+"/challenge", nil, text(signedIn, "access_token"))
	for _, r := range []struct {
		name, method, path string
		body               object
		token              string
		status             int
	}{
		{"the deleted user", "GET", "/admin/users/" + c.deleted, nil, f.admin, 200},
		{"the audit log", "GET", "/admin/audit", nil, f.admin, 200},
		{"an access token", "GET", "/user", nil, text(c.session, "access_token"), 200},
		{"a refresh token", "POST", renew, refresh(c.session), "", 200},
		{"the refresh token before the last", "POST", renew, refresh(c.first), "", 400},
		{"a password", "POST", password, account("ada@example.org"), "", 200},
		{"a number and a password", "POST", password, object{"phone": "15550009", "password": "password-1"}, "", 200},
		{"a banned user", "POST", password, account("banned@example.org"), "", 400},
		{"a deleted user's password", "POST", password, account("deleted@example.org"), "", 400},
		{"a deleted user's address", "POST", "/signup", account("deleted@example.org"), "", 200},
		{"a session at aal2", "POST", renew, refresh(c.factorSession), "", 200},
		{"a TOTP code", "POST", "/factors/" + c.factor + "/verify",
			object{"challenge_id": challenge["id"], "code": f.code(c.secret, time.Now().Add(30*time.Second))},
			text(signedIn, "access_token"), 200},
		{"an anonymous session", "POST", renew, refresh(c.anonymous), "", 200},
		{"an anonymous user who gets an address", "PUT", "/user", object{"email": "named@example.org"},
			text(c.anonymous, "access_token"), 200},
		{"an invitation", "POST", "/verify", object{"type": "invite", "token_hash": c.links["invite"]}, "", 200},
		{"a confirmation", "POST", "/verify", object{"type": "signup", "token_hash": c.links["signup"]}, "", 200},
		{"a magic link", "POST", "/verify", object{"type": "magiclink", "token_hash": c.links["magiclink"]}, "", 200},
		{"a recovery", "POST", "/verify", object{"type": "recovery", "token_hash": c.links["recovery"]}, "", 200},
		{"a used link", "POST", "/verify", object{"type": "recovery", "token_hash": c.links["recovery"]}, "", 403},
		{"applications with and without a secret", "GET", "/admin/oauth/clients", nil, f.admin, 200},
		{"an application", "GET", "/admin/oauth/clients/" + text(c.application, "client_id"), nil, f.admin, 200},
		{"deleting a user", "DELETE", "/admin/users/" + text(c.anonymous["user"].(object), "id"), object{}, f.admin,
			200},
	} {
		if status, body := f.call(r.method, r.path, r.body, r.token); status != r.status {
			f.t.Errorf("%s: %d %v, want %d", r.name, status, body, r.status)
		}
	}
}

// exchangeVariables are the variables of both servers.
func exchangeVariables(db *testdb.DB) []string {
	return []string{
		"DATABASE_URL=" + db.URL("supabase_auth_admin"), "GOTRUE_DB_DRIVER=postgres", "DB_NAMESPACE=auth",
		"API_EXTERNAL_URL=http://localhost:9999", "GOTRUE_SITE_URL=http://localhost:3000", secretVariable,
		"GOTRUE_JWT_AUD=authenticated", "GOTRUE_JWT_DEFAULT_GROUP_NAME=authenticated", "GOTRUE_MAILER_AUTOCONFIRM=true",
		"GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED=true", "GOTRUE_EXTERNAL_PHONE_ENABLED=true",
		"GOTRUE_MFA_TOTP_ENROLL_ENABLED=true", "GOTRUE_MFA_TOTP_VERIFY_ENABLED=true",
		"GOTRUE_MFA_PHONE_ENROLL_ENABLED=true", "GOTRUE_MFA_PHONE_VERIFY_ENABLED=true",
		"GOTRUE_OAUTH_SERVER_ENABLED=true", "GOTRUE_OAUTH_SERVER_AUTHORIZATION_PATH=/consent",
		"GOTRUE_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED=true",
	}
}

// realServer starts the program of GOTRUE_BINARY, whose source is in GOTRUE_SOURCE. stop ends it.
func realServer(t *testing.T, db *testdb.DB) (p *process, stop func()) {
	t.Helper()
	binary, port := os.Getenv("GOTRUE_BINARY"), freePort(t)
	environment := append(exchangeVariables(db), "PORT="+strconv.Itoa(port), "GOTRUE_DB_MIGRATIONS_PATH="+
		os.Getenv("GOTRUE_SOURCE")+"/migrations")
	for _, argument := range []string{"migrate", "serve"} {
		p = &process{t: t, address: fmt.Sprintf("http://127.0.0.1:%d", port), cmd: exec.Command(binary, argument)}
		p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = t.TempDir(), environment, os.Stderr
		if argument == "migrate" {
			if err := p.cmd.Run(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !listens(port); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("GoTrue does not listen")
		}
	}
	return p, func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // killed, so it reports that
	}
}

// freePort returns a port without a listener.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func listens(port int) bool {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// ourServer starts `serve auth` with the same variables.
func ourServer(t *testing.T, db *testdb.DB) (p *process, stop func()) {
	t.Helper()
	p = serve(t, append(exchangeVariables(db), "PORT=0")...)
	p.started()
	return p, p.stop
}

// TestExchange moves a database between this engine and the real GoTrue in both directions: one
// server fills it, the other serves it. It runs where GOTRUE_BINARY and GOTRUE_SOURCE name a built
// GoTrue (docs/evidence/auth.md).
func TestExchange(t *testing.T) {
	if os.Getenv("GOTRUE_BINARY") == "" {
		t.Skip("GOTRUE_BINARY names no built GoTrue: see docs/evidence/auth.md")
	}
	admin, err := keys.Secret("",
		testSecret).Sign(fmt.Appendf(nil, `{"role":"service_role","exp":%d}`, time.Now().Add(time.Hour).Unix()))
	if err != nil {
		t.Fatal(err)
	}
	type server = func(*testing.T, *testdb.DB) (*process, func())
	for name, order := range map[string][2]server{"to GoTrue": {ourServer, realServer},
		"from GoTrue": {realServer, ourServer}} {
		t.Run(name, func(t *testing.T) {
			db := testdb.New(t)
			if name == "from GoTrue" { // whose migrations make the schema
				db.ExecAs("supabase_admin",
					`drop schema auth cascade; drop schema auth_limits cascade; create schema auth; grant all on schema auth to supabase_auth_admin`)
			}
			first, stop := order[0](t, db)
			written := filler{t, first, admin}.fill()
			stop()
			second, stop := order[1](t, db)
			defer stop()
			filler{t, second, admin}.check(written)
		})
	}
}
