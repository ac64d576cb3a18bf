// Package logical exports the content of an installation and imports it into another one: the
// project's tables, the users with their passwords and sessions, and the files. Any installation
// with the same schema can import it, with any supported Postgres. Package physical copies the
// cluster itself.
//
// Export:
//
//	begin a repeatable read transaction
//	write header.json: the format and the versions of the schemas
//	for each table: copy its rows to a spool file; write them with their count and checksum
//	for each version of an object: write its content; if it is gone by then, start again
//	write manifest.json: row counts, checksums and sequences
//
// Import:
//
//	begin a transaction
//	refuse another schema, and content of users unless ImportOptions.Replace is set
//	delete the own rows
//	for each table of the export: copy its rows in and keep count and checksum
//	for each file: find its row and write it to storage
//	compare rows, counts and checksums with the manifest, and read to the end of the export
//	commit, and delete the files that no row needs; after an error, those that were written
//
// An export is a tar of
//
//	header.json      the format and the versions of the schemas
//	tables/<name>    rows in COPY's text format
//	files/<n>        one for each version of an object
//	manifest.json    row counts, checksums and sequences
//
// compressed, and encrypted if there is a recipient.
package logical
