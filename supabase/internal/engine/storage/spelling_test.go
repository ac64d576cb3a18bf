package storage

import (
	"encoding/base64"
	"os"
	"testing"
	"time"
)

// TestProtocolSpellings checks that a path with an encoded slash selects no protocol, because the
// gateway decides by the path as the client sent it.
func TestProtocolSpellings(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	metadata := "bucketName " + base64.StdEncoding.EncodeToString([]byte("b")) + ",objectName " +
		base64.StdEncoding.EncodeToString([]byte("a"))
	s.tus(s.demo.ServiceRole, "POST", "/upload%2Fresumable", "x", "Upload-Length", "1", "Upload-Metadata", metadata).
		want(t, 404, "")
	s.do(s.demo.ServiceRole, "PUT", "/s3%2Fb/a", "x").want(t, 404, "")
	if files := filesIn(t, s.dir); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}

// TestNameSpellings checks that names that differ only in their slashes are different objects, in
// every protocol, and that the sweeper keeps their bytes.
func TestNameSpellings(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	key, s3 := s.demo.ServiceRole, s.s3Sender()
	names := []string{"a/b.html", "a//b.html", "a///b.html", "/a/b.html"}
	for i, name := range names {
		content := string(rune('1' + i))
		switch i % 3 {
		case 0:
			s.do(key, "POST", "/object/b/"+name, content).want(t, 200, `"Key":"b/`+name+`"`)
		case 1:
			s3("PUT", "/b/"+name, content).want(t, 200, "")
		case 2:
			path := s.tusPath(s.tusCreate(key, "b", name, 1, ""))
			s.tus(key, "PATCH", path, content, "Upload-Offset", "0").want(t, 204, "")
		}
	}
	for _, file := range filesIn(t, s.dir) {
		old := time.Now().Add(-72 * time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.engine.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		content := string(rune('1' + i))
		for _, r := range []reply{s.do("", "GET", "/object/public/b/"+name, nil), s3("GET", "/b/"+name, "")} {
			if r.StatusCode != 200 || string(r.body) != content {
				t.Errorf("%s: %d %s, want %s", name, r.StatusCode, r.body, content)
			}
		}
	}
	s.do("", "GET", "/object/public/b/a%2Fb.html", nil).want(t, 200, "1")
	s.do(key, "DELETE", "/object/b/a//b.html", nil).want(t, 200, "")
	s.do("", "GET", "/object/public/b/a/b.html", nil).want(t, 200, "1")
}
