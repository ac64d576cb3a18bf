// Package typescript writes the TypeScript types of a database: the `Database` type that createClient<Database>() of
// supabase-js takes, in the form its documentation gives it.
// https://supabase.com/docs/guides/api/rest/generating-types
//
// One read of pg_catalog (catalog.go) becomes one text (write.go), the same for the same schema: `daawo gen types` prints
// it, the site has it checked in, and a test compares the two. Only cli imports this package.
package typescript
