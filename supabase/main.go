package main

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"daawo/functions"
	"daawo/supabase/internal/cli"
	"daawo/supabase/internal/postgres"
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
		Postgres:  findPostgres,
		Functions: functions.All,
		Version:   version,
	}))
}

// findPostgres is the archive inside this program, else the npm package at or above the working folder.
func findPostgres() (fs.FS, error) {
	if archive != "" {
		return postgres.OpenArchive(strings.NewReader(archive), int64(len(archive)))
	}
	return postgres.FindPackage(".")
}
