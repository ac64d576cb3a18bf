// Package pgrst makes the REST engine a replacement for the PostgREST binary. It reads the same
// configuration (file, PGRST_* variables, settings of the database role), listens in the same ways,
// reloads on the same signals and notifications, and has the same admin server.
package pgrst
