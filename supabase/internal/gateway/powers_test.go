package gateway

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// TestPowerfulRequestsAreLogged: after a key was stolen the log says where its holder was, and of others nothing.
func TestPowerfulRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	h := testGateway(func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Role = func(token string) string {
			return map[string]string{"service": "service_role", "service-es256": "service_role", "anon": "anon", "a-user": "authenticated"}[token]
		}
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("Authorization"), "Signature=wrong") {
				w.WriteHeader(http.StatusForbidden)
			}
			if r.URL.Path == "/object/photos/cut-off" {
				panic(http.ErrAbortHandler)
			}
		})
	})
	for _, tt := range []struct {
		name, method, target string
		headers              []string
		want                 string // "" for no line
	}{
		{"a secret key", "GET", "/rest/v1/reports?select=secret", []string{"apikey", "sb_secret_1"},
			"service=rest method=GET path=/rest/v1/reports status=200 as=service_role"},
		{"one in the query", "GET", "/rest/v1/reports?apikey=sb_secret_1", nil, "path=/rest/v1/reports status=200 as=service_role"},
		{"a legacy key", "DELETE", "/storage/v1/object/photos/secret.png", []string{"Authorization", "Bearer service"},
			"service=storage method=DELETE path=/storage/v1/object/photos status=200 as=service_role"},
		{"a token behind a public key", "GET", "/auth/v1/admin/users", []string{"apikey", "sb_publishable_1", "Authorization", "Bearer service-es256"},
			"service=auth method=GET path=/auth/v1/admin/users status=200 as=service_role"},
		{"a function", "POST", "/functions/v1/f", []string{"apikey", "sb_secret_1"}, "path=/functions/v1/f status=200 as=service_role"},
		{"a signature", "GET", "/storage/v1/s3/photos/secret.png", []string{"Authorization", "AWS4-HMAC-SHA256 Signature=right"},
			"path=/storage/v1/s3/photos status=200 as=s3"},
		{"one in the query", "GET", "/storage/v1/s3/photos/secret.png?X-Amz-Signature=right", nil, "as=s3"},
		{"a forged signature", "GET", "/storage/v1/s3/photos/secret.png", []string{"Authorization", "AWS4-HMAC-SHA256 Signature=wrong"}, ""},
		{"a public key", "GET", "/rest/v1/resources", []string{"apikey", "sb_publishable_1"}, ""},
		{"a person", "GET", "/rest/v1/resources", []string{"apikey", "anon", "Authorization", "Bearer a-user"}, ""},
		{"a forged token", "GET", "/rest/v1/resources", []string{"apikey", "anon", "Authorization", "Bearer forged"}, ""},
		{"an unknown key", "GET", "/rest/v1/reports", []string{"apikey", "sb_secret_2"}, ""},
		{"a page", "GET", "/", []string{"apikey", "sb_secret_1"}, ""},
	} {
		log.Reset()
		ask(h, tt.method, tt.target, tt.headers...)
		line := log.String()
		if (line == "") != (tt.want == "") || !strings.Contains(line, tt.want) || strings.Contains(line, "secret") {
			t.Errorf("%s: %q is logged, want %q", tt.name, line, tt.want)
		}
	}

	// A reply that the client cuts off was read until there.
	log.Reset()
	func() {
		defer func() { _ = recover() }()
		ask(h, "GET", "/storage/v1/object/photos/cut-off", "apikey", "sb_secret_1")
	}()
	if line := log.String(); !strings.Contains(line, "as=service_role") {
		t.Errorf("of a request that was cut off %q is logged", line)
	}
}
