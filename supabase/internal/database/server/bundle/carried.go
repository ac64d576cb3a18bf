//go:build bundle

package bundle

import _ "embed"

// A string, unlike a slice, stays in the file's read-only pages and costs no
// memory until it is read.
//
//go:embed postgres.zip
var archive string
