package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestLocal(t *testing.T) {
	h := Local(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, tt := range []struct {
		what, method, host string
		headers            map[string]string
		status             int
	}{
		{"a page", "GET", "127.0.0.1:54323", nil, 200},
		{"by name", "GET", "localhost:54323", nil, 200},
		{"over IPv6", "GET", "[::1]:54323", nil, 200},
		{"its own request", "POST", "localhost:54323", map[string]string{"Sec-Fetch-Site": "same-origin",
			"Sec-Fetch-Mode": "cors", "Origin": "http://localhost:54323"}, 200},
		{"a program", "POST", "127.0.0.1:54323", nil, 200},
		{"a link on another site", "GET", "127.0.0.1:54323", map[string]string{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate"}, 200},
		{"a picture of another site", "GET", "127.0.0.1:54323", map[string]string{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "no-cors"}, 403},
		{"a script of another port", "GET", "localhost:54323", map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "cors"}, 403},
		{"a form of another site", "POST", "127.0.0.1:54323", map[string]string{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate"}, 403},
		{"a WebSocket of another site", "GET", "127.0.0.1:54323", map[string]string{"Upgrade": "websocket",
			"Origin": "https://evil.example"}, 403},
		{"a name that resolves to this machine", "GET", "evil.example:54323", nil, 403},
		{"an address that is not local", "GET", "192.0.2.1:54323", nil, 403},
	} {
		r := httptest.NewRequest(tt.method, "http://"+tt.host+"/", nil)
		for name, value := range tt.headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s: %d, want %d", tt.what, w.Code, tt.status)
		}
		if w.Header().Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: the page can be framed", tt.what)
		}
	}
}

// TestPagesAreRefused checks that a page reaches none of the services for administrators, not even
// with a key: a local installation's keys are well known.
func TestPagesAreRefused(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	h := New(Options{Meta: ok, Logs: ok, MCP: ok, MCPKey: "mcp", Keys: serviceKeys{}, Limits: Limits{Rate: -1, AuthRate: -1}})
	for path, key := range map[string]string{"/pg/query": "service", "/analytics/v1/x": "service", "/mcp": "mcp"} {
		for _, tt := range []struct {
			what, method string
			headers      map[string]string
			status       int
		}{
			{"a program", "POST", map[string]string{"Apikey": key}, 200},
			{"a form", "POST", map[string]string{"Apikey": key, "Origin": "https://evil.example"}, 403},
			{"a page whose name resolves to this machine", "POST", map[string]string{"Apikey": key,
				"Origin": "http://127.0.0.1"}, 403},
			{"a script", "GET", map[string]string{"Apikey": key, "Origin": "https://evil.example",
				"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403},
			{"a preflight", "OPTIONS", map[string]string{"Origin": "https://evil.example",
				"Access-Control-Request-Method": "POST", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403},
		} {
			r := httptest.NewRequest(tt.method, "http://127.0.0.1"+path, nil)
			for name, value := range tt.headers {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %s: %d %v", path, tt.what, w.Code, w.Header())
			}
		}
	}
}

// serviceKeys is a KeySet in which each key is of the role service_role.
type serviceKeys struct{}

func (serviceKeys) Resolve(string) (Key, bool) { return Key{Role: serviceRole}, true }
