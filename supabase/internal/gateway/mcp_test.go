package gateway

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestMCP(t *testing.T) {
	studio := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path+"?"+r.URL.RawQuery+r.Header.Get("Authorization")+r.Header.Get("Apikey"))
	})
	var log bytes.Buffer
	ask := func(key, path string, headers ...string) (int, string) {
		h := New(Options{MCP: studio, MCPKey: key, Keys: noKeys{}, Limits: Limits{Rate: -1, AuthRate: -1},
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}"))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const key = "Bearer key-of-the-mcp-server"
	for _, tt := range []struct {
		what, key, path string
		headers         []string
		status          int
		body            string
	}{
		{"without a key of the installation", "", "/mcp", []string{"Authorization", "Bearer "}, 404, "not part of"},
		{"without a key", "key-of-the-mcp-server", "/mcp", nil, 401, "Unauthorized"},
		{"with another key", "key-of-the-mcp-server", "/mcp", []string{"Authorization", "Bearer x"}, 401, "Unauth"},
		{"with the key", "key-of-the-mcp-server", "/mcp?read_only=true", []string{"Authorization", key}, 200,
			"/api/mcp?read_only=true"},
		{"with the key as apikey", "key-of-the-mcp-server", "/mcp", []string{"apikey", "key-of-the-mcp-server"}, 200,
			"/api/mcp?"},
		{"another path", "key-of-the-mcp-server", "/mcp/x", []string{"Authorization", key}, 404, "one address"},
		{"a page of another site", "key-of-the-mcp-server", "/mcp", []string{"Authorization", key, "Origin",
			"https://evil.example"}, 403, "from a page"},
	} {
		log.Reset()
		status, body := ask(tt.key, tt.path, tt.headers...)
		if status != tt.status || !strings.Contains(body, tt.body) || strings.Contains(body, "key-of") {
			t.Errorf("%s: %d %s", tt.what, status, body)
		}
		if logged := strings.Contains(log.String(), "privilege=mcp"); logged != (status == 200 || tt.path == "/mcp/x") {
			t.Errorf("%s: the log has a line: %t\n%s", tt.what, logged, log.String())
		}
	}
}
