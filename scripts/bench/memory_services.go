package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"daawo/scripts/server"
)

// aloneService is a service that a process of its own can serve: ours or the real one, which reads
// the same variables.
type aloneService struct {
	name, upstream string
	command        string // the variable that holds the real server's command
	key            string // of the requests
	variables      func(st *server.Stack, port string) []string
	// requests returns a function that sends the next request of a client
	requests func(ctx context.Context, m *model, t target) (func(ctx context.Context, client, i int) error, error)
}

func servedAlone(files string) []aloneService {
	return []aloneService{
		{"rest", "PostgREST", "POSTGREST_COMMAND", "ANON_KEY", restVariables, restLoad},
		{"auth", "GoTrue", "GOTRUE_COMMAND", "", authVariables, authLoad},
		{"storage", "storage-api", "STORAGE_API_COMMAND", "SERVICE_ROLE_KEY",
			func(st *server.Stack, port string) []string { return storageVariables(st, port, files) }, storageLoad},
	}
}

// databaseAs returns the URL of the stack's database for a role. A local stack has one password.
func databaseAs(st *server.Stack, role string) string {
	return "postgres://" + role + ":postgres@" + server.DatabaseHost(st.Get("DB_URL")) + "/postgres"
}

func restVariables(st *server.Stack, port string) []string {
	return []string{"PGRST_SERVER_HOST=127.0.0.1", "PGRST_SERVER_PORT=" + port,
		"PGRST_DB_URI=" + databaseAs(st, "authenticator"), "PGRST_DB_SCHEMAS=public", "PGRST_DB_ANON_ROLE=anon",
		"PGRST_JWT_SECRET=" + st.Get("JWT_SECRET")}
}

// restLoad has one request of eight for 1,000 rows.
func restLoad(_ context.Context, m *model, t target) (func(ctx context.Context, client, i int) error, error) {
	paths := []string{
		"/bench_orders?select=id,note,total&order=id&limit=25", "/bench_orders?id=eq.7", "/rpc/bench_add?a=1&b=2",
		"/bench_orders?select=id,note,bench_lines(id,product,n)&order=id&limit=25", "/bench_orders?order=id&limit=1000",
		"/bench_orders?select=id&owner=eq.user7&limit=10", "/bench_orders?id=eq.7000",
	}
	return func(ctx context.Context, client, i int) error {
		if k := (client + i) % (len(paths) + 1); k < len(paths) {
			return m.sendTo(ctx, t, http.MethodGet, paths[k], nil, nil)
		}
		return m.sendTo(ctx, t, http.MethodPost, "/bench_log", []byte(`{"text":"x"}`), nil)
	}, nil
}

func authVariables(st *server.Stack, port string) []string {
	return []string{"GOTRUE_API_HOST=127.0.0.1", "GOTRUE_API_PORT=" + port, "API_EXTERNAL_URL=" + st.Get("API_URL"),
		"GOTRUE_SITE_URL=" + st.Get("API_URL"), "GOTRUE_DB_DRIVER=postgres",
		"GOTRUE_DB_DATABASE_URL=" + databaseAs(st, "supabase_auth_admin"), "GOTRUE_DB_MAX_POOL_SIZE=10",
		"GOTRUE_DB_MAX_IDLE_POOL_SIZE=10", "GOTRUE_JWT_SECRET=" + st.Get("JWT_SECRET"), "GOTRUE_JWT_AUD=authenticated",
		"GOTRUE_MAILER_AUTOCONFIRM=true", "GOTRUE_RATE_LIMIT_OTP=1000000", "GOTRUE_RATE_LIMIT_TOKEN_REFRESH=1000000"}
}

// authLoad has 44 reads of the user, five refreshes and one sign-in with a password in 50 requests.
func authLoad(ctx context.Context, m *model, t target) (func(ctx context.Context, client, i int) error, error) {
	accounts := newAccounts(m, t.url, "")[:memoryClients]
	for _, a := range accounts {
		if err := a.call(ctx, http.MethodPost, "/signup", "",
			map[string]any{"email": a.email, "password": a.password}); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, client, i int) error {
		switch a := accounts[client]; {
		case i%50 == client:
			return a.login(ctx)
		case i%10 == 9:
			return a.refresh(ctx)
		default:
			return a.user(ctx)
		}
	}, nil
}

func storageVariables(st *server.Stack, port, files string) []string {
	return []string{"SERVER_HOST=127.0.0.1", "SERVER_PORT=" + port,
		"DATABASE_URL=" + databaseAs(st, "supabase_storage_admin"), "AUTH_JWT_SECRET=" + st.Get("JWT_SECRET"),
		"ANON_KEY=" + st.Get("ANON_KEY"), "SERVICE_KEY=" + st.Get("SERVICE_ROLE_KEY"),
		"STORAGE_PUBLIC_URL=" + st.Get("API_URL"), "FILE_SIZE_LIMIT=52428800", "STORAGE_BACKEND=file",
		"FILE_STORAGE_BACKEND_PATH=" + files, "GLOBAL_S3_BUCKET=daawo", "TENANT_ID=daawo", "REGION=local"}
}

// storageLoad has two downloads, an upload and a list in four requests. An object has 100 kB, one
// upload of 25 has 5 MB.
func storageLoad(ctx context.Context, m *model, t target) (func(ctx context.Context, client, i int) error, error) {
	bucket := "memory" + t.url[strings.LastIndexByte(t.url, ':')+1:]
	if err := m.sendTo(ctx, t, http.MethodPost, "/bucket", fmt.Appendf(nil, `{"id":%q,"name":%[1]q}`, bucket),
		nil); err != nil {
		return nil, err
	}
	small, large := bytes.Repeat([]byte("0123456789"), 10_000), bytes.Repeat([]byte("0123456789"), 500_000)
	binary := map[string]string{"Content-Type": "application/octet-stream", "x-upsert": "true"}
	object := func(client int) string { return fmt.Sprintf("/object/%s/%d", bucket, client) }
	for client := range memoryClients {
		if err := m.sendTo(ctx, t, http.MethodPost, object(client), small, binary); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, client, i int) error {
		switch {
		case i%4 < 2:
			return m.sendTo(ctx, t, http.MethodGet, object(client), nil, nil)
		case i%4 == 2:
			return m.sendTo(ctx, t, http.MethodPost, "/object/list/"+bucket, []byte(`{"prefix":"","limit":100}`), nil)
		case i%100 == 3:
			return m.sendTo(ctx, t, http.MethodPost, object(client)+"-large", large, binary)
		default:
			return m.sendTo(ctx, t, http.MethodPost, object(client), small, binary)
		}
	}, nil
}
