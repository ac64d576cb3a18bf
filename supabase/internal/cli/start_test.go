package cli

import (
	"flag"
	"testing"

	"daawo/supabase/internal/base/config"
)

// TestDeskPort checks that the desk's port follows --port, unless DESK_PORT names one.
func TestDeskPort(t *testing.T) {
	for _, c := range []struct {
		port, desk string
		want       uint16
	}{{"8000", "", 8002}, {"0", "", 0}, {"65535", "", 54323}, {"8000", "9000", 9000}} {
		getenv := func(name string) (string, bool) { return c.desk, name == "DESK_PORT" && c.desk != "" }
		inv := &Invocation{Env: &Env{Getenv: getenv}, flags: flag.NewFlagSet("start", flag.ContinueOnError)}
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
