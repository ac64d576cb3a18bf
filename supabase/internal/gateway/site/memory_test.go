package site

import (
	"io"
	"testing"
	"testing/fstest"
	"time"
)

// TestPlainFormsAreReleased checks that after the compression only files that can be neither read
// again nor compressed keep their uncompressed form, and that all are still served.
func TestPlainFormsAreReleased(t *testing.T) {
	content := map[string]string{"index.html": "home of __SITE_URL__", "assets/app-1.js": "script()",
		"picture.png": "picture", "text.txt": "on disk", "disk.png": "picture on disk"}
	tree := fstest.MapFS{}
	for name, text := range content {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree["text.txt"].ModTime, tree["disk.png"].ModTime = time.Now(), time.Now()
	s, err := New(Options{Files: tree, Values: Values{"SITE_URL": "https://example.org"},
		PublishableKey: func() string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	content["index.html"] = "home of https://example.org"
	tags := map[string]string{}
	for name := range content {
		tags[name] = s.assets[name].etag
	}
	s.Compress(t.Context())
	for name, kept := range map[string]bool{"index.html": false, "assets/app-1.js": false, "picture.png": false,
		"text.txt": false, "disk.png": true} {
		if got := s.assets[name].plain.kept.Load() != nil; got != kept {
			t.Errorf("%s: keeps its uncompressed form: %v", name, got)
		}
		path := "/" + name
		if name == "index.html" {
			path = "/"
		}
		for range 2 {
			res := get(s, "GET", path)
			body, err := io.ReadAll(res.Body)
			if err != nil || string(body) != content[name] || res.Header.Get("ETag") != `"`+tags[name]+`"` {
				t.Errorf("%s: %q, %s, %v", name, body, res.Header.Get("ETag"), err)
			}
		}
	}
}
