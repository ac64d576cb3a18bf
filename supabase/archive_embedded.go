//go:build embedpostgres

package main

import _ "embed"

// archive is this platform's Postgres, packed by scripts/build-embedded.sh.
//
//go:embed postgres.zip
var archive string
