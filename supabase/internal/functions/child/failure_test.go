package child

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// TestCallIsSentAgain checks that a call that reached no process can be sent to the next one with
// its body, and that a call whose body was read cannot.
func TestCallIsSentAgain(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	next := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer next.Close()
	call := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("sent once"))
	body := BodyOf(call)
	reply := httptest.NewRecorder()
	for _, server := range []*httptest.Server{gone, next} {
		to, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if !body.Unread() {
			t.Fatalf("%s: the body was read before", to)
		}
		ctx, failure := WithFailure(call.Context())
		out := call.Clone(ctx)
		body.Give(out)
		(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ErrorHandler: Failed}).
			ServeHTTP(reply, out)
		if server == gone && !errors.Is(*failure, syscall.ECONNREFUSED) || server == next && *failure != nil {
			t.Errorf("%s: %v", to, *failure)
		}
	}
	if reply.Body.String() != "sent once" || body.Unread() {
		t.Errorf("the second process got %q, unread %v", reply.Body, body.Unread())
	}
}
