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

// s3Client returns a minio-go client with these credentials. minio-go does not support a path in
// the endpoint, so a second server has the S3 handler at its root.
func (s *stack) s3Client(id, secret, session string) *minio.Core {
	s.t.Helper()
	server := httptest.NewServer(s.engine.s3.Load())
	s.t.Cleanup(server.Close)
	core, err := minio.NewCore(strings.TrimPrefix(server.URL, "http://"),
		&minio.Options{Creds: credentials.NewStaticV4(id, secret, session),
			Region: "local", BucketLookup: minio.BucketLookupPath, Transport: http.DefaultTransport})
	if err != nil {
		s.t.Fatal(err)
	}
	return core
}

// s3Docs is an S3 client with the bucket docs.
type s3Docs struct {
	*minio.Core
	stack *stack
}

func newS3Docs(t *testing.T) s3Docs {
	t.Helper()
	s := newStack(t)
	c := s3Docs{s.s3Client("access", "secret-of-the-test", ""), s}
	if err := c.MakeBucket(t.Context(), "docs", minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c s3Docs) put(t *testing.T, name, content string) {
	t.Helper()
	_, err := c.Client.PutObject(t.Context(), "docs", name, strings.NewReader(content), int64(len(content)),
		minio.PutObjectOptions{
			ContentType: "text/plain", CacheControl: "max-age=7", UserMetadata: map[string]string{"Colour": "green"}})
	if err != nil {
		t.Fatal(err)
	}
}

// list returns the names of a listing, separated by spaces.
func (c s3Docs) list(t *testing.T, o minio.ListObjectsOptions) string {
	t.Helper()
	var names []string
	for o := range c.Client.ListObjects(t.Context(), "docs", o) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		names = append(names, o.Key)
	}
	return strings.Join(names, " ")
}

