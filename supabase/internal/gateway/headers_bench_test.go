package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkHeaders changes the headers of a request of the API and of its reply, as each request
// does.
func BenchmarkHeaders(b *testing.B) {
	g := &gateway{}
	s := &service{contentPolicy: sandboxPolicy, resourcePolicy: anyOrigin}
	r := httptest.NewRequest(http.MethodGet, "/rest/v1/t?id=eq.1", nil)
	r.Header.Set("Authorization", "Bearer x")
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		clear(h)
		h["Content-Type"] = []string{"application/json; charset=utf-8"}
		g.proxies.setForwarded(r)
		s.secureHeaders(h)
		setCORS(h, http.StatusOK)
	}
}
