package storage

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// s3Sender returns a function that signs and sends requests that client libraries do not send.
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
		return s.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
	}
}

// between returns the text between two strings of the reply.
func (r reply) between(before, after string) string {
	_, rest, _ := strings.Cut(string(r.body), before)
	found, _, ok := strings.Cut(rest, after)
	if !ok {
		return ""
	}
	return found
}

// TestS3PageSizeZero checks that max-parts=0 means 1000 and that max-uploads=0 is refused.
func TestS3PageSizeZero(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	send := s.s3Sender()
	for _, name := range []string{"one", "two"} {
		id := send("POST", "/box/"+name+"?uploads", "").want(t, 200, "UploadId").between("<UploadId>", "</UploadId>")
		for _, number := range []string{"1", "2"} {
			send("PUT", "/box/"+name+"?uploadId="+id+"&partNumber="+number, "x").want(t, 200, "")
		}
		parts := send("GET", "/box/"+name+"?max-parts=0&uploadId="+id, "").want(t, 200,
			"<MaxParts>1000</MaxParts><IsTruncated>false</IsTruncated>")
		if n := strings.Count(string(parts.body), "<Part>"); n != 2 {
			t.Errorf("%d parts of %s", n, name)
		}
		send("GET", "/box/"+name+"?max-parts=1&uploadId="+id, "").want(t, 200,
			"<NextPartNumberMarker>1</NextPartNumberMarker>")
		send("GET", "/box/"+name+"?max-parts=-1&uploadId="+id, "").want(t, 400, "InvalidRequest")
	}
	send("GET", "/box?uploads&max-uploads=0", "").want(t, 400, "InvalidParameter")
	send("GET", "/box?uploads&max-uploads=0&delimiter=/", "").want(t, 400, "InvalidParameter")
	send("GET", "/box?uploads&max-uploads=1", "").want(t, 200, "<IsTruncated>true</IsTruncated>")
	send("GET", "/box?max-keys=0", "").want(t, 200, "<MaxKeys>0</MaxKeys><IsTruncated>false</IsTruncated>")
}

// TestS3ListMarkers follows the markers of both listing versions. Every entry must appear once, and
// the listing must end.
func TestS3ListMarkers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	for _, name := range []string{"a", "a!", "a/1", "a/2", "b", "c-1", "c/1", "d/1", "d/e/1", "d/e/2"} {
		s.do(s.demo.ServiceRole, "POST", "/object/box/"+name, "x").want(t, 200, "Key")
	}
	send := s.s3Sender()
	for _, tt := range []struct{ query, next, want string }{
		{"delimiter=/&marker=", "NextMarker", "a a! a/ b c-1 c/ d/"},
		{"delimiter=/&list-type=2&continuation-token=", "NextContinuationToken", "a a! a/ b c-1 c/ d/"},
		{"delimiter=-&marker=", "NextMarker", "a a! a/1 a/2 b c- c/1 d/1 d/e/1 d/e/2"},
		{"delimiter=/&prefix=d/&marker=", "NextMarker", "d/1 d/e/"},
		{"delimiter=/&encoding-type=url&marker=", "NextMarker", "a a! a/ b c-1 c/ d/"},
	} {
		for _, size := range []string{"1", "2", "3", "1000"} {
			var seen []string
			next := ""
			for page := 0; page < 20; page++ {
				r := send("GET", "/box?max-keys="+size+"&"+tt.query+next, "").want(t, 200, "ListBucketResult")
				entries := string(r.body)
				for _, tag := range []string{"<Key>", "<CommonPrefixes><Prefix>"} {
					for _, part := range strings.Split(entries, tag)[1:] {
						name, _, _ := strings.Cut(part, "<")
						if strings.Contains(tt.query, "encoding-type") {
							name, _ = url.QueryUnescape(name)
						}
						seen = append(seen, name)
					}
				}
				if next = r.between("<"+tt.next+">", "<"); next == "" {
					break
				}
				if !strings.Contains(tt.query, "encoding-type") {
					next = url.QueryEscape(next)
				}
			}
			slices.Sort(seen)
			if got := strings.Join(seen, " "); got != tt.want {
				t.Errorf("%s by %s: %s", tt.query, size, got)
			}
		}
	}
}

