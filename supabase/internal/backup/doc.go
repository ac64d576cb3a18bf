// Package backup keeps a second copy of an installation somewhere else and
// brings it back: base backups over the replication protocol, the archive of
// the write-ahead log that allows going to any moment after one, and the files
// folder, in a folder or an S3 bucket, encrypted with age when a recipient is
// given.
//
// A backup is called good only after it has been restored from where it was
// stored to and looked through. Only app and cli import this package;
// it alone opens replication connections.
//
// What a store holds:
//
//	SYSTEM                            which cluster they are of
//	base/<id>/base.tar.zst[.age]      the cluster, with the log that completes it
//	base/<id>/details.json.zst[.age]  what its proof compared with
//	base/<id>/manifest-<sum>.json     written last: without it there is no backup
//	wal/<segment>-<sum>.zst[.age]     the log, a segment each
//	files/<name>-<sum>.zst[.age]      files, by a keyed hash of their content, each once
//	lists/<time>-<sum>.zst[.age]      which files there were from that time on
//	needs/<time>-<sum>                the objects of that list
//
// <time> is followed by _<time> where the clock had been set back (see listTime).
// <sum> is the beginning of the SHA-256 of the stored bytes.
package backup
