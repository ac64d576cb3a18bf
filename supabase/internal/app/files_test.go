package app

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/config"
)

// TestImgproxyAndSweep checks that IMGPROXY_URL resizes pictures, and that a job in the database
// deletes files that a crash left without a row.
func TestImgproxyAndSweep(t *testing.T) {
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.Path)
		w.Header().Set("Content-Type", "image/avif")
		_, _ = io.WriteString(w, "resized")
	}))
	defer proxy.Close()
	data := dataFolder(t)
	a := newApp(t, data, map[string]string{"IMGPROXY_URL": proxy.URL})
	a.Config.Storage.ImageTransformation.Enabled = true
	info := start(t, a)
	api, secret := info.Get("API_URL")+"/storage/v1", info.Get("SECRET_KEY")
	if status, body := call(t, "POST", api+"/bucket", `{"name":"pictures","public":true}`, "apikey", secret,
		"Content-Type", "application/json"); status != 200 {
		t.Fatalf("bucket: %d %s", status, body)
	}
	if status, body := call(t, "POST", api+"/object/pictures/p.png", onePixel, "apikey", secret, "Content-Type",
		"image/png"); status != 200 {
		t.Fatalf("upload: %d %s", status, body)
	}
	status, body := call(t, "GET", api+"/render/image/public/pictures/p.png?width=10&height=20", "")
	path, _ := asked.Load().(string)
	if status != 200 || body != "resized" ||
		!strings.Contains(path, "/height:20/width:10/resizing_type:fill/plain/local:///"+data) {
		t.Errorf("%d %s, asked %s", status, body, path)
	}

	orphan := filepath.Join(data, "storage", tenant, tenant, "pictures", "gone", "11111111-1111-4111-8111-111111111111")
	if err := os.MkdirAll(filepath.Dir(orphan), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(orphan, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(orphan, past, past); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), info.Get("DB_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `
		insert into river.river_job (kind, args, queue, max_attempts, state)
		values ('chore', '{"name":"sweep_storage","due":"2026-01-01T00:17:00Z"}', 'chore', 3, 'available')`)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the sweep", func() bool {
		_, err := os.Stat(filepath.Dir(orphan))
		return os.IsNotExist(err)
	})
	if status, _ := call(t, "GET", api+"/object/public/pictures/p.png", ""); status != 200 {
		t.Errorf("the sweep deleted a file with a row: %d", status)
	}
}

// TestBucketSeedAgain checks that a start after one whose seed of a bucket failed uses the
// corrected rules of config.toml, and that a folder of objects that does not exist is named.
func TestBucketSeedAgain(t *testing.T) {
	data := dataFolder(t)
	app := func(bucket config.Bucket) *App {
		a := newApp(t, data, nil)
		files := maps.Clone(project)
		files["pictures/p.txt"] = &fstest.MapFile{Data: []byte("a picture in words")}
		a.Project = files
		a.Config.Storage.Buckets = map[string]config.Bucket{"seeded": bucket}
		return a
	}
	for path, want := range map[string]string{"./pictures": "mime type text/plain; charset=utf-8 is not supported",
		"./missing": "missing"} {
		a := app(config.Bucket{Public: true, AllowedMimeTypes: []string{"image/png"}, ObjectsPath: path})
		if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "seed of bucket seeded") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	info := start(t, app(config.Bucket{Public: true, AllowedMimeTypes: []string{"text/*"}, ObjectsPath: "./pictures"}))
	status, body := call(t, "GET", info.Get("API_URL")+"/storage/v1/object/public/seeded/p.txt", "")
	if status != http.StatusOK || body != "a picture in words" {
		t.Errorf("%d %s", status, body)
	}
}
