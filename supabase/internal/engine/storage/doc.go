// Package storage implements the API of storage-api (REST, TUS and S3) on storage-api's tables and
// object layout.
//
// Package objects handles buckets, objects and the order of steps that keeps rows and bytes
// consistent; backend stores the bytes; tus and s3 implement the other two protocols; images
// renders pictures. This package implements the REST API and connects the parts.
package storage
