package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
)

// thirdParty is an issuer with OpenID Connect discovery.
type thirdParty struct {
	t   *testing.T
	url string
	key keys.Key
}

func newThirdParty(t *testing.T) *thirdParty {
	t.Helper()
	key, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	p := &thirdParty{t: t, key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.url, p.url+"/jwks")
	})
	mux.HandleFunc("GET /jwks",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(keys.JWKS([]keys.Key{key})) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// token returns a token of the user user_1, with more claims.
func (p *thirdParty) token(claims map[string]any) string {
	p.t.Helper()
	all := map[string]any{"iss": p.url, "sub": "user_1", "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range claims {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := p.key.Sign(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

// TestThirdPartyIssuer checks that REST, storage, Realtime and functions accept the tokens of an
// issuer of [auth.third_party], with the rights of their role, and that auth does not.
func TestThirdPartyIssuer(t *testing.T) {
	p := newThirdParty(t)
	info := start(t, newApp(t, dataFolder(t), map[string]string{
		"SUPABASE_AUTH_THIRD_PARTY_WORKOS_ENABLED": "true", "SUPABASE_AUTH_THIRD_PARTY_WORKOS_ISSUER_URL": p.url,
		"SUPABASE_REALTIME_ENABLED": "true",
	}))
	err := pool.WithConn(t.Context(), info.Get("DB_URL"), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `
			create table public.documents (owner text not null default auth.jwt() ->> 'sub', title text);
			alter table public.documents enable row level security;
			create policy "own documents" on public.documents to authenticated
				using (owner = auth.jwt() ->> 'sub') with check (owner = auth.jwt() ->> 'sub');
			insert into public.documents values ('user_1', 'mine'), ('user_2', 'hers');
			create policy "own files" on storage.objects to authenticated using (owner_id = auth.jwt() ->> 'sub') with check (bucket_id = 'avatars');
			notify pgrst, 'reload schema'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	api, apikey := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY")
	do := func(method, path, body, token string) (int, string) {
		return call(t, method, api+path, body, "apikey", apikey, "Authorization", "Bearer "+token, "Content-Type",
			"image/png")
	}
	user := p.token(map[string]any{"role": "authenticated"})
	// the keys are fetched beside the start
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if status, body := do("GET", "/rest/v1/documents?select=title", "", user); status == 200 {
			if body != `[{"title":"mine"}]` {
				t.Errorf("REST: %s", body)
			}
			break
		} else if time.Now().After(end) {
			t.Fatal(status, body)
		}
	}
	if status, body := do("POST", "/storage/v1/object/avatars/a.png", "png", user); status != 200 {
		t.Errorf("storage: %d %s", status, body)
	}
	if status, body := do("GET", "/functions/v1/hello", "", user); status != 200 {
		t.Errorf("functions: %d %s", status, body)
	}
	s := openSocket(t, api+"/realtime/v1/websocket?vsn=2.0.0&apikey="+apikey)
	s.send(`["1","1","realtime:a","phx_join",{"access_token":"` + user + `","config":{}}]`)
	s.want(`"status":"ok"`)

	anonymous := p.token(nil)
	if status, body := do("GET", "/rest/v1/documents", "", anonymous); status != 200 || body != "[]" {
		t.Errorf("without a role: %d %s", status, body)
	}
	service, foreign := p.token(map[string]any{"role": "service_role"}),
		p.token(map[string]any{"iss": "https://other.example", "role": "authenticated"})
	for _, c := range []struct {
		name, path, token string
		want              int
	}{
		{"auth", "/auth/v1/user", user, 403},
		{"no role is anon", "/rest/v1/notes?select=text", anonymous, 200},
		{"service_role, REST", "/rest/v1/notes", service, 401},
		{"service_role, storage", "/storage/v1/bucket", service, 400},
		{"service_role, functions", "/functions/v1/hello", service, 401},
		{"another issuer", "/rest/v1/notes", foreign, 401},
	} {
		if status, body := do("GET", c.path, "", c.token); status != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.want)
		}
	}
}
