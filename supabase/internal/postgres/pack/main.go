// Command pack writes a Postgres package into the archive that `make build`
// embeds (package bundle): this platform's, as npm installed it, or the one in
// PACKAGE, for a release of another platform.
//
//	go run ./supabase/internal/postgres/pack [FILE [PACKAGE]]
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"daawo/supabase/internal/postgres"
)

func main() {
	target := "supabase/internal/postgres/bundle/postgres.zip"
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	pkg, err := postgres.FindPackage(".")
	if len(os.Args) > 2 {
		pkg, err = os.DirFS(os.Args[2]), nil
	}
	if err == nil {
		err = pack(target, pkg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes beside the target first: an interrupted run leaves no torn archive.
func pack(target string, pkg fs.FS) error {
	f, err := os.Create(target + ".tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(postgres.WriteArchive(f, pkg), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
