package front

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/studio"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/parts"
)

// studioOf returns the front of a stack with free ports, which serves "Studio" on Studio's port.
func studioOf(t *testing.T, change func(*config.Config)) *Front {
	t.Helper()
	c := &config.Config{Environment: config.Environment{Host: "127.0.0.1"}}
	c.Studio.Enabled = true
	change(c)
	in := installation.New(installation.Options{Config: c, Added: &parts.Store{}, AnyPort: true,
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := in.CloseAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	f, err := Listen(in, handover.NewSockets(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	f.serveStudio(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Studio")
	}), nil, nil)
	return f
}

func TestStudioDoor(t *testing.T) {
	public := func(c *config.Config) { c.SiteURL = "https://example.org" }
	withPassword := func(c *config.Config) { c.StudioUser, c.StudioPassword = "supabase", "a long password" }
	for what, tt := range map[string]struct {
		change func(*config.Config)
		open   int // status without a login; 0 means that there is no port
		login  int // status with the password
	}{
		"on loopback":                 {func(*config.Config) {}, 200, 200},
		"on loopback with a password": {withPassword, 401, 200},
		"switched off":                {func(c *config.Config) { c.Studio.Enabled = false }, 0, 0},
		"public without a password":   {public, 0, 0},
		"public with a password":      {func(c *config.Config) { public(c); withPassword(c) }, 401, 200},
		"elsewhere": {func(c *config.Config) {
			c.StudioUpstreamURL = "http://127.0.0.1:1"
			c.DashboardUser, c.DashboardPassword = "supabase", "a long password"
		}, 401, 200},
	} {
		f := studioOf(t, tt.change)
		if f.studio == nil || f.Studio == "" {
			if tt.open != 0 || f.Studio != "" {
				t.Errorf("%s: no port, address %q", what, f.Studio)
			}
			continue
		}
		address := "http://" + f.studio.Addr().String()
		if got := askStudio(t, address, "", nil); got != tt.open {
			t.Errorf("%s: %d, want %d", what, got, tt.open)
		}
		if got := askStudio(t, address, "a long password", nil); got != tt.login {
			t.Errorf("%s: %d with the password, want %d", what, got, tt.login)
		}
		other := map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
		if got := askStudio(t, address, "a long password", other); got != http.StatusForbidden {
			t.Errorf("%s: a request of another site: %d", what, got)
		}
	}
}

// TestStudioPortForAccounts checks that a public address has a port of Studio for accounts only
// after Studio was added.
func TestStudioPortForAccounts(t *testing.T) {
	dir := t.TempDir()
	c := &config.Config{Environment: config.Environment{Host: "127.0.0.1", SiteURL: "https://example.org"}}
	c.Studio.Enabled = true
	in := installation.New(installation.Options{Config: c, StudioAccess: "true", Log: slog.New(slog.DiscardHandler),
		Added: &parts.Store{Dir: dir, Lock: filepath.Join(dir, "parts.lock")}})
	if ServesStudio(in) {
		t.Error("a port before Studio was added")
	}
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: studio.Part.Program, Typeflag: tar.TypeReg, Mode: 0o755})
	file := filepath.Join(dir, "studio.tar.gz")
	if err := errors.Join(err, w.Close(), z.Close(), os.WriteFile(file, archive.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Added.Add(t.Context(), studio.Part, parts.File(file)); err != nil {
		t.Fatal(err)
	}
	if !ServesStudio(in) {
		t.Error("no port after Studio was added")
	}
	in.StudioAccess = ""
	if ServesStudio(in) {
		t.Error("a port without a login")
	}
}

// askStudio posts a request and returns the status.
func askStudio(t *testing.T, address, password string, headers map[string]string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		r.SetBasicAuth("supabase", password)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestStudioBesideDesk checks that Studio leaves the administrators' application its port.
func TestStudioBesideDesk(t *testing.T) {
	for _, tt := range []struct{ studio, desk, want uint16 }{
		{54323, 54323, 54325}, {54323, 54325, 54323}, {0, 0, 0},
	} {
		c := &config.Config{Environment: config.Environment{AdminPort: tt.desk}}
		c.Studio.Port = tt.studio
		if got := studioPort(c, true); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}
