package objects

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/wire"
)

// The errors of storage-api: status is its statusCode, the HTTP status is wire's business.

func named(status int, name, code, message string) *wire.Error {
	e := wire.Errorf(status, code, "%s", message)
	e.Details = wire.StorageDetails{Error: name}
	return e
}

// ErrNoBucket and the functions below each make one of storage-api's errors.
func ErrNoBucket() *wire.Error {
	return named(404, "Bucket not found", "NoSuchBucket", "Bucket not found")
}

// ErrNoKey: the object does not exist, or the caller may not know that it does.
func ErrNoKey() *wire.Error { return named(404, "not_found", "NoSuchKey", "Object not found") }

// ErrNoUpload: the multipart upload does not exist.
func ErrNoUpload() *wire.Error { return wire.Errorf(404, "NoSuchUpload", "Upload not found") }

// ErrBucketNotEmpty: only an empty bucket can be deleted.
func ErrBucketNotEmpty() *wire.Error {
	return wire.Errorf(409, "ResourceNotEmpty", "The bucket you tried to delete is not empty")
}

// ErrDenied: row level security or a grant refuses the caller.
func ErrDenied(message string) *wire.Error {
	return named(403, "Unauthorized", "AccessDenied", message)
}

// ErrInvalidKey: the name is none that storage-api accepts.
func ErrInvalidKey(key string) *wire.Error {
	return wire.Errorf(400, "InvalidKey", "Invalid key: %s", key)
}

// ErrInvalidBucketName: likewise for a bucket.
func ErrInvalidBucketName() *wire.Error {
	return named(400, "Invalid Input", "InvalidBucketName", "Bucket name invalid")
}

// ErrMimeType: the type is malformed or not among the bucket's.
func ErrMimeType(t string) *wire.Error {
	return named(415, "invalid_mime_type", "InvalidMimeType", "mime type "+t+" is not supported")
}

// ErrTooLarge: the object, or whatever entity is called, exceeds its limit.
func ErrTooLarge(entity string) *wire.Error {
	return named(413, "Payload too large", "EntityTooLarge", "The "+entity+" exceeded the maximum allowed size")
}

// ErrInvalidRequest: the request makes no sense.
func ErrInvalidRequest(message string) *wire.Error {
	return wire.Errorf(400, "InvalidRequest", "%s", message)
}

// ErrNoContent: an upload without a body, an update without a field.
func ErrNoContent() *wire.Error { return ErrInvalidRequest("No content provided") }

// ErrMissingParameter and ErrInvalidParameter name the parameter.
func ErrMissingParameter(name string) *wire.Error {
	return wire.Errorf(400, "MissingParameter", "Missing Required Parameter %s", name)
}

// ErrInvalidParameter: a parameter of the right name and the wrong value.
func ErrInvalidParameter(name string) *wire.Error {
	return wire.Errorf(400, "InvalidParameter", "Invalid Parameter %s", name)
}

// ErrInvalidJWT: a signed URL's token does not verify.
func ErrInvalidJWT(message string) *wire.Error { return wire.Errorf(400, "InvalidJWT", "%s", message) }

// ErrInvalidSignature: a valid token for something else.
func ErrInvalidSignature(message string) *wire.Error {
	return wire.Errorf(400, "InvalidSignature", "%s", message)
}

// ErrInvalidRange: the range lies outside of the object.
func ErrInvalidRange() *wire.Error {
	e := wire.Errorf(416, "InvalidRange", "invalid range provided")
	e.Details = wire.StorageDetails{Error: "invalid_range", Reply: 416}
	return e
}

// ErrLockTimeout: another writer holds the object.
func ErrLockTimeout() *wire.Error {
	return named(503, "acquiring_lock_timeout", "LockTimeout", "acquiring lock timeout")
}

// errNoRoom: the disk of the files or of the database is full. RFC 4918, 11.5.
func errNoRoom() *wire.Error {
	e := wire.Errorf(507, "InsufficientStorage", "There is no room left. Please try again later.")
	e.Details = wire.StorageDetails{Reply: 507}
	return e.WithHeader("Retry-After", retryRoom)
}

// retryRoom is after how many seconds a client may ask whether there is room again: somebody has to make it.
const retryRoom = "5"

// errUnavailable: the database is down, starting or stopping, or was while it was asked. S3 names the code so, and its
// clients try again.
func errUnavailable() *wire.Error {
	e := wire.Errorf(503, "ServiceUnavailable", "The database is not available. Please try again later.")
	e.Details = wire.StorageDetails{Reply: 503}
	return e.WithHeader("Retry-After", retryDatabase)
}

