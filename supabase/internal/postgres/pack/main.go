// Command pack writes this platform's Postgres package, as npm installed it,
// into the archive that `make build` embeds (package bundle).
//
//	go run ./supabase/internal/postgres/pack [FILE]
package main

import (
	"errors"
	"fmt"
	"os"

	"daawo/supabase/internal/postgres"
)

func main() {
	target := "supabase/internal/postgres/bundle/postgres.zip"
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	if err := pack(target); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes beside the target first: an interrupted run leaves no torn archive.
func pack(target string) error {
	pkg, err := postgres.FindPackage(".")
	if err != nil {
		return err
	}
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
