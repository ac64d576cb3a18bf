package doctor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/server"
)

// TestDoctor checks the finding and the advice for each fault of an installation.
func TestDoctor(t *testing.T) {
	public := map[string]string{
		"DAAWO_HOST": "0.0.0.0", "SITE_URL": "https://example.org", "ADMIN_EMAIL": "a@example.org",
		"SMTP_ADMIN_EMAIL": "b@example.org", "SMTP_HOST": "127.0.0.1", "SMTP_PORT": closedPort(t),
	}
	store := func(ago time.Duration) func(*testing.T, string, map[string]string) {
		return backupTo(func(t *testing.T) string { return storeWithBackup(t, ago) })
	}
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, data string, env map[string]string)
		what  string
		want  Verdict
		says  string // part of the advice
	}{
		{"no fault", nil, "keys", Good, "unique to this installation"},
		{"no mail server", nil, "mail", Bad, "127.0.0.1"},
		{"no backup", nil, "backup", Warn, "set BACKUP_TO"},
		{"no address for alarms", func(_ *testing.T, _ string, env map[string]string) { delete(env, "ADMIN_EMAIL") },
			"configuration", Bad, "ADMIN_EMAIL"},
		{"plain HTTP", func(_ *testing.T, _ string, env map[string]string) { env["SITE_URL"] = "http://example.org" },
			"configuration", Warn, "TLS_DOMAINS"},
		{"a public secret", func(_ *testing.T, _ string, env map[string]string) {
			env["JWT_SECRET"] = "super-secret-jwt-token-with-at-least-32-characters-long"
		}, "configuration", Bad, "JWT_SECRET"},
		{"a world-writable folder", func(t *testing.T, data string, _ map[string]string) { chmod(t, data, 0o777) },
			"data folder", Bad, "chmod 755"},
		{"world-readable keys", func(t *testing.T, data string, _ map[string]string) {
			chmod(t, keyring.File(data), 0o644)
		}, "keys", Bad, "chmod 600"},
		{"world-readable files", func(t *testing.T, data string, _ map[string]string) {
			write(t, filepath.Join(data, "storage", "x"), nil, 0o600)
			chmod(t, filepath.Join(data, "storage"), 0o755)
		}, "data folder", Bad, "chmod 750"},
		{"DATABASE_URL", func(_ *testing.T, _ string, env map[string]string) {
			env["DATABASE_URL"] = "postgres://postgres:b1946ac92492d234@127.0.0.1:" + public["SMTP_PORT"] + "/postgres"
		}, "backup", Note, "where it runs"},
		{"an empty backup folder", backupTo((*testing.T).TempDir), "backup", Bad, "daawo backup"},
		{"an old backup", store(26 * time.Hour), "backup", Bad, "26h0m0s old"},
		{"a recent backup", store(24 * time.Hour), "backup", Good, "24h0m0s old"},
		{"a backup of a clock that was ahead", store(-3 * time.Hour), "backup", Warn, "is 3h0m0s in the future"},
		{"backups of a copy", func(t *testing.T, data string, env map[string]string) {
			env["BACKUP_TO"] = storeWithBackup(t, time.Hour)
			write(t, filepath.Join(env["BACKUP_TO"], "WRITER"), markOfCopy, 0o600)
			write(t, filepath.Join(data, "backup", "backup-writer"), []byte("own 1\n"), 0o644)
		}, "backup", Bad, "another data folder"},
		{"an unencrypted backup", store(time.Hour), "backup", Warn, "BACKUP_RECIPIENTS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, env := filepath.Join(folder(t), "data"), map[string]string{}
			for k, v := range public {
				env[k] = v
			}
			if err := os.Mkdir(data, 0o755); err != nil {
				t.Fatal(err)
			}
			// the first start creates them
			if _, err := keyring.Load(t.Context(), options(t, data, public).Config, data); err != nil {
				t.Fatal(err)
			}
			if tt.spoil != nil {
				tt.spoil(t, data, env)
			}
			var all strings.Builder
			for _, f := range Examine(t.Context(), options(t, data, env)) {
				if f.What == tt.what && f.Verdict == tt.want && strings.Contains(f.Says, tt.says) {
					return
				}
				fmt.Fprintf(&all, "%s %s: %s\n", f.Verdict, f.What, f.Says)
			}
			t.Errorf("no finding %s of %s with %q, but\n%s", tt.want, tt.what, tt.says, &all)
		})
	}
}

// markOfCopy is the mark of another installation in a store.
var markOfCopy = []byte("copy 2026-11-28T00:00:00Z " + sumOf("copy2026-11-28T00:00:00Z") + "\n")

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:manifestSum]
}

