package app

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/parts"
)

// wrapper is a program of Supabase's archive: a script that starts the program with a dot.
const wrapper = "#!/usr/bin/env bash\nexec \"$(dirname \"${BASH_SOURCE[0]}\")/.NAME-wrapped\" \"$@\"\n"

// officialArchive writes an archive with the layout of Supabase's, made of the embedded Postgres.
// clients are programs of Postgres elsewhere, which it starts.
func officialArchive(t *testing.T, clients ...string) string {
	t.Helper()
	pkg, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "postgres.tar.zst")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(z)
	add := func(name string, text []byte) error {
		h := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		_, err := archive.Write(text)
		return err
	}
	err = fs.WalkDir(pkg, "native", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".a") || strings.Contains(name, "/include/") {
			return err
		}
		text, err := fs.ReadFile(pkg, name)
		to := strings.TrimPrefix(name, "native/")
		if base, ok := strings.CutPrefix(to, "bin/"); ok && err == nil {
			to, err = "bin/."+base+"-wrapped", add(to, bytes.ReplaceAll([]byte(wrapper), []byte("NAME"), []byte(base)))
		}
		return errors.Join(err, add(to, text))
	})
	for _, client := range clients {
		err = errors.Join(err, add("bin/"+filepath.Base(client), []byte("#!/bin/sh\nexec '"+client+"' \"$@\"\n")))
	}
	if err := errors.Join(err, archive.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// A stack on Supabase's archive: the data folder remembers it, the embedded Postgres refuses the
// folder, and the extensions of this program are there where the archive has none.
func TestSupabasePostgres(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	store := &parts.Store{Dir: filepath.Join(data, "parts"), Lock: filepath.Join(data, "parts.lock")}
	newWith := func(distribution string) *App {
		a := newApp(t, filepath.Join(data, "data"), nil)
		a.Added, a.Config.DB.Distribution = store, distribution
		return a
	}
	a := newWith(config.SupabasePostgres)
	if _, err := a.PostgresSource(); err == nil || !strings.Contains(err.Error(), "daawo postgres add") {
		t.Errorf("without the archive: %v", err)
	}
	if _, err := store.Add(t.Context(), installation.PostgresPart, parts.File(officialArchive(t))); err != nil {
		t.Fatal(err)
	}
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if made, err := server.Distribution(filepath.Join(a.Data, "postgres")); made != "supabase" || err != nil {
		t.Errorf("the data folder is of the distribution %q: %v", made, err)
	}
	err := newWith(config.EmbeddedPostgres).Migrate(t.Context())
	if !errors.Is(err, server.ErrOtherVersion) || !strings.Contains(err.Error(), "daawo postgres switch") {
		t.Errorf("the embedded Postgres on it: %v", err)
	}
	quiet := func(string) {}
	if _, err := SwitchPostgres(t.Context(), newWith(config.SupabasePostgres), quiet); !errors.Is(err, database.ErrNoSwitch) {
		t.Errorf("a move to the same: %v", err)
	}
	// This archive has no pg_dump, so the move fails and changes nothing.
	_, err = SwitchPostgres(t.Context(), newWith(config.EmbeddedPostgres), quiet)
	if err == nil || !strings.Contains(err.Error(), "stays as it was") {
		t.Errorf("a move without pg_dump: %v", err)
	}
	entries, err := os.ReadDir(a.Data)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "postgres.") && !slices.Contains([]string{"postgres.vault-key", "postgres.lock"}, e.Name()) {
			t.Errorf("the move left %s", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
	if err := newWith(config.SupabasePostgres).Migrate(t.Context()); err != nil {
		t.Errorf("after the failed move: %v", err)
	}
	a = newWith(config.SupabasePostgres)
	start(t, a)
	if got := one(t, a.Data, `select 'found'`); got != "found" { // its program is named .postgres-wrapped
		t.Error(got)
	}
}
