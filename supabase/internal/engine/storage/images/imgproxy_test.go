package images

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/engine/storage/backend"
)

// TestImgproxyRequests checks the URL of requests to imgproxy, the retries and the error messages
// for clients.
func TestImgproxyRequests(t *testing.T) {
	dir := t.TempDir()
	disk, err := backend.OpenDisk(backend.DiskConfig{Path: dir, Bucket: "stub", Tenant: "tenant"})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var requested atomic.Value
	var busy atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested.Store(r.URL.EscapedPath() + " " + r.Header.Get("Accept"))
		switch {
		case busy.Add(-1) >= 0:
			http.Error(w, "Timeout", http.StatusServiceUnavailable)
		case strings.Contains(r.URL.Path, "broken"):
			http.Error(w, "Broken or unsupported image", http.StatusUnprocessableEntity)
		case strings.Contains(r.URL.Path, "forbidden"):
			http.Error(w, "Forbidden: /secret/path", http.StatusForbidden)
		default:
			w.Header().Set("Content-Type", "image/avif")
			io.WriteString(w, "picture")
		}
	}))
	defer proxy.Close()
	r := New(Config{Backend: disk, ImgproxyURL: proxy.URL + "/"})
	defer r.Close()
	render := func(name string, tr Transform) (*Picture, error) {
		return r.Render(context.Background(), Source{Key: backend.Key{Bucket: "b", Name: name, Version: "v1"}}, tr,
			"image/avif")
	}
	busy.Store(2)
	p, err := render("p.png", Transform{Width: 20, Height: 10, Quality: 70})
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(p.Body)
	p.Body.Close()
	if string(body) != "picture" || p.ContentType != "image/avif" || p.Size != 7 {
		t.Errorf("%q %+v", body, p)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := "/public/height:10/width:20/resizing_type:fill/quality:70/plain/local:///" + abs +
		"/stub/tenant/b/p.png/v1 image/avif"
	if got := requested.Load(); got != want {
		t.Errorf("requested %q\nwant      %q", got, want)
	}
	if _, err := render("broken.png", Transform{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("broken: %v", err)
	}
	var proxyErr *ProxyError
	if _, err := render("forbidden.png", Transform{}); !errors.As(err, &proxyErr) ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("forbidden: %v", err)
	}
}

// TestTimeoutCoversHeadersOnly checks that the timeout covers the headers of imgproxy's reply, but
// not its body.
func TestTimeoutCoversHeadersOnly(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		time.Sleep(timeout * 3 / 2)
		io.WriteString(w, " rest")
	}))
	defer proxy.Close()
	r := &Renderer{client: newClient(timeout)}
	defer r.Close()
	res, err := r.get(t.Context(), proxy.URL+"/picture", "")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); string(body) != "first rest" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
	if res, err := r.get(t.Context(), proxy.URL+"/late", ""); err == nil {
		res.Body.Close()
		t.Error("no timeout without reply headers")
	}
}

func TestSegments(t *testing.T) {
	half, two := 0.5, 2.0
	for _, tt := range []struct {
		t        Transform
		original bool
		want     string
	}{
		{Transform{}, false, ""},
		{Transform{Width: 9000}, false, "width:2000,resizing_type:fill"},
		{Transform{Width: 5, Resize: "contain"}, false, "width:5,resizing_type:fit"},
		{Transform{Width: 5, Resize: "fill"}, true, "width:5,resize:fill"},
		{Transform{Height: 5, Format: "origin"}, false, "height:5,resizing_type:fill"},
		{Transform{Format: "webp", Gravity: "sm"}, false, "format:webp,gravity:sm"},
		{Transform{Gravity: "fp", X: &half, Y: &half}, false, "gravity:fp:0.5:0.5"},
		{Transform{Gravity: "no", X: &two}, false, "gravity:no:2:0"},
	} {
		got, err := tt.t.Segments(tt.original)
		if err != nil || strings.Join(got, ",") != tt.want {
			t.Errorf("%+v: %v, %v", tt.t, got, err)
		}
		if tt.original {
			again, err := Parse(strings.Join(got, ",")).Segments(true)
			if err != nil || strings.Join(again, ",") != tt.want {
				t.Errorf("%+v parsed again: %v", tt.t, again)
			}
		}
	}
	if _, err := (Transform{Gravity: "fp", X: &two, Y: &half}).Segments(false); !errors.Is(err, ErrFocalPoint) {
		t.Errorf("focal point outside the picture: %v", err)
	}
}
