package site

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// TestTexts checks that pages show the texts of their keys or the defaults, that a change appears
// within textsAge with new tags, and that the last texts stay while the function fails.
func TestTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var texts map[string]string
		var failure error
		var asked [][]string
		s, err := New(Options{
			Files: fstest.MapFS{
				"a/index.html": {Data: []byte(`<p>__TEXT:review/a|<b>None</b> yet.__</p><a href="__SITE_URL__">x</a>`)},
				"b/index.html": {Data: []byte(`<p>no text</p>`)},
				"sw.js":        {Data: []byte("const v = `__TEXTS_VERSION__`")},
			},
			Values:         Values{"SITE_URL": "https://example.org"},
			PublishableKey: func() string { return "" },
			Texts: func(_ context.Context, keys []string) (map[string]string, error) {
				asked = append(asked, keys)
				return texts, failure
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		tags := map[string]bool{}
		shows := func(path, want string) {
			t.Helper()
			r := get(s, http.MethodGet, path)
			if got := body(t, r); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
			tags[r.Header.Get("ETag")] = true
		}
		const none = `<p><b>None</b> yet.</p><a href="https://example.org">x</a>`
		shows("/a/", none)
		shows("/sw.js", "const v = ``")
		shows("/b/", "<p>no text</p>")
		texts = map[string]string{"review/a": "Reviewed by <A> & __SITE_URL__"}
		shows("/a/", none) // the texts are not old yet
		if len(asked) != 1 || !slices.Equal(asked[0], []string{"review/a"}) {
			t.Error("asked for", asked)
		}
		const reviewed = `<p>Reviewed by &lt;A&gt; &amp; __SITE_URL__</p><a href="https://example.org">x</a>`
		time.Sleep(textsAge)
		shows("/a/", reviewed)
		if worker := body(t, get(s, http.MethodGet, "/sw.js")); !strings.HasPrefix(worker, "const v = `") || len(worker) != 20 {
			t.Error(worker)
		}
		if policy := get(s, http.MethodGet, "/a/").Header.Get("Content-Security-Policy"); policy == "" {
			t.Error("no policy")
		}
		failure = errors.New("away")
		time.Sleep(textsAge)
		shows("/a/", reviewed)
		failure, texts = nil, nil
		time.Sleep(textsAge)
		shows("/a/", none)
		if len(tags) != 4 { // of a without and with a text, of sw.js and b
			t.Error(len(tags), "tags")
		}
	})
}

// TestTextsWithoutWaiting checks that only one request waits for the texts, that it does not wait
// long, and that late texts are shown to later requests.
func TestTextsWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{
			Files:          fstest.MapFS{"index.html": {Data: []byte(`__TEXT:k|none__`)}},
			PublishableKey: func() string { return "" },
			Texts: func(context.Context, []string) (map[string]string, error) {
				time.Sleep(2 * textsWait)
				return map[string]string{"k": "late"}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			get(s, http.MethodGet, "/")
		}()
		synctest.Wait()
		if got := body(t, get(s, http.MethodGet, "/")); got != "none" || time.Since(began) > 0 {
			t.Error(got, time.Since(began))
		}
		<-done
		if waited := time.Since(began); waited != textsWait {
			t.Error("waited", waited)
		}
		time.Sleep(2 * textsWait)
		if got := body(t, get(s, http.MethodGet, "/")); got != "late" {
			t.Error(got)
		}
	})
}
