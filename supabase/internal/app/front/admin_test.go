package front

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
)

// TestAdminHost checks which host names on port 443 lead to the application, and that its host gets
// a certificate.
func TestAdminHost(t *testing.T) {
	f := &Front{Installation: installation.New(installation.Options{Config: &config.Config{}})}
	f.Config.TLSDomains, f.Config.AdminURL = config.List{"example.org"}, "https://desk.example.org"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f.desk = l
	if got := f.domains(); !slices.Equal(got, []string{"example.org", "desk.example.org"}) {
		t.Errorf("domains: %v", got)
	}
	name := func(s string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
	}
	h := f.byHost(name("application"), name("site"))
	for host, want := range map[string]string{
		"desk.example.org": "application", "DESK.example.org:443": "application", "example.org": "site",
		"other.example": "site", "": "site",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Body.String() != want {
			t.Errorf("%s: %s", host, w.Body)
		}
	}
}
