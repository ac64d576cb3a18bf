package storage

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// completeDocument returns the XML that completes a multipart upload of one part.
func completeDocument(number, etag string) string {
	return "<CompleteMultipartUpload><Part><PartNumber>" + number + "</PartNumber>" + etag +
		"</Part></CompleteMultipartUpload>"
}

// TestS3Documents compares the replies to malformed and unusual S3 requests with storage-api's.
func TestS3Documents(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	server := httptest.NewServer(s.engine.s3.Load())
	t.Cleanup(server.Close)
	send := func(method, path, kind, body string) reply {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		return s.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
	}
	begin := func() string {
		return "/b/a?uploadId=" +
			send("POST", "/b/a?uploads", "", "").want(t, 200, "").between("<UploadId>", "</UploadId>")
	}
	withPart := func() string {
		path := begin()
		send("PUT", path+"&partNumber=1", "", "x").want(t, 200, "")
		return path
	}
	const xml, json = "application/xml", "application/json"
	const empty, notJSON = "Body cannot be empty when content-type is set to &#39;application/json&#39;",
		"Body is not valid JSON but content-type"
	for _, tt := range []struct {
		method, path, kind, body string
		status                   int
		text                     string
	}{
		{"POST", "/b/k", "", "x", 404, ""},
		{"POST", "/b", xml, "<a/>", 404, ""},
		{"POST", "/b?delete", xml, "<Delete><Object>", 400, "<Code>MalformedXML</Code><Message>Invalid XML payload: "},
		{"POST", "/b?delete", xml, "", 400, "<Code>InvalidRequest</Code><Message>Body must be object"},
		{"POST", "/b?delete", xml, "<Delete></Delete>", 400, "Body, Delete must be object"},
		{"POST", "/b?delete", xml, "<Other/>", 400, "Body must have required property &#39;Delete&#39;"},
		{"POST", "/b?delete", json, "{bad", 400, notJSON},
		{"POST", "/b?delete", json, "", 400, empty},
		{"POST", "/b?delete", json, `{"Delete":{"Object":[{"Key":"zz"}]}}`, 200, "<Deleted><Key>zz</Key></Deleted>"},
		{"POST", "/b?delete", "bad", "x", 415, "<Code>InvalidRequest</Code><Message>Unsupported Media Type"},
		{"POST", "/b/a?uploads", json, "", 200, "UploadId"},
		{"POST", "/b/a?uploads", json, "{bad", 400, notJSON},
		{"PUT", begin() + "&partNumber=0", "", "x", 400,
			"<Code>InvalidRequest</Code><Message>Querystring, partNumber must be &gt;= 1"},
		{"PUT", begin() + "&partNumber=-1", "", "x", 400, "Querystring, partNumber must be &gt;= 1"},
		{"PUT", begin() + "&partNumber=10001", "", "x", 400, "Querystring, partNumber must be &lt;= 10000"},
		{"PUT", begin() + "&partNumber=1.5", "", "x", 400, "Querystring, partNumber must be integer"},
		{"PUT", begin() + "&partNumber=", "", "x", 400, "Querystring, partNumber must be integer"},
		{"POST", withPart(), json, "", 400, empty},
		{"POST", withPart(), json, "{bad", 400, notJSON},
		{"POST", withPart(), json, "{}", 200, "CompleteMultipartUploadResult"},
		{"POST", withPart(), xml, "", 200, "CompleteMultipartUploadResult"},
		{"POST", withPart(), "", "", 200, "CompleteMultipartUploadResult"},
		{"POST", withPart(), xml, "<Complete", 400, "MalformedXML"},
		{"POST", withPart(), xml, completeDocument("x", "<ETag>e</ETag>"), 400,
			"Body, CompleteMultipartUpload, Part, 0, PartNumber must be integer"},
		{"POST", withPart(), xml, completeDocument("0", "<ETag>e</ETag>"), 400, "Part, 0, PartNumber must be &gt;= 1"},
		{"POST", withPart(), xml, completeDocument("10001", "<ETag>e</ETag>"), 400,
			"Part, 0, PartNumber must be &lt;= 10000"},
		{"POST", withPart(), xml, completeDocument("1", ""), 400, "Part, 0 must have required property &#39;ETag&#39;"},
		{"POST", withPart(), json,
			`{"CompleteMultipartUpload":{"Part":[{"PartNumber":1,"ETag":"9dd4e461268c8034f5c8564e155c67a6"}]}}`, 200,
			"Result"},
		{"DELETE", begin(), "", "", 200, ""},
		{"DELETE", "/b/a?uploadId=other", "", "", 404, "NoSuchUpload"},
		{"GET", "/b?marker=h%20x&encoding-type=url", "", "", 200, "<Marker>h%20x</Marker>"},
	} {
		r := send(tt.method, tt.path, tt.kind, tt.body)
		if r.StatusCode != tt.status || !strings.Contains(string(r.body), tt.text) || tt.text == "" && len(r.body) > 0 {
			t.Errorf("%s %s %s %s: %d %s", tt.method, tt.path, tt.kind, tt.body, r.StatusCode, r.body)
		}
	}
}

// TestS3Sandbox checks that documents that could run scripts are sent in a sandbox, whatever the
// type is overridden with.
func TestS3Sandbox(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	c.stack.do(c.stack.demo.ServiceRole, "POST", "/object/docs/a.html", "<script>", "Content-Type", "text/html").want(t,
		200, "")
	c.put(t, "a.txt", "<script>")
	send := c.stack.s3Sender()
	for path, want := range map[string]bool{"/docs/a.html": true, "/docs/a.txt": false,
		"/docs/a.txt?response-content-type=image%2Fsvg%2Bxml": true} {
		r := send("GET", path, "").want(t, 200, "<script>")
		if got := strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox"); got != want ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}
