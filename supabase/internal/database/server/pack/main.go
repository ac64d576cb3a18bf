// Command pack writes a Postgres package into the archive that `make build`
// embeds (package bundle). The default is the package that npm installed for
// this platform. PACKAGE names the folder of another platform's package, EXTENSIONS that of its
// compiled extensions (command compile) and CLUSTER that of its prepared cluster (command prepare).
// A missing folder adds nothing.
//
//	go run ./supabase/internal/database/server/pack [FILE [PACKAGE [EXTENSIONS [CLUSTER]]]]
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"daawo/supabase/internal/database/server"
)

func main() {
	target := "supabase/internal/database/server/bundle/postgres.zip"
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	pkg, err := server.FindPackage(".")
	if len(os.Args) > 2 {
		pkg, err = os.DirFS(os.Args[2]), nil
	}
	if len(os.Args) > 3 {
		pkg = server.WithExtensions(pkg, os.DirFS(os.Args[3]))
	}
	if len(os.Args) > 4 {
		pkg = server.WithCluster(pkg, os.DirFS(os.Args[4]))
	}
	if err == nil {
		err = pack(target, pkg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes a temporary file and renames it, so an interrupted run leaves no
// incomplete archive.
func pack(target string, pkg fs.FS) error {
	f, err := os.Create(target + ".tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(server.WriteArchive(f, pkg), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
