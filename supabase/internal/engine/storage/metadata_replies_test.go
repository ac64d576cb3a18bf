package storage

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// TestInfoFromMetadata checks the headers of HEAD and info for rows whose metadata another program
// has written.
func TestInfoFromMetadata(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	s.do(s.demo.ServiceRole, "POST", "/object/b/a", "hello", "Content-Type", "text/plain").want(t, 200, "")
	const date = "Thu, 02 Jan 2020 03:04:05 GMT"
	for _, tt := range []struct{ metadata, length, modified, cache string }{
		{`{"size":7,"contentLength":9,"cacheControl":"max-age=3","lastModified":"2020-01-02T03:04:05Z"}`, "9", date,
			"max-age=3"},
		{`{"contentLength":"12","lastModified":1577934245000}`, "12", date, ""},
		{`{"size":5,"lastModified":"` + date + `"}`, "", date, ""},
		{`{"size":5,"mimetype":"text/plain","eTag":"\"x\"","lastModified":"2020-01-02"}`, "",
			"Thu, 02 Jan 2020 00:00:00 GMT", ""},
		{`{"lastModified":"yesterday","contentLength":1.5}`, "", "", ""},
		{`null`, "", "", ""},
	} {
		s.db.ExecAs("supabase_admin", `update storage.objects set metadata = $1 where name = 'a'`, tt.metadata)
		head := s.do("", "HEAD", "/object/public/b/a", nil).want(t, 200, "")
		if head.Header.Get("Content-Length") != tt.length || head.Header.Get("Last-Modified") != tt.modified ||
			head.Header.Get("Cache-Control") != tt.cache {
			t.Errorf("HEAD with %s: %v", tt.metadata, head.Header)
		}
		info := s.do("", "GET", "/object/info/public/b/a", nil).want(t, 200, `"name":"a"`)
		if info.Header.Get("Last-Modified") != tt.modified || info.Header.Get("Cache-Control") != tt.cache {
			t.Errorf("info with %s: %v", tt.metadata, info.Header)
		}
		tag := s.do("", "HEAD", "/object/public/b/a", nil, "If-None-Match", "other").Header.Get("Cache-Control")
		if want := strings.TrimPrefix(tt.cache+", must-revalidate", ", "); tag != want {
			t.Errorf("HEAD with another tag: %q, want %q", tag, want)
		}
	}
}

// TestInfoTransformations checks that replies with metadata only validate the options of a
// transformation and name it.
func TestInfoTransformations(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	s.do(s.demo.ServiceRole, "POST", "/object/b/a", "hello").want(t, 200, "")
	for _, route := range []string{"GET /object/info/b/a", "GET /object/info/public/b/a", "HEAD /object/public/b/a",
		"HEAD /object/b/a"} {
		method, path, _ := strings.Cut(route, " ")
		for query, message := range map[string]string{"width=x": "querystring/width must be integer",
			"quality=5":  "querystring/quality must be >= 20",
			"gravity=fp": "querystring must have required property 'x_offset'",
			"resize=x":   "querystring/resize must be equal to one of the allowed values"} {
			if method == http.MethodHead {
				message = ""
			}
			s.do("", method, path+"?"+query, nil).want(t, 400, message)
		}
		got := s.do("", method, path+"?width=100&height=50", nil).want(t, 200, "").Header.Get("X-Transformations")
		if got != "height:50,width:100,resizing_type:fill" {
			t.Errorf("%s: %s", route, got)
		}
	}
	s.do("", "GET", "/object/public/b/a?width=x", nil).want(t, 200, "hello")
}

// TestUserMetadataLists checks that custom metadata that is a list or a string is refused in every
// kind of upload.
func TestUserMetadataLists(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/object/b/source", "x").want(t, 200, "")
	copied := map[string]any{"bucketId": "b", "sourceKey": "source", "destinationKey": "copy", "copyMetadata": false}
	for metadata, refused := range map[string]bool{`[1]`: true, `["a"]`: true, `"x"`: true, `1`: false, `null`: false,
		`{bad`: false, `{"a":[1]}`: false} {
		header := []string{"X-Metadata", base64.StdEncoding.EncodeToString([]byte(metadata)), "X-Upsert", "true"}
		const boundary = "--B\r\nContent-Disposition: form-data; name=\""
		form := boundary + "metadata\"\r\n\r\n" + metadata + "\r\n" + boundary +
			"\"; filename=\"x\"\r\n\r\nhi\r\n--B--\r\n"
		for name, r := range map[string]reply{
			"raw": s.do(key, "POST", "/object/b/raw", "x", header...),
			"form": s.do(key, "POST", "/object/b/form", form, "Content-Type", "multipart/form-data; boundary=B",
				"X-Upsert", "true"),
			"sign": s.do(key, "POST", "/object/upload/sign/b/signed", map[string]any{}, header...),
			"copy": s.do(key, "POST", "/object/copy", copied, header...),
			"TUS":  s.tusCreate(key, "b", "tus", 1, tusMetadata("metadata", metadata)),
		} {
			message := ""
			if refused {
				message = "invalid input syntax for type json"
			}
			if ok := r.StatusCode < 300; ok == refused || !strings.Contains(string(r.body), message) {
				t.Errorf("%s with %s: %d %s", name, metadata, r.StatusCode, r.body)
			}
		}
	}
}

// TestRenderSVG checks that an SVG is sent as it is, without its scripts and in a sandbox, unless
// another format is asked for.
func TestRenderSVG(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	const picture = `<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)" width="9">` +
		`<script>alert(2)</script><a href="javascript:alert(3)"><g id="x"/></a><foreignObject><p>alert(4)</p></foreignObject></svg>`
	const safe = `<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="9"><a><g id="x"/></a></svg>`
	s.do(s.demo.ServiceRole, "POST", "/object/b/a.svg", picture, "Content-Type", "image/svg+xml").want(t, 200, "")
	signed := s.do(s.demo.ServiceRole, "POST", "/object/sign/b/a.svg",
		map[string]any{"expiresIn": 60, "transform": map[string]any{"width": 10}}).field("signedURL")
	for _, path := range []string{signed, "/render/image/public/b/a.svg?width=10",
		"/render/image/public/b/a.svg?width=10&format=origin"} {
		r := s.do("", "GET", path, nil)
		if r.StatusCode != 200 || string(r.body) != safe || r.Header.Get("Content-Type") != "image/svg+xml" ||
			!strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %d %v %s", path, r.StatusCode, r.Header, r.body)
		}
	}
	s.do("", "GET", "/render/image/public/b/a.svg?format=webp", nil).want(t, 400, "unsupported")
	s.do(s.demo.ServiceRole, "PUT", "/object/b/a.svg", "<html><svg/></html>", "Content-Type", "image/svg+xml").want(t,
		200, "")
	s.do("", "GET", "/render/image/public/b/a.svg?width=10", nil).want(t, 400, "unsupported")
}
