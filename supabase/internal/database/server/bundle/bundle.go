// Package bundle holds the Postgres package that is embedded in the binary, if any: `make build`
// packs it (command pack) and builds with the tag bundle.
package bundle

import (
	"io/fs"
	"strings"

	"daawo/supabase/internal/database/server"
)

// Package returns the Postgres package to run: the embedded one, or else the
// one that npm installed at or above dir.
func Package(dir string) (fs.FS, error) {
	if len(archive) > 0 {
		return server.OpenArchive(strings.NewReader(archive), int64(len(archive)))
	}
	return server.FindPackage(dir)
}