// storeWithBackup returns a folder with one backup, which was complete so long ago.
func storeWithBackup(t *testing.T, ago time.Duration) string {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(physical.Manifest{Format: 1, ID: "20261121T000000Z", End: time.Now().Add(-ago)})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "base", "20261121T000000Z", "manifest-"+sumOf(string(text))+".json")
	write(t, name, text, 0o600)
	return dir
}

// backupTo sets BACKUP_TO to the folder that a function returns.
func backupTo(folder func(*testing.T) string) func(*testing.T, string, map[string]string) {
	return func(t *testing.T, _ string, env map[string]string) { env["BACKUP_TO"] = folder(t) }
}

// TestFindingHasCode checks that programs get the values of a finding, to say it in another
// language.
func TestFindingHasCode(t *testing.T) {
	c := &checker{}
	c.say("deployed functions", Note, "lacking", "run %d times for %s: %[1]d", 3, 2*time.Hour)
	want := []Finding{{"deployed functions", Note, "run 3 times for 2h0m0s: 3", "deployed-functions.lacking",
		[]string{"3", "2h0m0s"}}}
	if !reflect.DeepEqual(c.findings, want) {
		t.Errorf("got %+v, want %+v", c.findings, want)
	}
}

// TestDoctorWritesNothing checks that doctor creates no file before the first start. An operator
// may run it as root, and the server's user could not use such a file.
func TestDoctorWritesNothing(t *testing.T) {
	data, backups := filepath.Join(folder(t), "data"), filepath.Join(filepath.Join(folder(t), "data"), "backups")
	for _, place := range []string{backups, "file://" + backups} {
		says := map[string]Finding{}
		for _, f := range Examine(t.Context(), options(t, data,
			map[string]string{"DAAWO_HOST": "0.0.0.0", "BACKUP_TO": place})) {
			says[f.What] = f
		}
		if f := says["keys"]; f.Verdict != Note || !strings.Contains(f.Says, "the first start generates them") {
			t.Errorf("missing keys: %v", f)
		}
		if f := says["backup"]; f.Verdict != Bad || !strings.Contains(f.Says, backups+" does not exist") {
			t.Errorf("missing backup folder: %v", f)
		}
		for _, dir := range []string{data, filepath.Dir(backups)} {
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was created: %v", dir, err)
			}
		}
	}
}

// TestDoctorAsksServer checks that the running server says what its jail of functions lacks, since
// the command runs in another cgroup and perhaps as another user, and whose its files are.
func TestDoctorAsksServer(t *testing.T) {
	for _, lacks := range [][]string{{"limits: no cgroup"}, nil} {
		data := filepath.Join(folder(t), "data")
		if err := os.Mkdir(data, 0o755); err != nil {
			t.Fatal(err)
		}
		server, err := control.Start(data, map[string]func(context.Context) (any, error){
			"/status": func(context.Context) (any, error) {
				return installation.Info{Lacks: lacks, ForeignFiles: strings.Join(lacks, "")}, nil
			},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		foreign := 0
		for _, f := range Examine(t.Context(), options(t, data, map[string]string{})) {
			foreign += strings.Count(f.Code+" "+string(f.Verdict), "files.foreign BAD")
			if f.What == "deployed functions" {
				said = append(said, fmt.Sprint(f.Verdict, " ", f.Says))
			}
		}
		want := fmt.Sprint(Good, " have a user")
		if lacks != nil {
			want = fmt.Sprint(Note, " run with more rights than they could; this system lacks limits: no cgroup")
		}
		if len(said) != 1 || !strings.HasPrefix(said[0], want) {
			t.Errorf("%q, want %q", said, want)
		}
		if foreign != len(lacks) {
			t.Errorf("%d findings of foreign files with %q", foreign, lacks)
		}
		if err := server.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// manifestSum is the number of digits of its checksum in the name of a manifest.
const manifestSum = 16

// closedPort returns a port without a listener.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name string, text []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, mode); err != nil {
		t.Fatal(err)
	}
}

// options returns an installation's options with these variables.
func options(t *testing.T, data string, environment map[string]string) installation.Options {
	t.Helper()
	getenv := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	c, err := config.Load(config.Sources{Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	return installation.Options{Config: c, Data: data, Project: fstest.MapFS{}, Getenv: getenv,
		Postgres: func() (fs.FS, error) { return server.FindPackage(".") }}
}

// folder returns a folder that the user of Postgres can reach.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "doctor-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDoctorWithoutNATS checks the finding about a NATS that does not answer.
func TestDoctorWithoutNATS(t *testing.T) {
	c := &checker{Options: options(t, "", map[string]string{"NATS_URL": "nats://127.0.0.1:" + closedPort(t)})}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if c.nats(ended); len(c.findings) != 1 || c.findings[0].Verdict != Bad {
		t.Errorf("doctor without NATS: %v", c.findings)
	}
}
