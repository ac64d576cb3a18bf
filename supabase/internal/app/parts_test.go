package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestParts checks single parts of one stack that has all of them switched on, and that Prepare
// learns whether the installation is public.
func TestParts(t *testing.T) {
	place := filepath.Join(t.TempDir(), "backups")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	a := newApp(t, dataFolder(t), map[string]string{"BACKUP_TO": place, "DB_TLS": "true",
		"SUPABASE_REALTIME_ENABLED": "true"})
	a.AdminSite = adminPages
	a.Config.AdminPort = 0
	var told []bool
	a.Prepare = func(_ context.Context, conn *pgx.Conn, public bool) error {
		told = append(told, public)
		return conn.Ping(t.Context())
	}
	info := start(t, a)
	if !slices.Equal(told, []bool{false}) {
		t.Errorf("Prepare was told %v", told)
	}
	for _, part := range []struct {
		name string
		test func(*testing.T, *App, Info)
	}{
		{"admin site", testAdminSite}, {"column named apikey", testColumnNamedAPIKey},
		{"database TLS", testDatabaseTLS}, {"realtime through gateway", testRealtimeThroughGateway},
		{"metrics", testStackMetrics},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, a, info) })
	}
}
