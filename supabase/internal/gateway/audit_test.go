package gateway

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// TestAuditLog: the log shows requests with service_role or an S3 signature, and no others.
func TestAuditLog(t *testing.T) {
	var log bytes.Buffer
	h := testGateway(func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Role = func(token string) string {
			return map[string]string{"service": "service_role", "service-es256": "service_role", "anon": "anon",
				"a-user": "authenticated"}[token]
		}
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("Authorization"), "Signature=wrong") {
				w.WriteHeader(http.StatusForbidden)
			}
			if r.URL.Path == "/object/avatars/aborted" {
				panic(http.ErrAbortHandler)
			}
		})
	})
	for _, tt := range []struct {
		name, method, target string
		headers              []string
		want                 string // "" for no line
	}{
		{"secret key", "GET", "/rest/v1/notes?select=secret", []string{"apikey", "sb_secret_1"},
			"service=rest method=GET path=/rest/v1/notes status=200 privilege=service_role"},
		{"secret key in the query", "GET", "/rest/v1/notes?apikey=sb_secret_1", nil,
			"path=/rest/v1/notes status=200 privilege=service_role"},
		{"legacy key", "DELETE", "/storage/v1/object/avatars/secret.png", []string{"Authorization", "Bearer service"},
			"service=storage method=DELETE path=/storage/v1/object/avatars status=200 privilege=service_role"},
		{"service_role token with a public key", "GET", "/auth/v1/admin/users",
			[]string{"apikey", "sb_publishable_1", "Authorization", "Bearer service-es256"},
			"service=auth method=GET path=/auth/v1/admin/users status=200 privilege=service_role"},
		{"function", "POST", "/functions/v1/f", []string{"apikey", "sb_secret_1"},
			"path=/functions/v1/f status=200 privilege=service_role"},
		{"signature", "GET", "/storage/v1/s3/avatars/secret.png",
			[]string{"Authorization", "AWS4-HMAC-SHA256 Signature=right"},
			"path=/storage/v1/s3/avatars status=200 privilege=s3"},
		{"signature in the query", "GET", "/storage/v1/s3/avatars/secret.png?X-Amz-Signature=right", nil,
			"privilege=s3"},
		{"forged signature", "GET", "/storage/v1/s3/avatars/secret.png",
			[]string{"Authorization", "AWS4-HMAC-SHA256 Signature=wrong"}, ""},
		{"public key", "GET", "/rest/v1/notes", []string{"apikey", "sb_publishable_1"}, ""},
		{"user", "GET", "/rest/v1/notes", []string{"apikey", "anon", "Authorization", "Bearer a-user"}, ""},
		{"forged token", "GET", "/rest/v1/notes", []string{"apikey", "anon", "Authorization", "Bearer forged"}, ""},
		{"unknown key", "GET", "/rest/v1/notes", []string{"apikey", "sb_secret_2"}, ""},
		{"site", "GET", "/", []string{"apikey", "sb_secret_1"}, ""},
	} {
		log.Reset()
		ask(h, tt.method, tt.target, tt.headers...)
		line := log.String()
		if (line == "") != (tt.want == "") || !strings.Contains(line, tt.want) || strings.Contains(line, "secret") {
			t.Errorf("%s: %q is logged, want %q", tt.name, line, tt.want)
		}
	}

	// The client has read part of an aborted reply.
	log.Reset()
	func() {
		defer func() { _ = recover() }()
		ask(h, "GET", "/storage/v1/object/avatars/aborted", "apikey", "sb_secret_1")
	}()
	if line := log.String(); !strings.Contains(line, "privilege=service_role") {
		t.Errorf("aborted request: %q is logged", line)
	}
}
