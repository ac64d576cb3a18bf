package site

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/andybalholm/brotli"
)

// TestFormsOfTheBuild checks that the compressed forms of the build are served as they are, and
// that files without them are compressed here. Embedded files are served like files of a folder on
// a disk, which have a modification time.
func TestFormsOfTheBuild(t *testing.T) {
	script, page := strings.Repeat("script() ", 500), strings.Repeat("page of __SITE_URL__ ", 500)
	filled := strings.ReplaceAll(page, "__SITE_URL__", "https://example.org")
	// Quality 0, which nothing else here uses, tells the forms of the build from others.
	br, gz := brotlied([]byte(script), 0), gzipped([]byte(script), gzip.HuffmanOnly)
	content := map[string][]byte{
		"index.html": []byte(page), "index.html.br": brotlied([]byte("stale"), 0), "404.html": []byte("no such page"),
		"assets/both-1.js": []byte(script), "assets/both-1.js.br": br, "assets/both-1.js.gz": gz,
		"assets/one-1.js": []byte(script), "assets/one-1.js.br": br,
		"assets/none-1.js":  []byte(script),
		"assets/lone-1.gz":  []byte("an archive"),
		"assets/pack-1.pdf": []byte("a document"), "assets/pack-1.pdf.gz": []byte("its archive"),
	}
	// br and gz are the bytes of the build, or "" if the server compresses
	files := []struct{ path, content, br, gz string }{
		{"/", filled, "", ""},
		{"/assets/both-1.js", script, string(br), string(gz)},
		{"/assets/one-1.js", script, string(br), ""},
		{"/assets/none-1.js", script, "", ""},
	}
	for storage, modified := range map[string]time.Time{"embedded": {}, "on a disk": time.Now()} {
		tree := fstest.MapFS{}
		for name, data := range content {
			tree[name] = &fstest.MapFile{Data: data, ModTime: modified}
		}
		s, err := New(Options{Files: tree, Values: Values{"SITE_URL": "https://example.org"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"at first", "from memory", "after the compression", "again"} {
			for _, f := range files {
				tag := checkForm(t, s, f.path, "", f.content, "")
				for encoding, form := range map[string]string{"br": f.br, "gzip": f.gz} {
					if got := checkForm(t, s, f.path, encoding, f.content, form); got != strings.TrimSuffix(tag, `"`)+
						"-"+encoding+`"` {
						t.Errorf("%s, %s: %s: tag %s in %s, %s in none", storage, when, f.path, got, encoding, tag)
					}
				}
			}
			if when == "from memory" {
				s.Compress(t.Context())
			}
		}
		for path, want := range map[string]int{
			// forms are no files of the site
			"/assets/both-1.js.br": 404, "/assets/both-1.js.gz": 404, "/assets/one-1.js.br": 404,
			"/index.html.br": 200, "/assets/lone-1.gz": 200, "/assets/pack-1.pdf.gz": 200, // but these are
		} {
			if got := get(s, "GET", path).StatusCode; got != want {
				t.Errorf("%s: %s answers %d, not %d", storage, path, got, want)
			}
		}
	}
}

// checkForm requests a file in an encoding and checks its content after decoding. The body must be
// form, unless that is "". It returns the reply's ETag.
func checkForm(t *testing.T, s *Site, path, encoding, content, form string) (tag string) {
	t.Helper()
	r := get(s, http.MethodGet, path, "Accept-Encoding", encoding)
	sent, decoded := body(t, r), ""
	var in io.Reader = strings.NewReader(sent)
	var err error
	switch encoding {
	case "br":
		in = brotli.NewReader(in)
	case "gzip":
		in, err = gzip.NewReader(in)
	}
	if err == nil {
		var data []byte
		data, err = io.ReadAll(in)
		decoded = string(data)
	}
	if err != nil || decoded != content || r.Header.Get("Content-Encoding") != encoding {
		t.Errorf("%s: %d bytes in %q as %q: %v", path, len(decoded), encoding, r.Header.Get("Content-Encoding"), err)
	}
	if form != "" && sent != form {
		t.Errorf("%s: %q is not the form of the build", path, encoding)
	}
	return r.Header.Get("ETag")
}

// TestFormsAreNotCopied checks that the compression leaves the forms of the build alone, and that
// memory has no copy of an embedded form until a request needs it.
func TestFormsAreNotCopied(t *testing.T) {
	data := bytes.Repeat([]byte("script() "), 500)
	s, err := New(Options{Files: fstest.MapFS{
		"assets/app-1.js": {Data: data}, "assets/app-1.js.br": {Data: brotlied(data, 0)},
		"assets/app-1.js.gz": {Data: gzipped(data, 1)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.assets["assets/app-1.js"]
	kept := func() []bool {
		return []bool{a.plain.kept.Load() != nil, a.br.kept.Load() != nil, a.gz.kept.Load() != nil}
	}
	if got := kept(); !slices.Equal(got, []bool{false, false, false}) {
		t.Error("after the start:", got)
	}
	s.Compress(t.Context())
	if got := kept(); !slices.Equal(got, []bool{false, false, false}) {
		t.Error("after the compression:", got)
	}
	get(s, "GET", "/assets/app-1.js", "Accept-Encoding", "br")
	if got := kept(); !slices.Equal(got, []bool{false, true, false}) {
		t.Error("after a request:", got)
	}
}

// TestForeignFormsAreFiles checks that the server serves all files of another build, whose names
// may mean anything.
func TestForeignFormsAreFiles(t *testing.T) {
	s, err := New(Options{Foreign: true, Files: fstest.MapFS{
		"index.html": {Data: []byte("home")}, "assets/app.js": {Data: []byte("script()")},
		"assets/app.js.br": {Data: []byte("other")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := get(s, "GET", "/assets/app.js.br"); r.StatusCode != 200 || body(t, r) != "other" {
		t.Error("/assets/app.js.br answers", r.StatusCode)
	}
	checkForm(t, s, "/assets/app.js", "br", "script()", "")
}
