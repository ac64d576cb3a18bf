package storage

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// s3Send returns a function that sends signed requests of the S3 protocol.
func s3Send(t *testing.T, s *stack) func(method, path, body string, header ...string) reply {
	t.Helper()
	server := httptest.NewServer(s.engine.s3.Load())
	t.Cleanup(server.Close)
	return func(method, path, body string, header ...string) reply {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return s.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
	}
}

// TestS3ConditionalChanges checks the conditions of a copy, a deletion and a completed multipart
// upload.
func TestS3ConditionalChanges(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	send := s3Send(t, s)
	send("PUT", "/box/one", "one").want(t, 200, "")
	send("PUT", "/box/two", "two").want(t, 200, "")
	two := fmt.Sprintf(`"%x"`, md5.Sum([]byte("two")))
	send("PUT", "/box/two", "", "X-Amz-Copy-Source", "box/one", "If-None-Match", "*").want(t, 412, "PreconditionFailed")
	send("PUT", "/box/two", "", "X-Amz-Copy-Source", "box/one", "If-Match", `"0"`).want(t, 412, "PreconditionFailed")
	send("DELETE", "/box/two", "", "If-Match", `"0"`).want(t, 412, "PreconditionFailed")
	send("DELETE", "/box/none", "", "If-Match", `"0"`).want(t, 412, "PreconditionFailed")
	send("POST", "/box?delete=", "<Delete><Object><Key>two</Key><ETag>0</ETag></Object></Delete>").want(t, 501, "NotImplemented")
	if got := s.do(s.demo.ServiceRole, "GET", "/object/box/two", nil); string(got.body) != "two" {
		t.Errorf("the object has %q", got.body)
	}
	send("DELETE", "/box/two", "", "If-Match", two).want(t, 204, "")
	send("PUT", "/box/two", "", "X-Amz-Copy-Source", "box/one", "If-None-Match", "*").want(t, 200, "")

	id := regexp.MustCompile(`<UploadId>(.+)</UploadId>`).FindSubmatch(send("POST", "/box/one?uploads=", "").body)
	if id == nil {
		t.Fatal("no upload")
	}
	part := send("PUT", "/box/one?partNumber=1&uploadId="+string(id[1]), "part")
	part.want(t, 200, "")
	complete := func(etag string, header ...string) reply {
		t.Helper()
		return send("POST", "/box/one?uploadId="+string(id[1]), "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"+
			etag+"</ETag></Part></CompleteMultipartUpload>", header...)
	}
	right := part.Header.Get("Etag")
	complete("0").want(t, 400, "InvalidPart")
	complete(right, "If-None-Match", "*").want(t, 412, "PreconditionFailed")
	complete("0").want(t, 400, "InvalidPart") // also after the parts were joined
	complete(right).want(t, 200, "")
}

// TestS3UnverifiedChecksums checks that a checksum is refused that cannot be verified.
func TestS3UnverifiedChecksums(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	send := s3Send(t, s)
	send("PUT", "/box/a", "a", "X-Amz-Checksum-Other", "AAAA").want(t, 400, "InvalidRequest")
	send("PUT", "/box/a", "a", "X-Amz-Checksum-Algorithm", "CRC32").want(t, 200, "")
	trailing := func(declared string) reply {
		t.Helper()
		header := []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length", "1"}
		if declared != "" {
			header = append(header, "X-Amz-Trailer", declared)
		}
		return send("PUT", "/box/b", "1\r\na\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", header...)
	}
	trailing("").want(t, 400, "MalformedTrailerError")
	trailing("x-amz-checksum-other").want(t, 400, "InvalidRequest")
	s.do(s.demo.ServiceRole, "GET", "/object/box/b", nil).want(t, 400, "not_found")
}
