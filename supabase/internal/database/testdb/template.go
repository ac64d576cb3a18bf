package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"daawo/supabase/internal/database/extension"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/server"

	"github.com/jackc/pgx/v5"
)

// format is the version of the code that makes clusters. A new version
// invalidates the cached ones.
const format = "3"

// copyTemplate copies the cached cluster for this Postgres and this platform
// schema to o.Data. It makes the cluster first if it is missing.
func copyTemplate(ctx context.Context, o server.Options) error {
	key := templateKey()
	cache := filepath.Join(server.DefaultRuntime(), "testdb")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	// One test binary makes it, the others wait.
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	made := filepath.Join(cache, key)
	if _, err := os.Stat(made); errors.Is(err, fs.ErrNotExist) {
		removeOldTemplates(cache, key)
		if err := makeTemplate(ctx, o, made); err != nil {
			return fmt.Errorf("make the template cluster: %w", err)
		}
	} else if err != nil {
		return err
	}
	// cp -a keeps owners and modes. It shares blocks if the file system can.
	out, err := exec.CommandContext(ctx, "cp", "-a", made, o.Data).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy the template cluster: %w: %s", err, out)
	}
	return nil
}

// fastDir returns a folder in memory with enough space for a binary's databases,
// or "" for the default temporary folder.
func fastDir() string {
	const dir, needed = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < needed {
		return ""
	}
	return dir
}

// templateKey returns a name for the template that depends on its whole content.
func templateKey() string {
	h := sha256.New()
	fmt.Fprintln(h, format, server.Version, server.Platform(), extension.Version(), migrate.PlatformKey())
	return "cluster-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// keepTemplates is how many older templates stay cached, for switching branches.
const keepTemplates = 3

// removeOldTemplates removes the oldest templates except key.
func removeOldTemplates(cache, key string) {
	entries, _ := os.ReadDir(cache)
	type old struct {
		name string
		info fs.FileInfo
	}
	var olds []old
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), "cluster-") && e.Name() != key {
			olds = append(olds, old{e.Name(), info})
		}
	}
	for len(olds) > keepTemplates {
		oldest := 0
		for i := range olds {
			if olds[i].info.ModTime().Before(olds[oldest].info.ModTime()) {
				oldest = i
			}
		}
		os.RemoveAll(filepath.Join(cache, olds[oldest].name))
		olds = append(olds[:oldest], olds[oldest+1:]...)
	}
}

func makeTemplate(ctx context.Context, o server.Options, target string) error {
	o.Data = target + ".making"
	if err := os.RemoveAll(o.Data); err != nil {
		return err
	}
	pg, err := server.Start(ctx, o)
	if err != nil {
		return err
	}
	if err := errors.Join(fillTemplate(ctx, pg), pg.Stop(ctx)); err != nil {
		return err
	}
	os.Remove(o.Data + ".lock")
	os.Remove(server.VaultKeyFile(o.Data)) // nothing in the template is encrypted
	return os.Rename(o.Data, target)
}

func fillTemplate(ctx context.Context, pg *server.Server) error {
	admin, err := pgx.Connect(ctx, pg.URL(server.Superuser))
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	if _, err := admin.Exec(ctx, `create database `+template); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, pg.DatabaseURL(server.Superuser, template))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return migrate.Platform(ctx, conn)
}
