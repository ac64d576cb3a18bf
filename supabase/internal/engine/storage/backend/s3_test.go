package backend_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/engine/storage/backend"
)

// TestS3Endpoint checks that an S3 endpoint with a path is refused: requests would go to the host
// without it.
func TestS3Endpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"": "", "http://127.0.0.1:9000": "", "https://s3.example.org/": "",
		"s3.example.org":                         "is not an S3 endpoint URL",
		"https://p.example.org/storage/v1/s3":    "has a path",
		"https://s3.example.org/?region=nowhere": "has a path",
	} {
		_, err := backend.OpenS3(backend.S3Config{Endpoint: endpoint, Region: "us-east-1", Bucket: "internal",
			Tenant: "stub", AccessKey: "id", SecretKey: "secret"})
		if got := fmt.Sprint(err); (err != nil) != (want != "") || !strings.Contains(got, want) && want != "" {
			t.Errorf("%q: %v, want %q", endpoint, err, want)
		}
	}
}

// TestS3Faults puts an object into stores that fail.
func TestS3Faults(t *testing.T) {
	t.Parallel()
	key := backend.Key{Bucket: "b", Name: "x", Version: "v"}
	for name, reply := range map[string]http.HandlerFunc{
		"busy": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `<Error><Code>SlowDown</Code></Error>`)
		},
		"away": nil,
		// keeps the encoding of the chunks
		"simple": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Last-Modified", "Sat, 28 Nov 2026 16:00:00 GMT")
			w.Header().Set("Content-Length", "90")
			w.Header().Set("ETag", `"x"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(reply)
			defer server.Close()
			if reply == nil {
				server.Close()
			}
			b, err := backend.OpenS3(backend.S3Config{Endpoint: server.URL, Region: "us-east-1", Bucket: "internal",
				Tenant: "stub", AccessKey: "id", SecretKey: "secret", PathStyle: true})
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Put(t.Context(), key, strings.NewReader("hello"), backend.Options{})
			if err == nil || errors.Is(err, backend.ErrUnavailable) != (name != "simple") {
				t.Error(err)
			}
		})
	}
}
