package storage

import (
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/storage/backend/backendtest"
)

// chunked is a body of unknown length.
func chunked(s string) io.Reader { return struct{ io.Reader }{strings.NewReader(s)} }

// TestTUSTooLong sends more bytes than Upload-Length in a chunked body. The upload must stay
// unfinished, and the client can still complete it.
func TestTUSTooLong(t *testing.T) {
	t.Parallel()
	disk := newStack(t)
	onS3 := newStack(t, func(o *Options) { o.Backend = backendtest.S3(t) })
	for name, s := range map[string]*stack{"disk": disk, "S3": onS3} {
		s.bucket("b", false)
		key := s.demo.ServiceRole
		at := func(offset string) []string { return []string{"Upload-Offset", offset} }
		path := s.tusPath(s.tusCreate(key, "b", "a.txt", 5, ""))
		for _, body := range []string{"123456", "123456789", strings.Repeat("x", 1<<20)} {
			s.tus(key, "PATCH", path, chunked(body), at("0")...).want(t, 413, "Maximum size exceeded\n")
			if offset := s.tus(key, "HEAD", path, nil).Header.Get("Upload-Offset"); offset != "0" {
				t.Fatalf("%s: offset %s after a refused body", name, offset)
			}
		}
		s.do(key, "GET", "/object/b/a.txt", nil).want(t, 400, "NoSuchKey")
		s.tus(key, "PATCH", path, chunked("12"), at("0")...).want(t, 204, "")
		s.tus(key, "PATCH", path, chunked("3456"), at("2")...).want(t, 413, "")
		s.tus(key, "PATCH", path, chunked("345"), append(at("2"), "Upload-Length", "6")...).want(t, 400,
			"Upload-Length or")
		s.tus(key, "PATCH", path, chunked("345"), append(at("2"), "Upload-Length", "5")...).want(t, 204, "")
		s.do(key, "GET", "/object/b/a.txt", nil).want(t, 200, "12345")

		metadata := tusMetadata("bucketName", "b", "objectName", "with.txt")
		s.tus(key, "POST", "/upload/resumable", chunked("123"), "Upload-Length", "2", "Upload-Metadata", metadata,
			"Content-Type", "application/offset+octet-stream").want(t, 413, "Maximum size exceeded\n")
		deferred := s.tusPath(s.tus(key, "POST", "/upload/resumable", nil, "Upload-Defer-Length", "1",
			"Upload-Metadata", metadata))
		s.tus(key, "PATCH", deferred, chunked("1234"), append(at("0"), "Upload-Length", "3")...).want(t, 413, "")
		s.tus(key, "PATCH", deferred, chunked("123"), at("0")...).want(t, 204, "")
		s.do(key, "GET", "/object/b/with.txt", nil).want(t, 200, "123")
	}
}

// TestTUSConcatenation checks that parallel uploads are refused with a status after which clients
// do not try again.
func TestTUSConcatenation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.tusCreate(s.demo.ServiceRole, "b", "a", 5, "", "Upload-Concat", "partial").want(t, 400,
		"Concatenation extension is not (yet) supported.")
	s.tusCreate(s.demo.ServiceRole, "b", "a", 5, "", "Upload-Concat", "final;/a /b").want(t, 400,
		"Concatenation extension")
	s.tusCreate(s.demo.ServiceRole, "b", "a", 5, "", "Upload-Concat", "other").want(t, 400, "Invalid upload-concat\n")
}

// TestTUSHeaders compares the headers of each reply with those that storage-api sends.
func TestTUSHeaders(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	const cors = "Access-Control-Allow-Origin Access-Control-Expose-Headers "
	check := func(name string, r reply, want string) {
		t.Helper()
		var have []string
		for header := range r.Header {
			if header != "Date" && header != "Content-Length" {
				have = append(have, header)
			}
		}
		slices.Sort(have)
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if kind := r.Header.Get("Content-Type"); kind != "" && kind != "text/plain;charset=UTF-8" {
			t.Errorf("%s: %s", name, kind)
		}
		if origin := r.Header.Get("Access-Control-Allow-Origin"); origin != "" && origin != "*" {
			t.Errorf("%s: origin %s", name, origin)
		}
	}
	created := s.tusCreate(key, "b", "a", 4, "", "Origin", "https://example.org")
	check("create", created, cors+"Content-Type Location Tus-Resumable")
	path := s.tusPath(created)
	check("head", s.tus(key, "HEAD", path, nil), cors+
		"Cache-Control Content-Type Tus-Resumable Upload-Length Upload-Metadata Upload-Offset")
	check("part", s.tus(key, "PATCH", path, "12", "Upload-Offset", "0"), cors+"Tus-Resumable Upload-Offset")
	check("conflict", s.tus(key, "PATCH", path, "12", "Upload-Offset", "0"), cors+"Content-Type Tus-Resumable")
	check("last part", s.tus(key, "PATCH", path, "34", "Upload-Offset", "2"), cors+
		"Tus-Complete Tus-Resumable Upload-Offset")
	check("delete", s.tus(key, "DELETE", s.tusPath(s.tusCreate(key, "b", "d", 4, "")), nil), cors+"Tus-Resumable")
	check("no version", s.do(key, "POST", "/upload/resumable", nil, "Origin", "https://example.org"),
		"Content-Type Tus-Resumable")
	check("bad header", s.tus(key, "POST", "/upload/resumable", nil, "Upload-Length", "x"),
		"Content-Type Tus-Resumable")
	for _, method := range []string{"PUT", "PATCH", "HEAD", "DELETE"} {
		if r := s.tus(key, method, "/upload/resumable", nil); r.StatusCode != 404 ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s without an id: %d %s", method, r.StatusCode, r.body)
		}
	}
}

// TestTUSAnnouncesExpiry checks that an upload on S3 announces its end as an HTTP date.
func TestTUSAnnouncesExpiry(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(o *Options) { o.Backend = backendtest.S3(t) })
	s.bucket("b", false)
	r := s.tusCreate(s.demo.ServiceRole, "b", "a", 4, "")
	path := s.tusPath(r)
	for _, r := range []reply{r, s.tus(s.demo.ServiceRole, "PATCH", path, "12", "Upload-Offset", "0")} {
		at, err := time.Parse(http.TimeFormat, r.Header.Get("Upload-Expires"))
		if left := time.Until(at); err != nil || left < 58*time.Minute || left > time.Hour {
			t.Errorf("%s: %v", r.Header.Get("Upload-Expires"), err)
		}
	}
}

// TestTUSHeadOfStranger asks for an upload without its URL, whose version is random. The reply must
// not tell whether the upload or the object exists.
func TestTUSHeadOfStranger(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.tusCreate(s.demo.ServiceRole, "b", "upload", 10, "").want(t, 201, "")
	s.do(s.demo.ServiceRole, "POST", "/object/b/object", "x").want(t, 200, "Key")
	version := testdb.Value[string](s.db, `select version from storage.objects where name = 'object'`)
	const other = "11111111-1111-4111-8111-111111111111"
	for _, id := range []string{"b/upload/" + other, "b/object/" + other, "b/object/" + version, "b/missing/" + other,
		"missing/upload/" + other} {
		path := "/upload/resumable/" + base64.RawURLEncoding.EncodeToString([]byte(id))
		if r := s.tus(s.demo.Anon, "HEAD", path, nil); r.StatusCode != 404 || r.Header.Get("Upload-Length") != "" ||
			r.Header.Get("Upload-Offset") != "" || r.Header.Get("Upload-Metadata") != "" {
			t.Errorf("%s: %d %v", id, r.StatusCode, r.Header)
		}
	}
}
