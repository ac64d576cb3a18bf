package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// s3Client is minio-go with the given credentials. It knows no paths in an endpoint, so the protocol's handler stands
// alone at the root of a server here.
func (s *stack) s3Client(id, secret, session string) *minio.Core {
	s.t.Helper()
	server := httptest.NewServer(s.engine.s3.Load())
	s.t.Cleanup(server.Close)
	core, err := minio.NewCore(strings.TrimPrefix(server.URL, "http://"), &minio.Options{Creds: credentials.NewStaticV4(id, secret, session),
		Region: "local", BucketLookup: minio.BucketLookupPath, Transport: http.DefaultTransport})
	if err != nil {
		s.t.Fatal(err)
	}
	return core
}

func TestS3WithMinioClient(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ctx := t.Context()
	c := s.s3Client("access", "secret-of-the-test", "")
	if err := c.MakeBucket(ctx, "docs", minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) minio.UploadInfo {
		t.Helper()
		info, err := c.Client.PutObject(ctx, "docs", name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{
			ContentType: "text/plain", CacheControl: "max-age=7", UserMetadata: map[string]string{"Colour": "green"}})
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	put("a/one.txt", []byte("one"))
	put("a/two (2).txt", []byte("two"))
	put("b.txt", []byte("b"))
	stat, err := c.Client.StatObject(ctx, "docs", "a/two (2).txt", minio.StatObjectOptions{})
	if err != nil || stat.Size != 3 || stat.ContentType != "text/plain" || stat.UserMetadata["Colour"] != "green" {
		t.Errorf("stat: %+v, %v", stat, err)
	}
	var names []string
	for o := range c.Client.ListObjects(ctx, "docs", minio.ListObjectsOptions{}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		names = append(names, o.Key)
	}
	if got := strings.Join(names, " "); got != "b.txt a/" { // minio-go gives the folders of a page last
		t.Errorf("listed %q", got)
	}
	names = nil
	for o := range c.Client.ListObjects(ctx, "docs", minio.ListObjectsOptions{Recursive: true, MaxKeys: 1, UseV1: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		names = append(names, o.Key)
	}
	if got := strings.Join(names, " "); got != "a/one.txt a/two (2).txt b.txt" {
		t.Errorf("listed by version 1: %q", got)
	}
	if _, err := c.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: "docs", Object: "copy.txt"}, minio.CopySrcOptions{Bucket: "docs", Object: "a/one.txt"}); err != nil {
		t.Fatal(err)
	}
	body, err := c.Client.GetObject(ctx, "docs", "copy.txt", minio.GetObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(body); err != nil || string(data) != "one" {
		t.Errorf("copied %q, %v", data, err)
	}
	body.Close()

	link, err := c.Client.PresignedGetObject(ctx, "docs", "b.txt", time.Minute, url.Values{"response-content-type": {"text/x-other"}})
	if err != nil {
		t.Fatal(err)
	}
	get := func(link string) *http.Response {
		t.Helper()
		r, err := http.NewRequest("GET", link, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	if res := get(link.String()); res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/x-other" {
		t.Errorf("presigned: %d %v", res.StatusCode, res.Header)
	}
	if res := get(strings.Replace(link.String(), "b.txt", "a/one.txt", 1)); res.StatusCode != 403 {
		t.Errorf("presigned for another object: %d", res.StatusCode)
	}

	// Parts, of which one is sent twice and the last is short.
	large := make([]byte, 11<<20)
	rand.Read(large)
	id, err := c.NewMultipartUpload(ctx, "docs", "large", minio.PutObjectOptions{ContentType: "application/x-large"})
	if err != nil {
		t.Fatal(err)
	}
	var parts []minio.CompletePart
	for i, at := range []int{0, 5 << 20, 10 << 20} {
		piece := large[at:min(at+5<<20, len(large))]
		if i == 1 {
			if _, err := c.PutObjectPart(ctx, "docs", "large", id, 2, bytes.NewReader(make([]byte, 100)), 100, minio.PutObjectPartOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		p, err := c.PutObjectPart(ctx, "docs", "large", id, i+1, bytes.NewReader(piece), int64(len(piece)), minio.PutObjectPartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, minio.CompletePart{PartNumber: i + 1, ETag: p.ETag})
	}
	listed, err := c.ListObjectParts(ctx, "docs", "large", id, 0, 2)
	if err != nil || len(listed.ObjectParts) != 2 || !listed.IsTruncated {
		t.Errorf("parts: %+v, %v", listed, err)
	}
	wrong := append([]minio.CompletePart{}, parts...)
	wrong[0].ETag = strings.Repeat("0", 32)
	if _, err := c.CompleteMultipartUpload(ctx, "docs", "large", id, wrong, minio.PutObjectOptions{}); minio.ToErrorResponse(err).Code != "InvalidPart" {
		t.Errorf("wrong part: %v", err)
	}
	if _, err := c.CompleteMultipartUpload(ctx, "docs", "large", id, parts, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	r := s.do(s.demo.ServiceRole, "GET", "/object/docs/large", nil)
	if sha256.Sum256(r.body) != sha256.Sum256(large) || r.Header.Get("Content-Type") != "application/x-large" {
		t.Errorf("%d bytes came back, %v", len(r.body), r.Header)
	}

	abandoned, err := c.NewMultipartUpload(ctx, "docs", "abandoned", minio.PutObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AbortMultipartUpload(ctx, "docs", "abandoned", abandoned); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutObjectPart(ctx, "docs", "abandoned", abandoned, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{}); minio.ToErrorResponse(err).Code != "NoSuchUpload" {
		t.Errorf("part of an aborted upload: %v", err)
	}
	for _, name := range []string{"a/one.txt", "a/two (2).txt", "b.txt", "copy.txt", "large"} {
		if err := c.Client.RemoveObject(ctx, "docs", name, minio.RemoveObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Client.RemoveBucket(ctx, "docs"); err != nil {
		t.Fatal(err)
	}
}

func TestS3Refuses(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ctx := context.Background()
	s.bucket("box", false)
	code := func(err error) string { return minio.ToErrorResponse(err).Code }
	if _, err := s.s3Client("access", "wrong", "").ListBuckets(ctx); code(err) != "SignatureDoesNotMatch" {
		t.Errorf("wrong secret: %v", err)
	}
	if _, err := s.s3Client("other", "secret-of-the-test", "").ListBuckets(ctx); code(err) != "AccessDenied" {
		t.Errorf("wrong key: %v", err)
	}
	c := s.s3Client("access", "secret-of-the-test", "")
	if _, err := c.Client.StatObject(ctx, "box", "none", minio.StatObjectOptions{}); minio.ToErrorResponse(err).StatusCode != 404 {
		t.Errorf("missing object: %v", err)
	}
	for _, name := range []string{"../../x", "a/../../../x", "é"} {
		if _, err := c.PutObject(ctx, "box", name, strings.NewReader("x"), 1, "", "", minio.PutObjectOptions{}); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	r := s.do("", "GET", "/s3/b/x", nil)
	if r.StatusCode != 403 || !strings.Contains(string(r.body), "<Code>AccessDenied</Code>") {
		t.Errorf("no signature: %d %s", r.StatusCode, r.body)
	}
}

// TestS3HeadersMustBeSigned: the holder of a presigned URL, or who can add headers to a signed request, cannot make
// another request of it.
func TestS3HeadersMustBeSigned(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ctx := t.Context()
	s.bucket("box", false)
	s.bucket("hidden", false)
	s.do(s.demo.ServiceRole, "POST", "/object/hidden/secret", "secret").want(t, 200, "Key")
	c := s.s3Client("access", "secret-of-the-test", "")
	send := func(name string, signed, unsigned http.Header, presigned bool) reply {
		t.Helper()
		address := c.Client.EndpointURL().JoinPath("box", name)
		if presigned {
			var err error
			if address, err = c.Client.PresignHeader(ctx, "PUT", "box", name, time.Minute, nil, signed); err != nil {
				t.Fatal(err)
			}
		}
		r, err := http.NewRequestWithContext(ctx, "PUT", address.String(), strings.NewReader("mine"))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(r.Header, signed)
		if !presigned {
			r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
			r = signer.SignV4(*r, "access", "secret-of-the-test", "", "local")
		}
		maps.Copy(r.Header, unsigned)
		return s.send(r)
	}
	colour := http.Header{"X-Amz-Meta-Colour": {"green"}}
	for _, presigned := range []bool{true, false} {
		for _, unsigned := range []http.Header{
			{"X-Amz-Copy-Source": {"/hidden/secret"}},
			{"x-amz-copy-source": {"/hidden/secret"}}, // as HTTP/1 may spell it
			{"X-Amz-Meta-Owner": {"me"}},
			{"X-Amz-Security-Token": {s.user("11111111-1111-4111-8111-111111111111")}},
		} {
			r := send("copy", colour, unsigned, presigned)
			if r.StatusCode != 403 {
				t.Errorf("presigned %v, %v: %d %s", presigned, unsigned, r.StatusCode, r.body)
			}
			s.do(s.demo.ServiceRole, "GET", "/object/box/copy", nil).want(t, 400, "not_found")
		}
		send("ours", colour, http.Header{"Content-Type": {"text/plain"}, "X-Amzn-Trace-Id": {"Root=1"}}, presigned).want(t, 200, "")
		send("copied", http.Header{"X-Amz-Copy-Source": {"/hidden/secret"}}, nil, presigned).want(t, 200, "CopyObjectResult")
	}
	s.do(s.demo.ServiceRole, "GET", "/object/box/ours", nil).want(t, 200, "mine")
	s.do(s.demo.ServiceRole, "GET", "/object/box/copied", nil).want(t, 200, "secret")
}

// TestS3SessionTokenIsUnderRLS: with a session token the client is the token's user.
func TestS3SessionTokenIsUnderRLS(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	s.db.Exec(`create policy own on storage.objects for all to authenticated
		using (owner_id = auth.jwt() ->> 'sub') with check (bucket_id = 'box' and (storage.foldername(name))[1] = auth.jwt() ->> 'sub')`)
	const alice, bob = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	a := s.s3Client("stub", s.demo.Anon, s.user(alice))
	b := s.s3Client("stub", s.demo.Anon, s.user(bob))
	ctx := t.Context()
	put := func(c *minio.Core, name string) error {
		_, err := c.Client.PutObject(ctx, "box", name, strings.NewReader("mine"), 4, minio.PutObjectOptions{})
		return err
	}
	if err := put(a, alice+"/file"); err != nil {
		t.Fatal(err)
	}
	if err := put(a, bob+"/file"); minio.ToErrorResponse(err).Code != "AccessDenied" {
		t.Errorf("write into another's folder: %v", err)
	}
	if _, err := b.Client.StatObject(ctx, "box", alice+"/file", minio.StatObjectOptions{}); minio.ToErrorResponse(err).StatusCode != 404 {
		t.Errorf("another's file: %v", err)
	}
	for o := range b.Client.ListObjects(ctx, "box", minio.ListObjectsOptions{Recursive: true}) {
		t.Errorf("another's list has %v", o)
	}
	for failed := range b.Client.RemoveObjects(ctx, "box", func() <-chan minio.ObjectInfo {
		ch := make(chan minio.ObjectInfo, 1)
		ch <- minio.ObjectInfo{Key: alice + "/file"}
		close(ch)
		return ch
	}(), minio.RemoveObjectsOptions{}) {
		if minio.ToErrorResponse(failed.Err).Code == "" {
			t.Errorf("delete of another's file: %v", failed.Err)
		}
	}
	if _, err := a.Client.StatObject(ctx, "box", alice+"/file", minio.StatObjectOptions{}); err != nil {
		t.Errorf("it is gone: %v", err)
	}
}
