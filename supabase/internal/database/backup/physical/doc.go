// Package physical backs an installation up byte by byte and restores it to a moment. A backup
// consists of base backups, taken over the replication protocol, archived WAL segments, and files
// such as storage's objects. The place is a folder or an S3 bucket. With a recipient, backups are
// encrypted with age. Package logical exports and imports rows instead.
//
// Backup, once per Options.Every:
//
//	lock the installation's backups
//	copy the files that the store lacks
//	count the rows of each table
//	stream the cluster from Postgres into base/<id>/base.tar
//	count the rows again; copy the files again and store their list
//	restore this backup from the store into a folder of its own, start Postgres on it,
//	    check tables and indexes, count the rows; read the files that this backup has stored
//	compare the restored counts with those before and after
//	write the manifest: only now the backup counts
//	delete backups beyond Options.Keep, and WAL and files that no kept backup needs
//
// Between backups, every ten seconds: store the archived WAL segments, then the changed files.
//
// Restore to a moment:
//
//	choose the newest backup that ended before the moment, on the newest branch of the WAL
//	extract it next to the final folder and compare it with Postgres' own manifest
//	fetch the WAL from there up to the next backup; start Postgres, which replays it up to the
//	    moment; check the cluster
//	restore the files of that moment
//	rename the cluster to its final folder; after an error nothing is left
//
// A store contains:
//
//	SYSTEM                            the system identifier of the cluster
//	WRITER                            the id of the installation that writes, renewed (see take)
//	base/<id>/base.tar.zst[.age]      the cluster, with the WAL that makes it consistent
//	base/<id>/details.json.zst[.age]  checksums and row counts for the test restore
//	base/<id>/manifest-<sum>.json     written last: a backup without it does not count
//	wal/<segment>-<sum>.zst[.age]     the WAL, one object per segment
//	files/<name>-<sum>.zst[.age]      files, each content once, named by its keyed hash
//	lists/<time>-<sum>.zst[.age]      the files that existed at that time
//	needs/<time>-<sum>                the objects of that list
//	END                               the last segment in wal/, with its checksum
//
// <time> is followed by _<time> if the clock had been set back (see listTime). <sum> is the
// beginning of the SHA-256 of the stored bytes.
package physical
