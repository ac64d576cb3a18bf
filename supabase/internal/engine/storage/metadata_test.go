package storage

import "testing"

// TestInvalidMetadata writes invalid JSON values into the column metadata. Downloads must still
// match the bytes.
func TestInvalidMetadata(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	s.do(s.demo.ServiceRole, "POST", "/object/b/file", "hello", "Content-Type", "text/plain").want(t, 200, "Key")
	for _, metadata := range []string{
		`{"size": -5, "eTag": "\"x\"", "mimetype": "text/plain"}`,
		`{"size": "5", "eTag": "\"x\"", "mimetype": "text/plain"}`,
		`{"size": 1e99, "eTag": "\"x\"", "mimetype": "text/plain"}`, `{"size": {}, "eTag": 5, "mimetype": []}`,
		`{}`, `[]`, `"text"`, `null`, `{"lastModified": "yesterday", "cacheControl": "a\nb", "httpStatusCode": "x"}`,
	} {
		s.db.Exec(`update storage.objects set metadata = $1::jsonb`, metadata)
		r := s.do("", "GET", "/object/public/b/file", nil).want(t, 200, "hello")
		if r.ContentLength != 5 || r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d, %v", metadata, r.ContentLength, r.Header)
		}
		s.do("", "GET", "/object/public/b/file", nil, "Range", "bytes=1-2").want(t, 206, "el")
		s.do(s.demo.ServiceRole, "GET", "/object/info/b/file", nil).want(t, 200, `"name":"file"`)
		s.do(s.demo.ServiceRole, "POST", "/object/list/b", map[string]any{"prefix": ""}).want(t, 200, "file")
	}
}
