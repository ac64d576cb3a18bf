// Package migrate brings a database to the schema this program needs: the
// platform (roles, schemas, auth and storage tables, as supabase/postgres and
// its services make them), the site's own migrations in the official CLI's
// format, and the seed.
//
// Every step runs under one advisory lock, is all or nothing, and is safe to
// run again. It works on a *pgx.Conn that its caller opened, on the embedded
// server as well as on any Postgres 15 to 17. Only app, auth/gotrue,
// storage/standalone and testdb import it.
package migrate
