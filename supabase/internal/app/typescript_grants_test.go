package app

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// given is what a function in TypeScript is given.
type given struct {
	Names    []string
	Database string
	Keys     []string // the legacy and the opaque one of service_role; "" for none
	Headers  map[string]string
}

// given calls a function that tells what it has.
func (s *typeScript) given(t *testing.T, headers ...string) (g given) {
	t.Helper()
	status, body, _ := s.invoke(t, "GET", "secrets", "", headers...)
	if err := json.Unmarshal([]byte(body), &g); err != nil || status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	return g
}

// outcomes runs statements over a function's own URL of the database, and returns the current user
// and which statements succeed.
func (g given) outcomes(t *testing.T, statements ...string) (user string, succeed []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), g.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), `select current_user`).Scan(&user); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err == nil {
			succeed = append(succeed, statement)
		}
	}
	return user, succeed
}

// query returns the status of a statement that runs as postgres.
func (s *typeScript) query(t *testing.T, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.info.Get("API_URL")+"/pg/query",
		strings.NewReader(`{"query":"select 1"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("apikey", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

var powers = []string{`select count(*) from public.notes`, `create table public.own ()`, `set role postgres`,
	`set role supabase_admin`, `select count(*) from auth.users`, `create role another`}

// testGrants checks that a function may do what service_role may, and gets no key of the operator,
// also not by a call of the operator or of its own.
func testGrants(t *testing.T, s *typeScript) {
	service, secret := s.info.Get("SERVICE_ROLE_KEY"), s.info.Get("SECRET_KEY")
	g := s.given(t, "Authorization", "Bearer "+service, "apikey", secret)
	if user, succeed := g.outcomes(t, powers...); user != "service_role" || !slices.Equal(succeed, powers[:1]) {
		t.Errorf("begins as %s, may %q", user, succeed)
	}
	if g.Headers["authorization"] != "Bearer "+g.Keys[0] || g.Headers["apikey"] != g.Keys[1] {
		t.Errorf("a comparison of the caller's key with the function's fails: %v", g.Headers)
	}
	own := s.given(t, "apikey", g.Keys[1])
	learned := append(g.Keys, own.Headers["sb-api-key"])
	for _, header := range []map[string]string{g.Headers, own.Headers} {
		for _, value := range header {
			learned = append(learned, strings.TrimPrefix(value, "Bearer "))
		}
	}
	for _, key := range learned {
		if status := s.query(t, key); status != 401 && status != 403 {
			t.Errorf("a function runs statements as postgres with %q: %d", key, status)
		}
	}
	if slices.Contains(learned, service) || slices.Contains(learned, secret) {
		t.Error("a function learns a key of the operator")
	}
	if status := s.query(t, secret); status != 200 {
		t.Errorf("the operator's own key: %d", status)
	}
}

// TestTypeScriptRoles checks what functions get if the project names other roles.
func TestTypeScriptRoles(t *testing.T) {
	t.Parallel()
	t.Run("a reader", func(t *testing.T) {
		t.Parallel()
		s := startWithRoles(t, "reader")
		given{Database: s.info.Get("DB_URL")}.outcomes(t, `create role reader`, `grant select on public.notes to reader`)
		g := s.given(t)
		if user, succeed := g.outcomes(t, append(powers, `set role service_role`)...); user != "reader" ||
			!slices.Equal(succeed, powers[:1]) {
			t.Errorf("begins as %s, may %q", user, succeed)
		}
		for _, name := range []string{"SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_SECRET_KEY", "SUPABASE_SECRET_KEYS"} {
			if slices.Contains(g.Names, name) {
				t.Errorf("it has %s", name)
			}
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := startWithRoles(t, "postgres")
		g := s.given(t)
		if user, succeed := g.outcomes(t, powers[:2]...); user != "postgres" || len(succeed) != 2 ||
			!slices.Equal(g.Keys, []string{s.info.Get("SERVICE_ROLE_KEY"), s.info.Get("SECRET_KEY")}) {
			t.Errorf("begins as %s, may %q, has %v", user, succeed, g.Keys)
		}
	})
}

func startWithRoles(t *testing.T, roles ...string) *typeScript {
	t.Helper()
	a, s := typeScriptApp(t, nil)
	a.Config.EdgeRuntime.DatabaseRoles = roles
	s.info = start(t, a)
	return s
}
