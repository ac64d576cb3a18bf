package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"daawo/functions"
	"daawo/functions/admin"
	"daawo/functions/product"
	"daawo/supabase/internal/app"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
)

var pages = fstest.MapFS{
	"index.html":    {Data: []byte(`<a href="__SITE_URL__">home</a>`)},
	"so/index.html": {Data: []byte("so")},
	"404.html":      {Data: []byte("missing")},

	"learn/pain-management/index.html": {Data: []byte("__TEXT:guide-review/pain-management/en/2026-11-22|None.__")},
}

// dataFolder returns the name of a folder that does not exist yet. The user of Postgres can reach
// it.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "acceptance-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

// newApp prepares the program on free ports, with these variables.
func newApp(t *testing.T, data string, environment map[string]string, changes ...func(*app.Options)) *app.App {
	t.Helper()
	getenv := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	file, err := fs.ReadFile(project, "config.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{File: file, Name: "config.toml", Getenv: getenv,
		Overrides: []func(*config.Config){func(c *config.Config) {
			c.API.Port, c.DB.Port, c.Inbox.Port, c.Inbox.SMTPPort, c.Studio.Port = 0, 0, 0, 0, 0
		}}})
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{
		Config: c, Data: data, Project: project, Site: pages,
		CleanBuckets: []app.CleanBucket{{ID: "report-photos", HideNames: true, RefuseCopies: true}}, Functions: functions.All,
		PageTexts: product.Options().Pages.Texts,
		Operators: product.Options().Administration.Operators, RowLink: admin.RowLink, AdminLink: admin.DeskLink,
		Getenv: getenv, Version: "test",
		Postgres: func() (fs.FS, error) { return server.FindPackage(".") },
		Log:      slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, change := range changes {
		change(&o)
	}
	return app.New(o)
}

// start starts the program and closes it at the end of the test.
func start(t *testing.T, a *app.App) app.Info {
	t.Helper()
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return a.Info()
}

// call makes a request and returns status and body. headers are names and values in turn.
func call(t *testing.T, method, url string, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// otherServer starts a Postgres outside of the program, for DATABASE_URL. Its data are not synced
// to disk.
func otherServer(t *testing.T) *server.Server {
	t.Helper()
	return startServer(t, server.Options{Volatile: true})
}

func startServer(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	o.Source, o.Data = source, filepath.Join(dataFolder(t), "pg")
	pg, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context())) })
	if err := pg.SetPasswords(t.Context(), map[string]string{server.Superuser: "a long password"}); err != nil {
		t.Fatal(err)
	}
	return pg
}

func listenLocal(t *testing.T) (l net.Listener, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return l, port
}

// onePixel is a PNG of one transparent pixel.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xfa\xcf\x00\x00\x00\x02\x00\x01\xe5'\xde\xfc\x00\x00\x00\x00IEND\xaeB`\x82"

// TestReportAndDownload sends a report with a photo, expects the mail to the administrator,
// downloads a resource, and checks the data and the page of a guide after a restart.
func TestReportAndDownload(t *testing.T) {
	data := dataFolder(t)
	a := newApp(t, data, nil)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	info := a.Info()
	api, anon, service := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY"), info.Get("SECRET_KEY")

	if status, body := call(t, "GET", api+"/", ""); status != 200 || !strings.Contains(body, api) {
		t.Errorf("site: %d %s", status, body)
	}
	if status, body := call(t, "GET", api+"/storage/v1/bucket", ""); status != 400 ||
		!strings.Contains(body, "Invalid Compact JWS") {
		t.Errorf("storage without a key: %d %s", status, body)
	}
	reference := reportWithPhoto(t, info)
	for _, key := range []string{anon, service} {
		status, body := call(t, "GET", api+"/rest/v1/reports?select=reference", "", "apikey", key)
		if seen := strings.Contains(body, reference); seen != (key == service) {
			t.Errorf("the report is visible: %v (%d)", seen, status)
		}
	}
	id, count := download(t, info)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	info = start(t, newApp(t, data, nil))
	api = info.Get("API_URL")
	_, body := call(t, "GET", api+"/rest/v1/reports?select=reference", "", "apikey", service)
	if strings.Count(body, reference) != 1 {
		t.Errorf("after a restart: %s", body)
	}
	if _, body := call(t, "GET", api+"/rest/v1/resources?select=download_count&id=eq."+id, "", "apikey",
		anon); body != fmt.Sprintf(`[{"download_count":%d}]`, count+1) {
		t.Errorf("the count: %s", body)
	}
	t.Run("PageShowsReview", func(t *testing.T) {
		status, body := call(t, "PATCH", api+"/rest/v1/guides?slug=eq.pain-management",
			`{"reviewed_by":"Hodan","reviewed_role":"Pharmacist","reviewed_on":"2026-11-27","review_due":"2027-11-27"}`,
			"apikey", service, "Content-Type", "application/json")
		if status != http.StatusNoContent {
			t.Fatal(status, body)
		}
		const want = "Reviewed by Hodan, Pharmacist, on 27 November 2026. Next review: 27 November 2027."
		waitFor(t, "the review on the page", func() bool {
			_, page := call(t, "GET", api+"/learn/pain-management/", "")
			return page == want
		})
	})
}

// reportWithPhoto sends a report and waits until the mail with its reference and the command that
// shows it has arrived.
func reportWithPhoto(t *testing.T, info app.Info) (reference string) {
	t.Helper()
	api, anon := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY")
	photo := fmt.Sprintf("%d.png", time.Now().UnixMilli())
	status, body := call(t, "POST", api+"/storage/v1/object/report-photos/"+photo, onePixel, "apikey", anon,
		"Content-Type", "image/png")
	if status != 200 {
		t.Fatalf("photo: %d %s", status, body)
	}
	report := fmt.Sprintf(`{"product_name":"Cream","issue_description":"It burns","photo_url":%q,"location":"Banaadir","phone":null}`, photo)
	status, body = call(t, "POST", api+"/functions/v1/submit-report", report, "apikey", anon, "Content-Type",
		"application/json")
	var reply receipt
	if err := json.Unmarshal([]byte(body), &reply); err != nil || status != 200 || reply.Reference == "" {
		t.Fatalf("report: %d %s", status, body)
	}
	waitFor(t, "the mail to the administrator", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, reply.Reference)
	})
	return reply.Reference
}

// download downloads a resource, counts it, and returns its id and the count before.
func download(t *testing.T, info app.Info) (id string, count int) {
	t.Helper()
	api, anon := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY")
	status, body := call(t, "GET", api+"/rest/v1/resources?select=id,file_url,download_count&file_url=neq.%23&limit=1",
		"", "apikey", anon)
	var resources []struct {
		ID      string
		FileURL string `json:"file_url"`
		Count   int    `json:"download_count"`
	}
	if err := json.Unmarshal([]byte(body), &resources); err != nil || len(resources) != 1 {
		t.Fatalf("resources: %d %s", status, body)
	}
	r := resources[0]
	if status, body := call(t, "POST", api+"/functions/v1/track-download", `{"resourceId":"`+r.ID+`"}`, "apikey", anon,
		"Content-Type", "application/json"); status != 200 {
		t.Errorf("track-download: %d %s", status, body)
	}
	if status, body := call(t, "GET", api+r.FileURL, ""); status != 200 || !strings.HasPrefix(body, "%PDF") {
		t.Errorf("download of %s: %d", r.FileURL, status)
	}
	return r.ID, r.Count
}
