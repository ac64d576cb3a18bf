package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDirect reuses a connection after a whole reply, replaces one that the server has closed, and
// drops one whose reply was not read to its end.
func TestDirect(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, text, r.RemoteAddr)
		if r.URL.Path == "/long" {
			_, _ = io.WriteString(w, strings.Repeat("x", 100_000))
		}
	}))
	defer server.Close()
	client := &http.Client{Transport: &direct{idle: map[string][]*directConn{}}}
	call := func(path, body string, most int64) string {
		t.Helper()
		res, err := client.Post(server.URL+path, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(io.LimitReader(res.Body, most))
		if err != nil {
			t.Fatal(err)
		}
		method, from, ok := strings.Cut(string(text), " "+body+" ")
		if !ok || method != http.MethodPost {
			t.Fatalf("got %q", text)
		}
		return from
	}
	first := call("/", "a", 1000)
	if second := call("/", "bb", 1000); second != first {
		t.Errorf("the second request came from %s, want %s", second, first)
	}
	server.CloseClientConnections()
	third := call("/", "ccc", 1000)
	if third == first {
		t.Error("a closed connection was used")
	}
	call("/long", "d", 50)
	if fifth := call("/", "e", 1000); fifth == third {
		t.Error("a connection was used before its reply was read")
	}
}
