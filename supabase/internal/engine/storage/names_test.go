package storage

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileNames are object names, encoded for a URL path, that must be refused or stored inside the
// bucket's folder.
var hostileNames = map[string]string{
	"parent":                   "../x",
	"deep parent":              "a/../../../../../../etc/cron.d/x",
	"encoded parent":           "%2e%2e%2f%2e%2e%2fx",
	"encoded slash":            "..%2f..%2fx",
	"double encoded":           "%252e%252e%252fx",
	"dot":                      "a/./b",
	"absolute":                 "/etc/passwd",
	"absolute encoded":         "%2Fetc%2Fpasswd",
	"backslash":                "..%5c..%5cx",
	"NUL":                      "a%00b",
	"newline":                  "a%0Ab",
	"long":                     strings.Repeat("a/", 600) + "x",
	"long segment":             strings.Repeat("a", 300),
	"Unicode":                  url.PathEscape("é"),
	"decomposed":               url.PathEscape("e\u0301"),
	"full-width dots":          url.PathEscape("\uff0e\uff0e/x"),
	"right to left":            url.PathEscape("\u202egnp.exe"),
	"trailing dots":            "x...",
	"trailing space":           "x%20",
	"empty":                    "",
	"only slashes":             "///",
	"description of an upload": "a/11111111-1111-4111-8111-111111111111.json",
	"windows device":           "CON",
	"drive":                    "C:/x",
}

// TestHostileNames uses hostile names in every operation. No file may be created outside the
// bucket's folder.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	outside := t.TempDir()
	key := s.demo.ServiceRole
	for name, path := range hostileNames {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"POST", "PUT"} {
				r := s.do(key, method, "/object/b/"+path, "hostile")
				if r.StatusCode == 200 {
					continue // accepted as a valid name; the files are checked below
				}
				if r.StatusCode != 400 && r.StatusCode != 404 {
					t.Errorf("%s: %d %s", method, r.StatusCode, r.body)
				}
			}
			for _, method := range []string{"GET", "DELETE", "HEAD"} {
				if r := s.do(key, method, "/object/b/"+path, nil); r.StatusCode >= 500 {
					t.Errorf("%s: %d %s", method, r.StatusCode, r.body)
				}
			}
			decoded, err := url.PathUnescape(path)
			if err != nil {
				decoded = path
			}
			for _, body := range []map[string]any{
				{"bucketId": "b", "sourceKey": "source", "destinationKey": decoded},
				{"bucketId": "b", "sourceKey": decoded, "destinationKey": "target"},
				{"bucketId": "../b", "sourceKey": "source", "destinationKey": "x"},
			} {
				s.do(key, "POST", "/object/source", "x")
				for _, action := range []string{"copy", "move"} {
					if r := s.do(key, "POST", "/object/"+action, body); r.StatusCode >= 500 {
						t.Errorf("%s %v: %d %s", action, body, r.StatusCode, r.body)
					}
				}
			}
		})
	}
	for _, file := range filesIn(t, s.dir) {
		rel, err := filepath.Rel(filepath.Join(s.dir, "stub", "stub", "b"), file)
		if err != nil || !filepath.IsLocal(rel) {
			t.Errorf("file outside the bucket: %s", file)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("outside: %v", entries)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(s.dir), "x")); err == nil {
		t.Error("file beside the root folder")
	}
}

// TestSymbolicLinks checks that symbolic links in a bucket's folder are not followed.
func TestSymbolicLinks(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("do not tell"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do(key, "POST", "/object/b/file", "plain").want(t, 200, "Key")
	var version string
	for _, file := range filesIn(t, s.dir) {
		version = file
	}
	for _, target := range []string{secret, "../../../../../../.." + secret} {
		if err := os.Remove(version); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, version); err != nil {
			t.Fatal(err)
		}
		r := s.do(key, "GET", "/object/b/file", nil)
		if r.StatusCode == 200 || strings.Contains(string(r.body), "do not tell") {
			t.Errorf("link to %s: %d %s", target, r.StatusCode, r.body)
		}
	}
	// The link is a folder of the object's name.
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(s.dir, "stub", "stub", "b", "out")); err != nil {
		t.Fatal(err)
	}
	if r := s.do(key, "POST", "/object/b/out/file", "x"); r.StatusCode == 200 {
		t.Error("upload followed a link")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("outside: %v", entries)
	}
}

func TestBucketNames(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for name, ok := range map[string]bool{"plain": true, "with space": true, " lead": false, "trail ": false,
		"a/b": false, "é": false, strings.Repeat("x", 100): true, strings.Repeat("x", 101): false, "": false,
		"tables--table-s3": false, "a\x00": false} {
		r := s.do(s.demo.ServiceRole, "POST", "/bucket", map[string]any{"name": name})
		if (r.StatusCode == 200) != ok {
			t.Errorf("%q: %d %s", name, r.StatusCode, r.body)
		}
		var body struct{ StatusCode, Error, Message, Code string }
		if !ok && (json.Unmarshal(r.body, &body) != nil || body.StatusCode != "400") {
			t.Errorf("%q: %s", name, r.body)
		}
	}
	// Names with a meaning in file systems.
	for _, name := range []string{"..", "."} {
		s.do(s.demo.ServiceRole, "POST", "/bucket", map[string]any{"name": name})
		if r := s.do(s.demo.ServiceRole, "POST", "/object/"+url.PathEscape(name)+"/x", "x"); r.StatusCode == 200 {
			t.Errorf("upload into %q succeeded", name)
		}
	}
}
