package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/doctor"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
)

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

// TestStack uses all services of one stack through the gateway, and checks that the data exist
// after a restart, which removes the folder of a killed process.
func TestStack(t *testing.T) {
	data := dataFolder(t)
	a := newApp(t, data, nil)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	info := a.Info()
	api, anon, secret := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY"), info.Get("SECRET_KEY")

	if status, body := call(t, "GET", api+"/", ""); status != 200 ||
		!strings.Contains(body, `"mailto:user@example.org">`+api) {
		t.Errorf("site: %d %s", status, body)
	}
	if status, body := call(t, "POST", api+"/storage/v1/object/avatars/a.png", onePixel, "apikey", secret,
		"Content-Type", "image/png"); status != 200 {
		t.Fatalf("upload: %d %s", status, body)
	}
	if status, body := call(t, "GET", api+"/storage/v1/bucket", ""); status != 400 ||
		!strings.Contains(body, "Invalid Compact JWS") {
		t.Errorf("storage without a key: %d %s", status, body)
	}
	checkMeta(t, api, anon, secret, info.Get("SERVICE_ROLE_KEY"))
	if status, body := call(t, "POST", api+"/functions/v1/add-note", `{"text":"third"}`, "apikey", anon, "Content-Type",
		"application/json"); status != 200 {
		t.Fatalf("function: %d %s", status, body)
	}
	waitFor(t, "the mail to the administrator", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, "See notes third")
	})
	checkLongBody(t, info, "add-note")
	if status, body := call(t, "POST", api+"/rest/v1/notes", `{"text":"x"}`, "apikey", anon, "Content-Type",
		"application/json"); status != 401 {
		t.Errorf("anon adds a note: %d %s", status, body)
	}
	if status, body := call(t, "DELETE", api+"/rest/v1/notes", "", "apikey",
		info.Get("SERVICE_ROLE_KEY")); status != 400 || !strings.Contains(body, `"21000"`) {
		t.Errorf("deleting all notes without a filter: %d %s", status, body)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := os.MkdirTemp("", "daawo-tmp-parent-") // as of a process that was killed
	if err != nil {
		t.Fatal(err)
	}

	info = start(t, newApp(t, data, nil))
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a killed process is still there: %v", err)
	}
	api = info.Get("API_URL")
	_, body := call(t, "GET", api+"/rest/v1/notes?select=text&order=id", "", "apikey", anon)
	var notes []struct{ Text string }
	// the seed runs once
	if err := json.Unmarshal([]byte(body), &notes); err != nil || fmt.Sprint(notes) != "[{first} {second} {third}]" {
		t.Errorf("notes after a restart: %s", body)
	}
	if status, body := call(t, "GET", api+"/storage/v1/object/public/avatars/a.png", ""); status != 200 ||
		body != onePixel {
		t.Errorf("file after a restart: %d", status)
	}
}

// waitFor waits up to a minute until ok returns true.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Errorf("%s did not happen within a minute", what)
}

// onePixel is a PNG of one transparent pixel.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xfa\xcf\x00\x00\x00\x02\x00\x01\xe5'\xde\xfc\x00\x00\x00\x00IEND\xaeB`\x82"

// TestOperation checks status, a second server on the same data folder, key rotation and stop.
// Another stack runs at the same time, and the backup folders of both are missing.
func TestOperation(t *testing.T) {
	data, unmounted := dataFolder(t), t.TempDir()
	a := newApp(t, data, map[string]string{"SB_REGION": "nairobi", "BACKUP_TO": filepath.Join(unmounted, "backups")})
	done := make(chan error, 1)
	ready := make(chan Info, 1)
	go func() { done <- a.Run(t.Context(), func(i Info) { ready <- i }) }()
	var info Info
	select {
	case info = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	other := start(t, newApp(t, dataFolder(t), map[string]string{"BACKUP_TO": "/dev/null/backups"}))
	if other.Get("API_URL") == info.Get("API_URL") || other.Get("DB_URL") == info.Get("DB_URL") {
		t.Error("two stacks share a port")
	}

	var asked Info
	if err := control.Command(t.Context(), data, "/status", &asked); err != nil ||
		asked.Get("API_URL") != info.Get("API_URL") {
		t.Errorf("status: %v %v", asked, err)
	}
	if err := newApp(t, data, nil).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "already runs") {
		t.Errorf("a second server on the same folder: %v", err)
	}

	key := info.Get("ANON_KEY")
	if _, body := call(t, "GET", info.Get("API_URL")+"/functions/v1/hello", "", "apikey", key, "Authorization",
		"Bearer "+key); !strings.Contains(body, "nairobi, nairobi") {
		t.Errorf("SB_REGION: %s", body)
	}
	rotation(t, a, data, info)

	var none struct{}
	if err := control.Command(t.Context(), data, "/stop", &none); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("stop: %v", err)
	}
	if datadir.Locked(data) {
		t.Error("the folder is still locked")
	}
	if made, err := os.ReadDir(unmounted); err != nil || len(made) != 0 {
		t.Errorf("the server created the folder of an unmounted disk: %v %v", made, err)
	}
	if err := control.Command(t.Context(), data, "/status", &asked); err == nil ||
		!strings.Contains(err.Error(), datadir.ErrNotRunning.Error()) {
		t.Errorf("status of a stopped server: %v", err)
	}
}

