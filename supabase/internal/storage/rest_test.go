package storage

import (
	"testing"
)

func TestFirstLight(t *testing.T) {
	s := newStack(t)
	key := s.demo.ServiceRole
	s.bucket("photos", false)
	s.do(key, "POST", "/bucket", map[string]any{"name": "photos"}).want(t, 400, `{"statusCode":"409","error":"Duplicate","message":"The resource already exists","code":"BucketAlreadyExists"}`)
	s.do(key, "POST", "/object/photos/a/b.txt", "hello", "Content-Type", "text/plain", "Cache-Control", "max-age=60").want(t, 200, `"Key":"photos/a/b.txt"`)
	r := s.do(key, "GET", "/object/photos/a/b.txt", nil).want(t, 200, "hello")
	t.Log(r.Header)
	s.do("", "GET", "/object/photos/a/b.txt", nil).want(t, 400, `"Bucket not found"`)
	s.do("", "GET", "/object/public/photos/a/b.txt", nil).want(t, 400, `"404"`)
	s.do(s.demo.Anon, "GET", "/object/photos/a/b.txt", nil).want(t, 400, `"not_found"`)
	r = s.do(key, "POST", "/object/sign/photos/a/b.txt", map[string]any{"expiresIn": 60}).want(t, 200, "/object/sign/photos/a/b.txt?token=")
	s.do("", "GET", r.field("signedURL"), nil).want(t, 200, "hello")
	s.do(key, "POST", "/object/list/photos", map[string]any{"prefix": "a"}).want(t, 200, `"name":"b.txt"`)
	s.do(s.demo.Anon, "POST", "/object/photos/x.txt", "x").want(t, 400, "new row violates row-level security policy")
	s.do(key, "DELETE", "/object/photos", map[string]any{"prefixes": []string{"a/b.txt", "none"}}).want(t, 200, `"name":"a/b.txt"`)
	s.do(key, "GET", "/object/photos/a/b.txt", nil).want(t, 400, "not_found")
	s.do(key, "DELETE", "/bucket/photos", nil).want(t, 200, "Successfully deleted")
	s.do(key, "GET", "/nothing", nil).want(t, 404, "Route GET:/nothing not found")
}
