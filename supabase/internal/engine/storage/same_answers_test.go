package storage

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
)

// TestSameAnswers checks replies that were compared with the real storage-api's.
func TestSameAnswers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	key := s.demo.ServiceRole
	form := func(parts ...string) string { return strings.Join(parts, "") + "--B--\r\n" }
	file := func(size int) string {
		return "--B\r\nContent-Disposition: form-data; name=\"\"; filename=\"a\"\r\n\r\n" + strings.Repeat("x", size) +
			"\r\n"
	}
	const age = "--B\r\nContent-Disposition: form-data; name=\"cacheControl\"\r\n\r\n60\r\n"

	// A field after a small file counts, one after a large file does not.
	for size, want := range map[int]string{5: "max-age=60", 1 << 20: "no-cache"} {
		s.do(key, "POST", "/object/b/form", form(file(size), age), "Content-Type", "multipart/form-data; boundary=B",
			"X-Upsert", "true").want(t, 200, "")
		if got := s.do("", "GET", "/object/public/b/form", nil); got.Header.Get("Cache-Control") != want ||
			len(got.body) != size {
			t.Errorf("%d bytes: %q, %d", size, got.Header.Get("Cache-Control"), len(got.body))
		}
	}

	// A form that ends within its file is refused, and the type of the file has no parameters.
	const sent, kind = "--B\r\nContent-Disposition: form-data; name=\"\"; filename=\"a\"\r\n", "multipart/form-data; boundary=B"
	for _, size := range []int{5, 1 << 20} {
		s.do(key, "POST", "/object/b/cut", file(size), "Content-Type", kind).want(t, 400, "end of multipart data")
	}
	s.do(key, "PUT", "/bucket/b", map[string]any{"public": true, "allowed_mime_types": []string{"text/plain"}}).want(t,
		200, "")
	s.do(key, "POST", "/object/b/typed", form(sent+"Content-Type: Text/Plain; charset=utf-8\r\n\r\nx\r\n"),
		"Content-Type", kind).want(t, 200, "")
	if got := s.do("", "GET", "/object/public/b/typed", nil).Header.Get("Content-Type"); got != "text/plain" {
		t.Errorf("the file of a form has the type %q", got)
	}
	s.do(key, "PUT", "/bucket/b", map[string]any{"public": true, "allowed_mime_types": nil}).want(t, 200, "")

	// A signed URL is not valid before its nbf.
	now := time.Now().Unix()
	for begin, status := range map[int64]int{now - 10: 200, now + 1000: 400} {
		token, err := keys.Secret("", s.demo.JWTSecret).Sign(fmt.Appendf(nil,
			`{"url":"b/form","scope":"download","nbf":%d,"exp":%d}`, begin, now+2000))
		if err != nil {
			t.Fatal(err)
		}
		s.do("", "GET", "/object/sign/b/form?token="+token, nil).want(t, status, "")
	}

	// HEAD of a resumable upload needs a token.
	path := s.tusPath(s.tusCreate(key, "b", "tus", 5, ""))
	s.tus("", "HEAD", path, nil).want(t, 400, "")
	s.tus(key, "HEAD", path, nil).want(t, 200, "")

	s.do(key, "POST", "/object/sign/b%2Fc", `{"expiresIn":60,"paths":["x"]}`).want(t, 400, "InvalidBucketName")
	s.do("", "POST", "/status", nil).want(t, 404, "")
	s.do("", "HEAD", "/status", nil).want(t, 200, "") // as wget --spider of a health check asks

	for _, bucket := range []string{"b", "none"} {
		s.do("", "GET", "/object/public/"+bucket+"/a%00b", nil).want(t, 400, "InvalidKey")
	}

	// An empty name is a name: of no bucket, and of no upload.
	s.do(key, "DELETE", "/bucket/", nil).want(t, 400, "NoSuchBucket")
	s.tus(key, "HEAD", "/upload/resumable/", nil).want(t, 404, "")
	s.tus(key, "PATCH", "/upload/resumable/x", "x", "Upload-Offset", "0").want(t, 400, "Invalid upload id")
	s.tus(key, "PATCH", "/upload/resumable/", "x", "Upload-Offset", "0").want(t, 404, "The file for this url was not found")
	if got := s.do(key, "PATCH", "/bucket/b", nil).Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("an unknown route has %q", got)
	}
}

// TestConcurrentDeletes deletes one object eight times at once: the others get 404.
func TestConcurrentDeletes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	for round := range 5 {
		s.do(s.demo.ServiceRole, "POST", "/object/b/a", "x").want(t, 200, "")
		var replies [8]reply
		var all sync.WaitGroup
		for i := range replies {
			all.Go(func() { replies[i] = s.do(s.demo.ServiceRole, "DELETE", "/object/b/a", nil) })
		}
		all.Wait()
		deleted := 0
		for _, r := range replies {
			switch {
			case r.StatusCode == 200:
				deleted++
			case !strings.Contains(string(r.body), `"statusCode":"404"`):
				t.Errorf("round %d: %s", round, r.body)
			}
		}
		if deleted != 1 {
			t.Errorf("round %d: deleted %d times", round, deleted)
		}
	}
}
