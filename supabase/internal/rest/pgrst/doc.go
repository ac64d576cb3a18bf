// Package pgrst makes the REST engine a drop-in for the PostgREST binary: it reads the same configuration (file,
// PGRST_* variables, settings of the database role), listens in the same ways, reloads on the same signals and
// notifications, and answers on the same admin port.
//
// Only app and cli import it; of ours it imports db and rest.
package pgrst