// errTimeout: the database is there and too busy.
func errTimeout() *wire.Error {
	e := wire.Errorf(544, "DatabaseTimeout", "The connection to the database timed out")
	e.Details = wire.StorageDetails{Reply: 544}
	return e.WithHeader("Retry-After", retryDatabase)
}

// retryDatabase is after how many seconds a client may ask a database again that comes back by itself.
const retryDatabase = "1"

func errExists(code string) *wire.Error {
	return named(409, "Duplicate", code, "The resource already exists")
}

// MapError turns what Postgres or the backend said into storage-api's error for it. Errors that are already such stay.
func MapError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := wire.AsError(err); ok {
		return err
	}
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return ErrNoKey().WithCause(err)
	case errors.Is(err, backend.ErrInvalidKey):
		_, key, _ := strings.Cut(err.Error(), ": ")
		return ErrInvalidKey(strings.Trim(key, `"`)).WithCause(err)
	case errors.Is(err, db.ErrUnavailable) && errors.Is(err, context.DeadlineExceeded):
		return errTimeout().WithCause(err)
	case errors.Is(err, db.ErrUnavailable):
		return errUnavailable().WithCause(err)
	}
	if db.IsDiskFull(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errNoRoom().WithCause(err)
	}
	pg, ok := db.AsPgError(err)
	if !ok {
		return err
	}
	var e *wire.Error
	switch pg.Code {
	case "42501":
		e = ErrDenied(pg.Message)
		if strings.Contains(pg.Message, "row-level security") {
			e.Message = "new row violates row-level security policy"
		}
	case "23505":
		e = errExists("ResourceAlreadyExists")
	case "23503":
		switch {
		case !strings.Contains(pg.Detail, "is still referenced from table"):
			e = wire.Errorf(404, "InvalidRequest", "The related resource does not exist")
		case strings.HasPrefix(pg.ConstraintName, "s3_multipart_uploads_"):
			e = wire.Errorf(409, "ResourceReferenced", "The bucket could not be updated because it is referenced by a pending multipart upload.")
		default:
			e = wire.Errorf(409, "ResourceReferenced", "The resource could not be updated or removed due to a foreign key constraint")
		}
	case "55P03":
		e = wire.Errorf(423, "ResourceLocked", "The resource is locked")
	case "57014":
		e = errTimeout()
	case "57P01", "57P02", "57P03": // it shuts down, crashed, or is starting
		e = errUnavailable()
	case "25006":
		e = wire.Errorf(503, "DatabaseReadOnly", "The database is currently in read-only mode. Please try again later.")
		e.Details = wire.StorageDetails{Reply: 503}
		e = e.WithHeader("Retry-After", retryRoom)
	case "25P02":
		e = wire.Errorf(500, "DatabaseTransactionAborted", "The database transaction has been aborted. Roll back the transaction before retrying.")
	case "42P17":
		e = wire.Errorf(503, "DatabaseInvalidObjectDefinition", "The database schema is invalid or incompatible.")
	case "22P02", "22021": // a value of another form; a NUL or broken UTF-8
		e = wire.Errorf(400, "InvalidParameter", "%s", pg.Message)
	case "42703", "42P01":
		e = wire.Errorf(503, "DatabaseSchemaMismatch", "The database schema is out of sync. Please run migrations or contact support.")
		if pg.InternalQuery != "" && pg.InternalPosition != 0 {
			e.Message = "There is a database schema mismatch in a trigger or RLS policy: " + pg.Where
		}
	case "53300":
		e = wire.Errorf(429, "SlowDown", "Too many connections issued to the database")
		e.Details = wire.StorageDetails{Error: "too_many_connections", Reply: 429}
		e = e.WithHeader("Retry-After", retryDatabase)
	default:
		e = wire.Errorf(500, "DatabaseError", "database error, code: %s", pg.Code)
		if strings.HasPrefix(pg.Code, "08") { // the connection failed
			e = errUnavailable()
		}
	}
	return e.WithCause(err)
}

// MapDatabase is MapError for what the database alone said: a connection that broke is its own there, and not that of a
// client or of the backend.
func MapDatabase(err error) error {
	err = MapError(err)
	if _, ok := wire.AsError(err); !ok && db.IsUnavailable(err) {
		return errUnavailable().WithCause(err)
	}
	return err
}

// isCode says whether err is storage-api's error of that code.
func isCode(err error, code string) bool {
	e, ok := wire.AsError(err)
	return ok && e.Code == code
}
