// Package backend keeps the bytes of objects, on disk or in an S3-compatible store, in the layout of storage-api's own
// backends: <internal bucket>/<tenant>/<bucket>/<name>/<version>. A version is written once and never changed, and it
// counts only when a row of storage.objects names it, so a write has no moment at which half an object can be seen.
//
// Only app and storage import it; it imports nothing of ours.
package backend

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors that callers tell apart.
var (
	// ErrNotFound: no such version, part or upload.
	ErrNotFound = errors.New("not found")
	// ErrInvalidKey: the name cannot be a key of this backend, or would leave its root.
	ErrInvalidKey = errors.New("invalid key")
	// ErrPart: a part of a multipart upload is missing or is not the one that was uploaded.
	ErrPart = errors.New("invalid part")
)

// Key names one version of an object. Version may be empty for objects older than versions.
type Key struct{ Bucket, Name, Version string }

// Options are what a version carries beside its bytes.
type Options struct {
	ContentType  string // "" means application/octet-stream
	CacheControl string // "" means no-cache
}

// Meta describes a stored version.
type Meta struct {
	Size         int64
	ETag         string // quoted, as in the HTTP header
	ContentType  string
	CacheControl string
	Modified     time.Time
}

// Part is one part of a multipart upload; ETag is unquoted hexadecimal.
type Part struct {
	Number int
	ETag   string
	Size   int64
}

// Entry is what Walk finds: a version, or a leftover that no version needs.
type Entry struct {
	Key      Key
	Modified time.Time
	Size     int64
}

// Backend stores versions. Its methods may be called from many goroutines; errors wrap the ones above.
type Backend interface {
	// Put stores a version. It returns only when the bytes are durable; on an error nothing is left at the key.
	Put(ctx context.Context, key Key, body io.Reader, o Options) (Meta, error)
	// Open reads length bytes from offset; a negative length reads to the end.
	Open(ctx context.Context, key Key, offset, length int64) (io.ReadCloser, error)
	// Head describes a version.
	Head(ctx context.Context, key Key) (Meta, error)
	// Copy makes a version from another one. A nil o keeps the options of the source.
	Copy(ctx context.Context, from, to Key, o *Options) (Meta, error)
	// Delete removes versions and what belongs to them; missing ones are no error.
	Delete(ctx context.Context, keys ...Key) error
	// URL is an address under which imgproxy can read the version, good for a minute.
	URL(ctx context.Context, key Key) (string, error)
	// Walk calls fn for every version, in no order. fn may delete.
	Walk(ctx context.Context, fn func(Entry) error) error
	// SweepTemporary removes what interrupted writes left outside of any key and that is older than before.
	SweepTemporary(ctx context.Context, before time.Time) (int, error)

	Multipart
	Resumable
}

// Multipart is S3's way of uploading.
type Multipart interface {
	CreateMultipart(ctx context.Context, key Key, o Options) (uploadID string, err error)
	PutPart(ctx context.Context, key Key, uploadID string, number int, body io.Reader, size int64) (Part, error)
	CopyPart(ctx context.Context, key Key, uploadID string, number int, from Key, offset, length int64) (Part, time.Time, error)
	CompleteMultipart(ctx context.Context, key Key, uploadID string, parts []Part) (Meta, error)
	AbortMultipart(ctx context.Context, key Key, uploadID string) error
}

// Resumable is TUS's way of uploading: bytes are appended at an offset until the announced length is reached. Callers
// hold a lock on the key.
type Resumable interface {
	// Begin makes an empty upload described by info, whose form is the caller's.
	Begin(ctx context.Context, key Key, o Options, info []byte) error
	// Info gives back what Begin or SetInfo stored, and how many bytes are durable.
	Info(ctx context.Context, key Key) (info []byte, offset int64, err error)
	// SetInfo replaces the description.
	SetInfo(ctx context.Context, key Key, info []byte) error
	// Append writes at offset, which must be the present one, and returns how many bytes became durable, also when body
	// broke off with an error. last says that the upload is complete when body ends.
	Append(ctx context.Context, key Key, offset int64, body io.Reader, last func(n int64) bool) (int64, error)
	// Finish turns a complete upload into a version.
	Finish(ctx context.Context, key Key) (Meta, error)
	// Discard forgets an unfinished upload.
	Discard(ctx context.Context, key Key) error
}

// withDefaults fills what the caller left open, as storage-api does.
func (o Options) withDefaults() Options {
	if o.ContentType == "" {
		o.ContentType = "application/octet-stream"
	}
	if o.CacheControl == "" {
		o.CacheControl = "no-cache"
	}
	return o
}
