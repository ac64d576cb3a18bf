package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/base/config"
)

// TestFunctionsElsewhere checks verify_jwt of functions at FUNCTIONS_URL, over HTTPS with the local
// certificate that [api.tls] makes without paths.
func TestFunctionsElsewhere(t *testing.T) {
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "ran ", r.URL.Path)
	}))
	t.Cleanup(runtime.Close)
	data := dataFolder(t)
	a := newApp(t, data, map[string]string{"FUNCTIONS_URL": runtime.URL})
	a.Config.API.TLS.Enabled = true
	a.Config.Functions = map[string]config.Function{"open": {}, "closed": {VerifyJWT: true}}
	files := maps.Clone(project)
	for _, name := range []string{"typed", "open"} {
		files["functions/"+name+"/index.ts"] = &fstest.MapFile{Data: []byte(`Deno.serve(() => new Response("x"))`)}
	}
	a.Project = files
	info := start(t, a)

	pem, err := os.ReadFile(filepath.Join(data, "api.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	t.Cleanup(client.CloseIdleConnections)
	api := info.Get("API_URL")
	if !strings.HasPrefix(api, "https://") {
		t.Fatalf("API_URL is %s", api)
	}
	for _, tt := range []struct {
		method, name, header, value string
		want                        int
	}{
		{"GET", "typed/path", "", "", 401},
		{"GET", "typed/path", "Authorization", "Bearer a.b.c", 401},
		{"GET", "typed/path", "Authorization", "Bearer " + info.Get("ANON_KEY"), 200},
		{"GET", "typed/path", "apikey", info.Get("PUBLISHABLE_KEY"), 200},
		{"OPTIONS", "typed/path", "", "", 200},
		{"GET", "closed", "", "", 401},
		{"GET", "open", "", "", 200},
		{"GET", "in-go", "", "", 200}, // the other process checks
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, api+"/functions/v1/"+tt.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if status := res.StatusCode; status != tt.want && (tt.method != "OPTIONS" || status >= 300) {
			t.Errorf("%s %s with %s: %d, want %d", tt.method, tt.name, tt.header, status, tt.want)
		}
	}
}

// TestFirstStartWithServicesElsewhere checks that the migrations of a new database find the tables
// of services that cannot have made them yet.
func TestFirstStartWithServicesElsewhere(t *testing.T) {
	service := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(service.Close)
	data := dataFolder(t)
	files := maps.Clone(project)
	files["migrations/20200101000000_services.sql"] = &fstest.MapFile{Data: []byte(
		`insert into storage.buckets (id, name) values ('films', 'films');
		create table public.owned (owner uuid references auth.users (id));
		create policy own on realtime.messages for select to authenticated using (false);`)}
	for range 2 { // the second start leaves the tables to the services
		a := newApp(t, data, map[string]string{
			"AUTH_URL": service.URL, "STORAGE_URL": service.URL, "REALTIME_URL": service.URL,
		})
		a.Project = files
		start(t, a)
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBucketAboveLimit checks that the error names the bucket and the key.
func TestBucketAboveLimit(t *testing.T) {
	a := newApp(t, dataFolder(t), nil)
	a.Config.Storage.Buckets = map[string]config.Bucket{"films": {FileSizeLimit: 100 << 20}}
	err := a.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(),
		"storage.buckets.films.file_size_limit: is 100MiB, more than storage.file_size_limit (50MiB)") {
		t.Errorf("got %v", err)
	}
}
