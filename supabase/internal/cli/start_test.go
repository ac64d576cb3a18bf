package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/base/config"
)

// TestDeskPort checks that the desk's port follows --port, unless DESK_PORT names one.
func TestDeskPort(t *testing.T) {
	for _, c := range []struct {
		port, desk string
		want       uint16
	}{{"8000", "", 8002}, {"0", "", 0}, {"65535", "", 54323}, {"8000", "9000", 9000}} {
		getenv := func(name string) (string, bool) { return c.desk, name == "DESK_PORT" && c.desk != "" }
		env := &Env{Options: app.Options{Getenv: getenv}}
		inv := &Invocation{Env: env, flags: flag.NewFlagSet("start", flag.ContinueOnError)}
		inv.startFlags()
		if err := inv.flags.Parse([]string{"--port", c.port}); err != nil {
			t.Fatal(err)
		}
		got, err := config.Load(config.Sources{Getenv: getenv, Overrides: inv.overrides})
		if err != nil || got.AdminPort != c.want {
			t.Errorf("--port %s, DESK_PORT=%s: desk on %d, want %d: %v", c.port, c.desk, got.AdminPort, c.want, err)
		}
	}
}

// TestDataFolderIsFile checks that the error of a start names the setting.
func TestDataFolderIsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "below")} {
		var out strings.Builder
		Main(t.Context(), Env{
			Name: "clinic", Args: []string{"start", "--data", data}, Stdout: &out, Stderr: &out,
			Options: app.Options{Project: fstest.MapFS{}, Getenv: func(string) (string, bool) { return "", false }},
		})
		if text := out.String(); !strings.Contains(text, "choose another folder with --data") {
			t.Errorf("%s: %s", data, text)
		}
	}
}
