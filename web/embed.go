// Package web holds the built site: every page prerendered in both languages, its scripts and its
// pictures, embedded so that one binary carries the whole product. It imports nothing of ours; the
// gateway alone reads it.
//
// dist is made by `npm run build`. A committed placeholder keeps the package compiling before that.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files is the root of the built site: index.html, so/index.html, assets/ and so on.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // only an invalid path could do this, and "dist" is a constant
		return dist
	}
	return files
}