// TestDatabaseAndServiceURLs checks a stack on another Postgres server, and a gateway in front of
// its services.
func TestDatabaseAndServiceURLs(t *testing.T) {
	ctx := t.Context()
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	pg, err := server.Start(ctx,
		server.Options{Source: source, Data: filepath.Join(dataFolder(t), "pg"), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(ctx)) })
	if err := pg.SetPasswords(ctx, map[string]string{server.Superuser: "pass"}); err != nil {
		t.Fatal(err)
	}
	behind := start(t, newApp(t, dataFolder(t), map[string]string{"DATABASE_URL": pg.TCPURL(server.Superuser)}))

	if told, reduced := behind.Announcement(); !reduced || told.Get("API_URL") == "" || told.Get("DB_URL") != "" {
		t.Error("the announcement contains the password of the database:", told)
	}
	c, err := config.Load(config.Sources{Getenv: env(map[string]string{
		"REST_URL": behind.Get("REST_URL"), "STORAGE_URL": behind.Get("STORAGE_URL"),
		"FUNCTIONS_URL": behind.Get("FUNCTIONS_URL"), "AUTH_URL": behind.Get("AUTH_URL"),
		"STUDIO_UPSTREAM_URL": behind.Get("API_URL"), "DASHBOARD_PASSWORD": "p",
	}), Overrides: []func(*config.Config){func(c *config.Config) { c.API.Port, c.Studio.Port = 0, 0 }}})
	if err != nil {
		t.Fatal(err)
	}
	front := New(Options{Config: c, Data: dataFolder(t), Site: pages, Getenv: env(nil),
		Log: slog.New(slog.DiscardHandler)})
	done, ready := make(chan error, 1), make(chan Info, 1)
	frontCtx, stop := context.WithCancel(ctx)
	go func() { done <- front.RunGateway(frontCtx, func(i Info) { ready <- i }) }()
	select {
	case info := <-ready:
		api := info.Get("API_URL")
		if status, body := call(t, "GET", api+"/readyz", ""); status != 200 {
			t.Errorf("readyz: %d %s", status, body)
		}
		// The second gateway checks the key again. The legacy key passes both.
		if status, body := call(t, "GET", api+"/rest/v1/notes?select=id&limit=1", "", "apikey",
			behind.Get("ANON_KEY")); status != 200 || !strings.Contains(body, "id") {
			t.Errorf("rest through two gateways: %d %s", status, body)
		}
		if status, body := call(t, "POST", api+"/functions/v1/add-note", `{"text":"third"}`,
			"apikey", behind.Get("ANON_KEY"), "Content-Type", "application/json"); status != 200 {
			t.Errorf("function through two gateways: %d %s", status, body)
		}
	case err := <-done:
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	conn, err := pgx.Connect(ctx, pg.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	doctorStoresNoKeys(t, pg.TCPURL(server.Superuser), conn)
	defer conn.Close(ctx)
	var n int
	if err := conn.QueryRow(ctx, `select count(*) from public.notes where text = 'third'`).Scan(&n); err != nil ||
		n != 1 {
		t.Errorf("%d notes, %v", n, err)
	}
}

// doctorStoresNoKeys checks that doctor stores no keys in a database without keys, neither new ones
// nor the data folder's.
func doctorStoresNoKeys(t *testing.T, database string, conn *pgx.Conn) {
	t.Helper()
	data := dataFolder(t)
	for _, want := range []doctor.Verdict{doctor.Note, doctor.Good} {
		for _, f := range doctor.Examine(t.Context(), *newApp(t, data,
			map[string]string{"DAAWO_HOST": "0.0.0.0", "DATABASE_URL": database}).Options) {
			if f.What == "keys" && f.Verdict != want {
				t.Errorf("of the keys: %v, want %s", f, want)
			}
		}
		var stored int
		if err := conn.QueryRow(t.Context(), `select count(*) from daawo.keys`).Scan(&stored); err != nil ||
			stored != 0 {
			t.Errorf("%d sets of keys were stored, %v", stored, err)
		}
		// creates keys
		if _, err := keyring.Load(t.Context(), newApp(t, data, map[string]string{"DAAWO_HOST": "0.0.0.0"}).Config,
			data); err != nil {
			t.Fatal(err)
		}
	}
}

// freePort returns a port that was free a moment ago.
func freePort(t *testing.T) uint16 {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return uint16(handover.Port(l))
}

// TestOwnCertificate checks that [api.tls] serves HTTPS with HTTP/2 and HSTS, for the site and for
// Studio.
func TestOwnCertificate(t *testing.T) {
	dir := t.TempDir()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(config.Sources{Dir: dir, Overrides: []func(*config.Config){func(c *config.Config) {
		c.API.Port = 0
		c.API.TLS = config.TLS{Enabled: true, CertPath: "cert.pem", KeyPath: "key.pem"}
		c.StudioUpstreamURL, c.DashboardUser, c.DashboardPassword, c.Studio.Port = "http://127.0.0.1:1", "supabase",
			"secret", freePort(t)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	front := New(Options{Config: c, Data: dataFolder(t), Site: pages, Getenv: env(nil),
		Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(t.Context())
	done, ready := make(chan error, 1), make(chan Info, 1)
	go func() { done <- front.RunGateway(ctx, func(i Info) { ready <- i }) }()
	select {
	case info := <-ready:
		roots := x509.NewCertPool()
		parsed, _ := x509.ParseCertificate(der)
		roots.AddCert(parsed)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		res, err := (&http.Client{Transport: transport}).Get(info.Get("API_URL") + "/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		studio, err := (&http.Client{Transport: transport}).Get(fmt.Sprintf("https://127.0.0.1:%d/", c.Studio.Port))
		if err != nil {
			t.Fatal("Studio is not served over HTTPS:", err)
		}
		studio.Body.Close()
		if studio.StatusCode != http.StatusUnauthorized {
			t.Error("Studio:", studio.Status)
		}
		transport.CloseIdleConnections()
		if res.StatusCode != 200 || res.ProtoMajor != 2 || res.Header.Get("Strict-Transport-Security") == "" {
			t.Error(res.Status, res.Proto, res.Header)
		}
	case err := <-done:
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPublicInstallation checks the settings that a public address requires, and the keys and files
// of such an installation.
func TestPublicInstallation(t *testing.T) {
	public := map[string]string{
		"DAAWO_HOST": "0.0.0.0", "SITE_URL": "https://example.org", "ADMIN_EMAIL": "a@example.org",
		"SMTP_HOST": "127.0.0.1", "SMTP_ADMIN_EMAIL": "b@example.org",
	}
	without := func(name string) map[string]string {
		m := map[string]string{}
		for k, v := range public {
			if k != name {
				m[k] = v
			}
		}
		return m
	}
	for _, name := range []string{"SITE_URL", "ADMIN_EMAIL", "SMTP_HOST"} {
		if err := newApp(t, dataFolder(t), without(name)).Start(t.Context()); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("it starts without %s: %v", name, err)
		}
	}
	data := dataFolder(t)
	info := start(t, newApp(t, data, public))
	if strings.Contains(info.Get("DB_URL"), ":postgres@") ||
		info.Get("PUBLISHABLE_KEY") == "sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH" {
		t.Error("a public installation has the local keys:", info)
	}
	if told, reduced := info.Announcement(); !reduced || told.Get("SITE_URL") != "https://example.org" ||
		told.Get("SECRET_KEY")+told.Get("DB_URL")+told.Get("JWT_SECRET") != "" {
		t.Error("the announcement is", told)
	}
	for _, name := range []string{"keys.json", "database-password"} {
		if s, err := os.Stat(filepath.Join(data, name)); err != nil || s.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, s, err)
		}
	}
	var out bytes.Buffer
	if err := info.Write(&out, "env"); err != nil || !strings.Contains(out.String(), `API_URL="https://example.org"`) {
		t.Error(out.String(), err)
	}
	// Demo keys copied from a laptop are rejected.
	demo := map[string]string{"JWT_SECRET": "super-secret-jwt-token-with-at-least-32-characters-long", "ANON_KEY": "x",
		"SERVICE_ROLE_KEY": "y"}
	for k, v := range public {
		demo[k] = v
	}
	if err := newApp(t, dataFolder(t), demo).Start(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "well-known") {
		t.Errorf("demo keys on a public address: %v", err)
	}
}
