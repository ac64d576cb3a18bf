// Package extension holds extensions for the embedded Postgres: control files
// and scripts with the interface of extensions that Supabase projects use. The
// packages below it do the work that these extensions do in C: cron runs jobs,
// pgnet sends HTTP requests.
//
// Only cli, postgres and testdb import it.
package extension

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed share
var share embed.FS

// Files returns the control files and scripts, for Postgres' folder
// share/postgresql/extension.
func Files() fs.FS {
	files, err := fs.Sub(share, "share")
	if err != nil {
		panic(err) // only an invalid name fails
	}
	return files
}

// Requires returns the extension in C that a file's extension needs, or "" for none.
func Requires(file string) string {
	if strings.HasPrefix(file, "index_advisor") {
		return "hypopg"
	}
	return ""
}

// Name returns the extension that a file belongs to.
func Name(file string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(file, ".control"), "--")
	return name
}

// StepsBack reports whether a file is of an extension that leaves its place to the original, where
// a Postgres has that: the placeholders, pg_jsonschema, and http, whose requests this program
// sends.
func StepsBack(file string) bool {
	return slices.Contains([]string{"http", "pg_graphql", "pg_jsonschema", "pg_tle", "pgaudit", "pgsodium"}, Name(file))
}

// Version returns a short hash of Files.
func Version() string {
	h := sha256.New()
	err := fs.WalkDir(share, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := share.ReadFile(name)
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