func TestS3Objects(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	ctx := t.Context()
	c.put(t, "a/one.txt", "one")
	c.put(t, "a/two (2).txt", "two")
	stat, err := c.Client.StatObject(ctx, "docs", "a/two (2).txt", minio.StatObjectOptions{})
	if err != nil || stat.Size != 3 || stat.ContentType != "text/plain" || stat.UserMetadata["Colour"] != "green" {
		t.Errorf("stat: %+v, %v", stat, err)
	}
	if _, err := c.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: "docs", Object: "copy.txt"},
		minio.CopySrcOptions{Bucket: "docs", Object: "a/one.txt"}); err != nil {
		t.Fatal(err)
	}
	body, err := c.Client.GetObject(ctx, "docs", "copy.txt", minio.GetObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if data, err := io.ReadAll(body); err != nil || string(data) != "one" {
		t.Errorf("copied %q, %v", data, err)
	}
	for _, name := range []string{"a/one.txt", "a/two (2).txt", "copy.txt"} {
		if err := c.Client.RemoveObject(ctx, "docs", name, minio.RemoveObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Client.RemoveBucket(ctx, "docs"); err != nil {
		t.Fatal(err)
	}
}

func TestS3List(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	for _, name := range []string{"a/one.txt", "a/two (2).txt", "b.txt"} {
		c.put(t, name, name)
	}
	if got := c.list(t, minio.ListObjectsOptions{}); got != "b.txt a/" { // minio-go returns the folders of a page last
		t.Errorf("version 2: %q", got)
	}
	if got := c.list(t, minio.ListObjectsOptions{Recursive: true, MaxKeys: 1,
		UseV1: true}); got != "a/one.txt a/two (2).txt b.txt" {
		t.Errorf("version 1: %q", got)
	}
}

func TestS3PresignedURL(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	c.put(t, "a.txt", "a")
	c.put(t, "b.txt", "b")
	link, err := c.Client.PresignedGetObject(t.Context(), "docs", "b.txt", time.Minute,
		url.Values{"response-content-type": {"text/x-other"}})
	if err != nil {
		t.Fatal(err)
	}
	get := func(link string) reply {
		t.Helper()
		r, err := http.NewRequest("GET", link, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.stack.send(r)
	}
	if r := get(link.String()).want(t, 200, "b"); r.Header.Get("Content-Type") != "text/x-other" {
		t.Errorf("headers: %v", r.Header)
	}
	get(strings.Replace(link.String(), "b.txt", "a.txt", 1)).want(t, 403, "")
}

// TestS3PresignedMetadata uploads to a URL whose query has the metadata. The AWS SDK for JavaScript
// puts it there.
func TestS3PresignedMetadata(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	link, err := c.Client.Presign(t.Context(), "PUT", "docs", "a.txt", time.Minute,
		url.Values{"x-amz-meta-colour": {"green"}, "x-amz-copy-source": {"docs/none"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "PUT", link.String(), strings.NewReader("a"))
	if err != nil {
		t.Fatal(err)
	}
	c.stack.send(r).want(t, 200, "")
	stat, err := c.Client.StatObject(t.Context(), "docs", "a.txt", minio.StatObjectOptions{})
	if err != nil || stat.Size != 1 || stat.UserMetadata["Colour"] != "green" {
		t.Errorf("stat: %+v, %v", stat, err)
	}
}

// TestS3Multipart uploads three parts. It sends one part twice, and the last part is short.
func TestS3Multipart(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	ctx := t.Context()
	large := make([]byte, 11<<20)
	rand.Read(large)
	id, err := c.NewMultipartUpload(ctx, "docs", "large", minio.PutObjectOptions{ContentType: "application/x-large"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(number int, data []byte) minio.CompletePart {
		t.Helper()
		p, err := c.PutObjectPart(ctx, "docs", "large", id, number, bytes.NewReader(data), int64(len(data)),
			minio.PutObjectPartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return minio.CompletePart{PartNumber: number, ETag: p.ETag}
	}
	put(2, make([]byte, 100))
	parts := []minio.CompletePart{put(1, large[:5<<20]), put(2, large[5<<20:10<<20]), put(3, large[10<<20:])}
	listed, err := c.ListObjectParts(ctx, "docs", "large", id, 0, 2)
	if err != nil || len(listed.ObjectParts) != 2 || !listed.IsTruncated {
		t.Errorf("parts: %+v, %v", listed, err)
	}
	wrong := append([]minio.CompletePart{}, parts...)
	wrong[0].ETag = strings.Repeat("0", 32)
	if _, err := c.CompleteMultipartUpload(ctx, "docs", "large", id, wrong,
		minio.PutObjectOptions{}); minio.ToErrorResponse(err).Code != "InvalidPart" {
		t.Errorf("wrong ETag: %v", err)
	}
	if _, err := c.CompleteMultipartUpload(ctx, "docs", "large", id, parts, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	r := c.stack.do(c.stack.demo.ServiceRole, "GET", "/object/docs/large", nil)
	if sha256.Sum256(r.body) != sha256.Sum256(large) || r.Header.Get("Content-Type") != "application/x-large" {
		t.Errorf("%d bytes downloaded, %v", len(r.body), r.Header)
	}
}

func TestS3AbortMultipart(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	id, err := c.NewMultipartUpload(t.Context(), "docs", "abandoned", minio.PutObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.stack.s3Sender()("DELETE", "/docs/abandoned?uploadId="+id, "").want(t, 200, "") // minio-go accepts only 204
	if _, err := c.PutObjectPart(t.Context(), "docs", "abandoned", id, 1, strings.NewReader("x"), 1,
		minio.PutObjectPartOptions{}); minio.ToErrorResponse(err).Code != "NoSuchUpload" {
		t.Errorf("part of aborted upload: %v", err)
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
	if _, err := c.Client.StatObject(ctx, "box", "none",
		minio.StatObjectOptions{}); minio.ToErrorResponse(err).StatusCode != 404 {
		t.Errorf("missing object: %v", err)
	}
	for _, name := range []string{"../../x", "a/../../../x", "é"} {
		if _, err := c.PutObject(ctx, "box", name, strings.NewReader("x"), 1, "", "",
			minio.PutObjectOptions{}); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
	r := s.do("", "GET", "/s3/b/x", nil)
	if r.StatusCode != 403 || !strings.Contains(string(r.body), "<Code>AccessDenied</Code>") {
		t.Errorf("no signature: %d %s", r.StatusCode, r.body)
	}
}

// TestS3HeadersMustBeSigned adds headers to presigned URLs and to signed requests. Unsigned x-amz-
// headers must be refused.
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
			{"x-amz-copy-source": {"/hidden/secret"}}, // HTTP/1 allows any case
			{"X-Amz-Meta-Owner": {"me"}},
			{"X-Amz-Security-Token": {s.user("11111111-1111-4111-8111-111111111111")}},
		} {
			r := send("copy", colour, unsigned, presigned)
			if r.StatusCode != 403 {
				t.Errorf("presigned %v, %v: %d %s", presigned, unsigned, r.StatusCode, r.body)
			}
			s.do(s.demo.ServiceRole, "GET", "/object/box/copy", nil).want(t, 400, "not_found")
		}
		send("ours", colour, http.Header{"Content-Type": {"text/plain"}, "X-Amzn-Trace-Id": {"Root=1"}},
			presigned).want(t, 200, "")
		send("copied", http.Header{"X-Amz-Copy-Source": {"/hidden/secret"}}, nil, presigned).want(t, 200,
			"CopyObjectResult")
	}
	s.do(s.demo.ServiceRole, "GET", "/object/box/ours", nil).want(t, 200, "mine")
	s.do(s.demo.ServiceRole, "GET", "/object/box/copied", nil).want(t, 200, "secret")
}

// TestS3SessionTokenRLS checks that requests with a session token have only the rights of the
// token's user.
func TestS3SessionTokenRLS(t *testing.T) {
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
		t.Errorf("write into the folder of another user: %v", err)
	}
	if _, err := b.Client.StatObject(ctx, "box", alice+"/file",
		minio.StatObjectOptions{}); minio.ToErrorResponse(err).StatusCode != 404 {
		t.Errorf("file of another user: %v", err)
	}
	for o := range b.Client.ListObjects(ctx, "box", minio.ListObjectsOptions{Recursive: true}) {
		t.Errorf("list shows the file of another user: %v", o)
	}
	for failed := range b.Client.RemoveObjects(ctx, "box", func() <-chan minio.ObjectInfo {
		ch := make(chan minio.ObjectInfo, 1)
		ch <- minio.ObjectInfo{Key: alice + "/file"}
		close(ch)
		return ch
	}(), minio.RemoveObjectsOptions{}) {
		if minio.ToErrorResponse(failed.Err).Code == "" {
			t.Errorf("delete of another user's file: %v", failed.Err)
		}
	}
	if _, err := a.Client.StatObject(ctx, "box", alice+"/file", minio.StatObjectOptions{}); err != nil {
		t.Errorf("file was deleted: %v", err)
	}
}
