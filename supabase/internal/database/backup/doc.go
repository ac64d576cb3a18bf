// Package backup copies an installation to another place and restores it. A backup consists of base
// backups, taken over the replication protocol, archived WAL segments for point-in-time recovery,
// and files, such as storage's objects. The place is a folder or an S3 bucket. With a recipient,
// backups are encrypted with age.
//
// A backup counts as good only after a test restore from the store and a check
// of the restored cluster. Only app and cli import this package; no other
// package opens replication connections.
//
// A store contains:
//
//	SYSTEM                            the system identifier of the cluster
//	base/<id>/base.tar.zst[.age]      the cluster, with the WAL that makes it consistent
//	base/<id>/details.json.zst[.age]  checksums and row counts for the test restore
//	base/<id>/manifest-<sum>.json     written last: a backup without it does not count
//	wal/<segment>-<sum>.zst[.age]     the WAL, one object per segment
//	files/<name>-<sum>.zst[.age]      files, each content once, named by its keyed hash
//	lists/<time>-<sum>.zst[.age]      the files that existed at that time
//	needs/<time>-<sum>                the objects of that list
//	END                               the last segment in wal/, with its checksum
//
// <time> is followed by _<time> if the clock had been set back (see listTime).
// <sum> is the beginning of the SHA-256 of the stored bytes.
package backup
