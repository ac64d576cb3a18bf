// Package typegen writes the TypeScript types of a database: the `Database` type for
// createClient<Database>() of supabase-js, in the form that its documentation shows.
// https://supabase.com/docs/guides/api/rest/generating-types
//
// It reads pg_catalog once (catalog.go) and writes one text (write.go). Equal schemas give equal
// text. `daawo gen types` prints it. Functions writes a typed client of the edge functions from
// their OpenAPI document (functions.go). A project can check the text in, and a test can compare
// it. Only cli imports this package.
package typegen
