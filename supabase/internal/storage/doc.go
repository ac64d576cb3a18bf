// Package storage is the file service: storage-api's wire (REST, TUS, S3) on storage-api's tables and object layout.
//
// objects knows buckets, objects and the order of steps that keeps rows and bytes in agreement; backend keeps the bytes;
// tus and s3 are the other two protocols; images renders. This package is the REST surface and puts the parts together.
// Of ours it imports db, keys and wire; only app and storage/standalone import it.
package storage
