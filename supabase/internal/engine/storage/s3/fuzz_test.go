package s3

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestCanonicalRequest uses the GET Object example of the S3 API reference.
func TestCanonicalRequest(t *testing.T) {
	r := httptest.NewRequest("GET", "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	for name, value := range map[string]string{"Range": "bytes=0-9", "X-Amz-Date": "20130524T000000Z",
		"X-Amz-Content-Sha256": emptyHash,
		"Authorization":        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"} {
		r.Header.Set(name, value)
	}
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	s, err := readSignature(r, at)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	hosts := []string{"examplebucket.s3.amazonaws.com"}
	if !s.matches(r, secret, "/test.txt", hosts) {
		t.Errorf("signature does not match\n%s", s.canonical(r, "/test.txt", hosts[0]))
	}
	if s.matches(r, secret, "/other.txt", hosts) || s.matches(r, "other", "/test.txt", hosts) ||
		s.matches(r, secret, "/test.txt", []string{"other"}) {
		t.Error("signature of another request matches")
	}
	for _, now := range []time.Time{at.Add(16 * time.Minute), at.Add(-16 * time.Minute)} {
		if _, err := readSignature(r, now); err == nil {
			t.Errorf("accepted at %v", now)
		}
	}
}

// TestPresignedRequest uses the presigned URL example of the S3 API reference.
func TestPresignedRequest(t *testing.T) {
	const link = "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
	r := httptest.NewRequest("GET", link, nil)
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	s, err := readSignature(r, at.Add(23*time.Hour))
	if err != nil || !s.matches(r, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "/test.txt",
		[]string{"examplebucket.s3.amazonaws.com"}) {
		t.Errorf("presigned URL does not match: %v", err)
	}
	if _, err := readSignature(r, at.Add(25*time.Hour)); err == nil {
		t.Error("accepted after expiry")
	}
}

// TestCanonicalQuery checks that a name sorts before longer names that begin with it.
func TestCanonicalQuery(t *testing.T) {
	const want = "a=1&a=2&a%20b=&a-b=x%2Fy&a1="
	if got := canonicalQuery("a1&a-b=x/y&X-Amz-Signature=0&a=2&a+b&a=1"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=f0",
		"20130524T000000Z", "X-Amz-Credential=a%2F1&X-Amz-Expires=1")
	f.Fuzz(func(t *testing.T, header, date, query string) {
		r := httptest.NewRequest("GET", "/s3/b", nil)
		r.URL.RawQuery = query
		r.Header = http.Header{"Authorization": {header}, "X-Amz-Date": {date}}
		s, err := readSignature(r, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if err == nil && s.matches(r, "secret", "/s3/b", []string{"h"}) {
			t.Fatal("invalid signature matches")
		}
	})
}

// FuzzChunks checks that an accepted unsigned body has exactly the announced length.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n"), int64(5))
	f.Add([]byte("5;chunk-signature=zz\r\nhello\r\n0\r\n\r\n"), int64(5))
	f.Add([]byte("ffffffffff\r\n"), int64(1))
	f.Fuzz(func(t *testing.T, body []byte, length int64) {
		r := httptest.NewRequest("PUT", "/s3/b/k", bytes.NewReader(body))
		r.Header.Set("X-Amz-Decoded-Content-Length", strconv.FormatInt(length, 10))
		s := &signature{payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}
		decoded, n, err := s.body(r, "secret")
		if err != nil {
			return
		}
		data, err := io.ReadAll(decoded)
		if err == nil && int64(len(data)) != n {
			t.Fatalf("%d bytes of %d", len(data), n)
		}
	})
}

func FuzzXML(f *testing.F) {
	f.Add("<Delete><Object><Key>a</Key></Object></Delete>")
	f.Add(`<!DOCTYPE a [<!ENTITY x "y">]><Delete><Object><Key>&x;</Key></Object></Delete>`)
	f.Fuzz(func(t *testing.T, text string) {
		var doc deleteRequest
		if _, err := decodeXML([]byte(text), "Delete", &doc); err == nil && strings.Contains(text, "<!ENTITY") &&
			len(doc.Objects) > 0 && doc.Objects[0].Key == "y" {
			t.Fatal("entity was expanded")
		}
	})
}