// TestS3Subresources checks that a request for an unsupported subresource never changes the object
// or the bucket itself.
func TestS3Subresources(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	s.bucket("empty", false)
	s.do(s.demo.ServiceRole, "POST", "/object/box/file", "mine").want(t, 200, "Key")
	send := s.s3Sender()
	for _, name := range []string{"acl", "tagging", "legal-hold", "retention", "encryption", "renameObject",
		"attributes", "torrent", "restore", "select&select-type=2"} {
		for _, method := range []string{"PUT", "POST", "DELETE", "GET"} {
			if method == "GET" && name == "tagging" {
				send(method, "/box/file?tagging", "").want(t, 200, "<Tagging")
				continue
			}
			send(method, "/box/file?"+name, "<AccessControlPolicy/>").want(t, 501, "NotImplemented")
		}
		send("PUT", "/box/fresh?"+name, "").want(t, 501, "NotImplemented")
	}
	s.do(s.demo.ServiceRole, "GET", "/object/box/file", nil).want(t, 200, "mine")
	s.do(s.demo.ServiceRole, "GET", "/object/box/fresh", nil).want(t, 400, "not_found")
	for _, name := range []string{"acl", "tagging", "policy", "lifecycle", "cors", "versioning", "encryption",
		"website", "publicAccessBlock", "metadataTable"} {
		for _, method := range []string{"PUT", "POST", "DELETE"} {
			send(method, "/empty?"+name, "").want(t, 501, "NotImplemented")
		}
		send("PUT", "/fresh?"+name, "").want(t, 501, "NotImplemented")
	}
	send("HEAD", "/empty", "").want(t, 200, "")
	send("HEAD", "/fresh", "").want(t, 404, "")
	send("GET", "/empty?versioning", "").want(t, 200, "VersioningConfiguration")
	send("GET", "/empty?location", "").want(t, 200, "LocationConstraint")
	send("PUT", "/box/other?x-id=PutObject", "other").want(t, 200, "") // clients add the name of the operation
	send("DELETE", "/box/other?x-id=DeleteObject", "").want(t, 204, "")
	send("PUT", "/box/acl", "a name, not a subresource").want(t, 200, "")
}

// TestS3ConditionalWrites checks If-None-Match and If-Match of a write: of ten writers that create
// one object, one succeeds, and a writer with an old ETag changes nothing.
func TestS3ConditionalWrites(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	server := httptest.NewServer(s.engine.s3.Load())
	t.Cleanup(server.Close)
	put := func(body, name, value string) reply {
		r, err := http.NewRequestWithContext(t.Context(), "PUT", server.URL+"/box/one", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		r.Header.Set(name, value)
		return s.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
	}
	put("x", "If-Match", "*").want(t, 412, "PreconditionFailed")
	var writers sync.WaitGroup
	statuses := make(chan int, 10)
	for range 10 {
		writers.Go(func() { statuses <- put("first", "If-None-Match", "*").StatusCode })
	}
	writers.Wait()
	seen := map[int]int{}
	for range 10 {
		seen[<-statuses]++
	}
	if seen[200] != 1 || seen[412] != 9 {
		t.Errorf("ten writers: %v", seen)
	}
	put("x", "If-None-Match", `"etag"`).want(t, 501, "NotImplemented")
	first := fmt.Sprintf(`"%x"`, md5.Sum([]byte("first")))
	put("second", "If-Match", first).want(t, 200, "")
	put("third", "If-Match", first).want(t, 412, "PreconditionFailed")
	if got := s.do(s.demo.ServiceRole, "GET", "/object/box/one", nil); string(got.body) != "second" {
		t.Errorf("the object has %q", got.body)
	}
}

// TestS3Checksums checks that a body that does not match its Content-MD5 or checksum is not stored,
// with the checksum in a header and after the last chunk.
func TestS3Checksums(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	server := httptest.NewServer(s.engine.s3.Load())
	t.Cleanup(server.Close)
	put := func(name, payload, body string, header map[string]string) reply {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "PUT", server.URL+"/box/"+name, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", payload)
		for k, v := range header {
			r.Header.Set(k, v)
		}
		return s.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
	}
	const plain = "UNSIGNED-PAYLOAD"
	// Sums of 123456789: the check values of each CRC, and RFC 1321, RFC 3174 and FIPS 180-4.
	right := map[string]string{
		"Content-MD5": "JfnnlDI7RTiF9RgfG2JNCw==", "X-Amz-Checksum-Crc32": "y/Q5Jg==", "X-Amz-Checksum-Crc32c": "4waSgw==",
		"X-Amz-Checksum-Crc64nvme": "rosUhgp5mIg=", "X-Amz-Checksum-Sha1": "98O8HYCOBHMq32eZZczDTKeuNEE=",
		"X-Amz-Checksum-Sha256": "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
	}
	for name, sum := range right {
		wrong := "AAAA" + sum[4:]
		put("wrong", plain, "123456789", map[string]string{name: wrong}).want(t, 400, "BadDigest")
		put("short", plain, "123456789", map[string]string{name: "AAAA"}).want(t, 400, "InvalidDigest")
	}
	s.do(s.demo.ServiceRole, "GET", "/object/box/wrong", nil).want(t, 400, "not_found")
	for name, sum := range right {
		put("right", plain, "123456789", map[string]string{name: sum}).want(t, 200, "")
	}
	trailer := func(sum string) reply {
		return put("trailed", "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
			"9\r\n123456789\r\n0\r\nx-amz-checksum-crc32:"+sum+"\r\n\r\n",
			map[string]string{"X-Amz-Trailer": "x-amz-checksum-crc32", "X-Amz-Decoded-Content-Length": "9"})
	}
	trailer("AAAAAA==").want(t, 400, "BadDigest")
	trailer("y/Q5Jg==").want(t, 200, "")
}
