//go:build !embedpostgres

package main

// archive is empty: this build finds Postgres in node_modules. scripts/build-embedded.sh makes the other kind.
const archive = ""
