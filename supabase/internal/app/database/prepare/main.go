// Command prepare makes the cluster with which new installations begin (database.Prepare), for the
// Postgres that npm installed for this platform, below bin/cluster. If it is there already, the
// command does nothing.
//
//	go run ./supabase/internal/app/database/prepare
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/database/server"
)

func main() {
	if err := prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
}

func prepare(ctx context.Context) error {
	pkg, err := server.FindPackage(".")
	if err != nil {
		return err
	}
	name, err := database.PreparedFile(pkg)
	if err != nil {
		return err
	}
	dir := server.ClusterDir(".", server.Platform())
	target := filepath.Join(dir, name)
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	f, err := os.Create(target + ".tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(database.Prepare(ctx, pkg, f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
