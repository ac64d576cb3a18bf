// Package web embeds the built site: every page prerendered in both languages, its scripts and its
// pictures. It imports nothing of ours; the gateway alone reads it.
//
// `npm run build` writes dist. A committed placeholder file lets the package compile before the
// first build.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

//go:embed all:desk/dist
var desk embed.FS

// Desk returns the root of the built application of the administrators.
func Desk() fs.FS {
	files, err := fs.Sub(desk, "desk/dist")
	if err != nil { // impossible: "desk/dist" is a valid path
		return desk
	}
	return files
}

// Files returns the root of the built site: index.html, so/index.html, assets/ and so on.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // impossible: "dist" is a valid path
		return dist
	}
	return files
}
