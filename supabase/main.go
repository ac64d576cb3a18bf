package main

import (
	"context"
	"io/fs"
	"os"

	"daawo/functions"
	"daawo/supabase/internal/cli"
	"daawo/supabase/internal/postgres/bundle"
	"daawo/web"
)

// version is set by the release build.
var version = "dev"

func main() {
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args:      os.Args[1:],
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		Getenv:    os.LookupEnv,
		Project:   Files,
		Site:      web.Files(),
		Postgres:  func() (fs.FS, error) { return bundle.Package(".") },
		Functions: functions.All,
		Version:   version,
	}))
}
