package storage

import (
	"net/http"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// signedPath sends a request to path that is signed for another host and path.
func (s *stack) signedPath(method, path, signedHost, signed, body string) reply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+signedHost+signed, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	r = signer.SignV4(*r, "access", "secret-of-the-test", "", "local")
	sent, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	sent.Header = r.Header
	return s.send(sent)
}

// TestS3SignedPaths checks which paths a client may sign: the public path, or the path below the
// endpoint. No signature is valid for two requests.
func TestS3SignedPaths(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(o *Options) { o.S3Prefix = "/storage/v1" })
	s.bucket("box", false)
	s.bucket("storage", false)
	host := strings.TrimPrefix(s.server.URL, "http://")
	const other = "/storage/v1/s3/box/a" // also the name v1/s3/box/a in the bucket storage
	for _, tt := range []struct {
		name, path, signed string
		status             int
	}{
		{"public path", "/s3/box/a", other, 200},
		{"below the endpoint", "/s3/box/a", "/box/a", 200},
		{"path of the engine", "/s3/box/a", "/s3/box/a", 403},
		{"another name", "/s3/box/b", "/box/a", 403},
		{"public path of another bucket", "/s3" + other, "/storage/v1/s3" + other, 200},
		{"signed for a public path", "/s3" + other, other, 403},
	} {
		s.signedPath("PUT", tt.path, host, tt.signed, "x").want(t, tt.status, "")
		if t.Failed() {
			t.Fatal(tt.name)
		}
	}
	s.signedPath("GET", "/s3", host, "/", "").want(t, 200, "<Name>box</Name>")
	forwarded := newStack(t, func(o *Options) { o.AllowForwardedPrefix = true })
	forwarded.bucket("box", false)
	forwarded.signedPath("PUT", "/s3/box/a", strings.TrimPrefix(forwarded.server.URL, "http://"), "/box/a", "x").
		want(t, 403, "SignatureDoesNotMatch")
}
