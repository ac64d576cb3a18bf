// Package backend stores the bytes of objects, on disk or in an S3-compatible store, in the layout
// of storage-api's backends: <internal bucket>/<tenant>/<bucket>/<name>/<version>. A version is
// written once and never changes. It becomes visible when a row of storage.objects refers to it, so
// no reader sees a partial object.
package backend

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"
)

// Errors that callers distinguish.
var (
	// ErrNotFound says that the version, part or upload does not exist.
	ErrNotFound = errors.New("not found")
	// ErrInvalidKey says that the key is not valid in this backend, or would be outside its root.
	ErrInvalidKey = errors.New("invalid key")
	// ErrPart says that a part of a multipart upload is missing or has another ETag.
	ErrPart = errors.New("invalid part")
	// ErrUnavailable says that the store is away or refuses more requests for now.
	ErrUnavailable = errors.New("store not available")
)

// Key identifies one version of an object. Objects from before storage-api had versions have an
// empty Version.
type Key struct{ Bucket, Name, Version string }

// Options are stored with the bytes of a version.
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

// Part is one part of a multipart upload.
type Part struct {
	Number int
	ETag   string // as the client gets it from storage-api: in quotes on S3, without them on disk
	Size   int64
}

// Entry is a version, or a leftover file that belongs to no version.
type Entry struct {
	Key      Key
	Modified time.Time
}

// Backend stores versions. Its methods may be called from many goroutines. Their errors wrap the
// ones above.
type Backend interface {
	// Put stores a version. It returns when the bytes are durable. After an error, nothing is
	// stored at the key.
	Put(ctx context.Context, key Key, body io.Reader, o Options) (Meta, error)
	// Open reads length bytes from offset; a negative length reads to the end.
	Open(ctx context.Context, key Key, offset, length int64) (io.ReadCloser, error)
	// Head describes a version.
	Head(ctx context.Context, key Key) (Meta, error)
	// Copy copies a version. A nil o keeps the options of the source.
	Copy(ctx context.Context, from, to Key, o *Options) (Meta, error)
	// Delete removes versions and their upload descriptions. It ignores missing versions.
	Delete(ctx context.Context, keys ...Key) error
	// URL returns a URL from which imgproxy can read the version. It is valid for one minute.
	URL(ctx context.Context, key Key) (string, error)
	// Walk calls fn for every version, in any order. fn may delete versions.
	Walk(ctx context.Context, fn func(Entry) error) error
	// SweepTemporary removes files of interrupted writes that are older than before. It returns
	// their number.
	SweepTemporary(ctx context.Context, before time.Time) (int, error)
	// Mark returns the content that SetMark has stored, or ErrNotFound. The mark says whose the
	// files are. Walk does not list it.
	Mark(ctx context.Context) ([]byte, error)
	// SetMark replaces the mark as a whole, and returns when it is durable.
	SetMark(ctx context.Context, content []byte) error
	// MarkPlace returns the path or the URL of the mark, for messages.
	MarkPlace() string

	Multipart
	Resumable
}

// Multipart stores S3 multipart uploads.
type Multipart interface {
	CreateMultipart(ctx context.Context, key Key, o Options) (uploadID string, err error)
	PutPart(ctx context.Context, key Key, uploadID string, number int, body io.Reader, size int64) (Part, error)
	CopyPart(ctx context.Context, key Key, uploadID string, number int, from Key, offset, length int64) (Part,
		time.Time, error)
	CompleteMultipart(ctx context.Context, key Key, uploadID string, parts []Part) (Meta, error)
	AbortMultipart(ctx context.Context, key Key, uploadID string) error
}

// Resumable stores TUS uploads: bytes are appended at an offset until the announced length is
// reached. The caller must hold a lock on the key.
type Resumable interface {
	// Begin creates an empty upload with the description info, whose format the caller defines.
	Begin(ctx context.Context, key Key, o Options, info []byte) error
	// Info returns the description that Begin or SetInfo stored, and the number of durable bytes.
	Info(ctx context.Context, key Key) (info []byte, offset int64, err error)
	// SetInfo replaces the description.
	SetInfo(ctx context.Context, key Key, info []byte) error
	// Append writes at offset, which must be the number of durable bytes. It returns how many bytes
	// became durable, even if reading body failed. last reports whether the upload is complete
	// after n bytes of body.
	Append(ctx context.Context, key Key, offset int64, body io.Reader, last func(n int64) bool) (int64, error)
	// Finish turns a complete upload into a version.
	Finish(ctx context.Context, key Key) (Meta, error)
	// Discard deletes an unfinished upload.
	Discard(ctx context.Context, key Key) error
}

// withDefaults sets storage-api's defaults for empty fields.
func (o Options) withDefaults() Options {
	o.ContentType = cmp.Or(o.ContentType, "application/octet-stream")
	o.CacheControl = cmp.Or(o.CacheControl, "no-cache")
	return o
}
