package storage

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// s3Sender signs requests that no client library would make, and sends them to the protocol's handler.
func (s *stack) s3Sender() func(method, path, body string) reply {
	s.t.Helper()
	server := httptest.NewServer(s.engine.s3.Load())
	s.t.Cleanup(server.Close)
	return func(method, path, body string) reply {
		s.t.Helper()
		r, err := http.NewRequestWithContext(s.t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		res, err := http.DefaultTransport.RoundTrip(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
		if err != nil {
			s.t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil {
			s.t.Fatal(err)
		}
		return reply{res, data}
	}
}

// between is what stands between two texts of the reply.
func (r reply) between(before, after string) string {
	_, rest, _ := strings.Cut(string(r.body), before)
	found, _, ok := strings.Cut(rest, after)
	if !ok {
		return ""
	}
	return found
}

// TestS3PagesOfNothing: a page of no parts is one of a thousand, and one of no uploads is refused.
func TestS3PagesOfNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	send := s.s3Sender()
	for _, name := range []string{"one", "two"} {
		id := send("POST", "/box/"+name+"?uploads", "").want(t, 200, "UploadId").between("<UploadId>", "</UploadId>")
		for _, number := range []string{"1", "2"} {
			send("PUT", "/box/"+name+"?uploadId="+id+"&partNumber="+number, "x").want(t, 200, "")
		}
		parts := send("GET", "/box/"+name+"?max-parts=0&uploadId="+id, "").want(t, 200, "<MaxParts>1000</MaxParts><IsTruncated>false</IsTruncated>")
		if n := strings.Count(string(parts.body), "<Part>"); n != 2 {
			t.Errorf("%d parts of %s", n, name)
		}
		send("GET", "/box/"+name+"?max-parts=1&uploadId="+id, "").want(t, 200, "<NextPartNumberMarker>1</NextPartNumberMarker>")
		send("GET", "/box/"+name+"?max-parts=-1&uploadId="+id, "").want(t, 400, "InvalidRequest")
	}
	send("GET", "/box?uploads&max-uploads=0", "").want(t, 400, "InvalidParameter")
	send("GET", "/box?uploads&max-uploads=0&delimiter=/", "").want(t, 400, "InvalidParameter")
	send("GET", "/box?uploads&max-uploads=1", "").want(t, 200, "<IsTruncated>true</IsTruncated>")
	send("GET", "/box?max-keys=0", "").want(t, 200, "<MaxKeys>0</MaxKeys><IsTruncated>false</IsTruncated>")
}
