// Package migrate brings a database to the schema that this program needs. It applies the platform
// schema (roles, schemas, auth and storage tables, as supabase/postgres and its services create
// them), the project's migrations in the official CLI's format, and the project's seed files.
//
// Every step runs under one advisory lock, in one transaction, and can run again. The caller opens
// the *pgx.Conn, to the embedded server or to any Postgres 15 to 17.
package migrate
