package objects

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/backend"

	"github.com/jackc/pgx/v5/pgconn"
)

// The errors of storage-api. The status given here is the body's statusCode; ErrorReply derives the
// HTTP status.

func named(status int, name, code, message string) *apierror.Error {
	e := apierror.Errorf(status, code, "%s", message)
	e.Details = ErrorDetails{Error: name}
	return e
}

// withReply makes status the HTTP status as well.
func withReply(e *apierror.Error, status int) *apierror.Error {
	e.Details = ErrorDetails{Reply: status}
	return e
}

// errNoBucket says that the bucket does not exist, or that the caller may not see it.
func errNoBucket() *apierror.Error {
	return named(404, "Bucket not found", "NoSuchBucket", "Bucket not found")
}

// ErrNoKey says that the object does not exist, or that the caller may not see it.
func ErrNoKey() *apierror.Error { return named(404, "not_found", "NoSuchKey", "Object not found") }

// errNoUpload says that the multipart upload does not exist.
func errNoUpload() *apierror.Error { return apierror.Errorf(404, "NoSuchUpload", "Upload not found") }

// errBucketNotEmpty says that the bucket cannot be deleted because it has objects.
func errBucketNotEmpty() *apierror.Error {
	return apierror.Errorf(409, "ResourceNotEmpty", "The bucket you tried to delete is not empty")
}

// ErrDenied says that row level security or a missing grant refused the caller.
func ErrDenied(message string) *apierror.Error {
	return named(403, "Unauthorized", "AccessDenied", message)
}

// ErrInvalidKey says that storage-api does not accept the object name.
func ErrInvalidKey(key string) *apierror.Error {
	return apierror.Errorf(400, "InvalidKey", "Invalid key: %s", key)
}

// ErrInvalidBucketName says that storage-api does not accept the bucket name.
func ErrInvalidBucketName() *apierror.Error {
	return named(400, "Invalid Input", "InvalidBucketName", "Bucket name invalid")
}

// ErrMimeType says that the MIME type is malformed or that the bucket does not allow it.
func ErrMimeType(t string) *apierror.Error {
	return named(415, "invalid_mime_type", "InvalidMimeType", "mime type "+t+" is not supported")
}

// ErrTooLarge says that the entity, usually the object, exceeds its size limit.
func ErrTooLarge(entity string) *apierror.Error {
	return named(413, "Payload too large", "EntityTooLarge", "The "+entity+" exceeded the maximum allowed size")
}

// ErrInvalidRequest says that the request is invalid.
func ErrInvalidRequest(message string) *apierror.Error {
	return apierror.Errorf(400, "InvalidRequest", "%s", message)
}

// ErrNoContent says that an upload has no body or an update has no field.
func ErrNoContent() *apierror.Error { return ErrInvalidRequest("No content provided") }

// ErrMissingParameter says that the named parameter is missing.
func ErrMissingParameter(name string) *apierror.Error {
	return apierror.Errorf(400, "MissingParameter", "Missing Required Parameter %s", name)
}

// ErrInvalidParameter says that the named parameter has an invalid value.
func ErrInvalidParameter(name string) *apierror.Error {
	return apierror.Errorf(400, "InvalidParameter", "Invalid Parameter %s", name)
}

// errInvalidJWT says that the token of a signed URL is not valid.
func errInvalidJWT(message string) *apierror.Error {
	return apierror.Errorf(400, "InvalidJWT", "%s", message)
}

// ErrInvalidSignature says that the token of a signed URL is valid, but for another object or
// scope.
func ErrInvalidSignature(message string) *apierror.Error {
	return apierror.Errorf(400, "InvalidSignature", "%s", message)
}

// errInvalidRange says that the range is outside the object.
func errInvalidRange() *apierror.Error {
	e := apierror.Errorf(416, "InvalidRange", "invalid range provided")
	e.Details = ErrorDetails{Error: "invalid_range", Reply: 416}
	return e
}

// ErrLockTimeout says that another writer holds the lock of the object.
func ErrLockTimeout() *apierror.Error {
	return named(503, "acquiring_lock_timeout", "LockTimeout", "acquiring lock timeout")
}

// Values of Retry-After, in seconds.
const (
	retryDisk     = "5" // a full disk needs an administrator
	retryDatabase = "1" // a stopped or busy database usually recovers by itself
)

// errDiskFull says that the disk of the files or of the database is full (RFC 4918, section 11.5).
func errDiskFull() *apierror.Error {
	e := apierror.Errorf(507, "InsufficientStorage", "The server has no storage space left. Please try again later.")
	return withReply(e, 507).WithHeader("Retry-After", retryDisk)
}

// errUnavailable says that the database is stopped, starting or stopping, or stopped during a
// query, or that the store of the files is away. S3 clients retry on this code.
func errUnavailable(what string) *apierror.Error {
	e := apierror.Errorf(503, "ServiceUnavailable", "The %s is not available. Please try again later.", what)
	return withReply(e, 503).WithHeader("Retry-After", retryDatabase)
}

// errTimeout says that the database runs, but is too busy.
func errTimeout() *apierror.Error {
	e := apierror.Errorf(544, "DatabaseTimeout", "The connection to the database timed out")
	return withReply(e, 544).WithHeader("Retry-After", retryDatabase)
}

// errReadOnly says that the database accepts no writes.
func errReadOnly() *apierror.Error {
	e := apierror.Errorf(503, "DatabaseReadOnly",
		"The database is currently in read-only mode. Please try again later.")
	return withReply(e, 503).WithHeader("Retry-After", retryDisk)
}

func errTooManyConnections() *apierror.Error {
	e := apierror.Errorf(429, "SlowDown", "Too many connections issued to the database")
	e.Details = ErrorDetails{Error: "too_many_connections", Reply: 429}
	return e.WithHeader("Retry-After", retryDatabase)
}

func errExists(code string) *apierror.Error {
	return named(409, "Duplicate", code, "The resource already exists")
}

// MapError returns storage-api's error for an error of Postgres or of the backend. It returns a
// apierror.Error unchanged, and every other error too.
func MapError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := apierror.AsError(err); ok {
		return err
	}
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return ErrNoKey().WithCause(err)
	case errors.Is(err, backend.ErrInvalidKey):
		_, key, _ := strings.Cut(err.Error(), ": ")
		return ErrInvalidKey(strings.Trim(key, `"`)).WithCause(err)
	case errors.Is(err, backend.ErrUnavailable):
		return errUnavailable("store of the files").WithCause(err)
	case errors.Is(err, pool.ErrUnavailable) && errors.Is(err, context.DeadlineExceeded):
		return errTimeout().WithCause(err)
	case errors.Is(err, pool.ErrUnavailable):
		return errUnavailable("database").WithCause(err)
	}
	if pool.IsDiskFull(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errDiskFull().WithCause(err)
	}
	if pg, ok := pool.AsPgError(err); ok {
		return mapPostgres(pg).WithCause(err)
	}
	return err
}

// mapPostgres returns storage-api's error for an SQLSTATE.
func mapPostgres(pg *pgconn.PgError) *apierror.Error {
	switch pg.Code {
	case "42501": // insufficient_privilege
		e := ErrDenied(pg.Message)
		if strings.Contains(pg.Message, "row-level security") {
			e.Message = "new row violates row-level security policy"
		}
		return e
	case "23505": // unique_violation
		return errExists("ResourceAlreadyExists")
	case "23503": // foreign_key_violation
		return mapForeignKey(pg)
	case "55P03": // lock_not_available
		return apierror.Errorf(423, "ResourceLocked", "The resource is locked")
	case "57014": // query_canceled
		return errTimeout()
	case "57P01", "57P02", "57P03": // admin_shutdown, crash_shutdown, cannot_connect_now
		return errUnavailable("database")
	case "25006": // read_only_sql_transaction
		return errReadOnly()
	case "25P02": // in_failed_sql_transaction
		return apierror.Errorf(500, "DatabaseTransactionAborted",
			"The database transaction has been aborted. Roll back the transaction before retrying.")
	case "42P17": // invalid_object_definition
		return apierror.Errorf(503, "DatabaseInvalidObjectDefinition",
			"The database schema is invalid or incompatible.")
	case "22P02", "22021": // invalid_text_representation, character_not_in_repertoire
		return apierror.Errorf(400, "InvalidParameter", "%s", pg.Message)
	case "42703", "42P01": // undefined_column, undefined_table
		return mapSchemaMismatch(pg)
	case "53300": // too_many_connections
		return errTooManyConnections()
	}
	if strings.HasPrefix(pg.Code, "08") { // connection_exception
		return errUnavailable("database")
	}
	return apierror.Errorf(500, "DatabaseError", "database error, code: %s", pg.Code)
}

func mapForeignKey(pg *pgconn.PgError) *apierror.Error {
	switch {
	case !strings.Contains(pg.Detail, "is still referenced from table"):
		return apierror.Errorf(404, "InvalidRequest", "The related resource does not exist")
	case strings.HasPrefix(pg.ConstraintName, "s3_multipart_uploads_"):
		return apierror.Errorf(409, "ResourceReferenced",
			"The bucket could not be updated because it is referenced by a pending multipart upload.")
	}
	return apierror.Errorf(409, "ResourceReferenced",
		"The resource could not be updated or removed due to a foreign key constraint")
}

func mapSchemaMismatch(pg *pgconn.PgError) *apierror.Error {
	e := apierror.Errorf(503, "DatabaseSchemaMismatch",
		"The database schema is out of sync. Please run migrations or contact support.")
	if pg.InternalQuery != "" && pg.InternalPosition != 0 {
		e.Message = "There is a database schema mismatch in a trigger or RLS policy: " + pg.Where
	}
	return e
}

// MapDatabase is MapError for errors that can only come from the database. It therefore also maps a
// broken connection, which MapError cannot tell from a broken connection to a client or the
// backend.
func MapDatabase(err error) error {
	err = MapError(err)
	if _, ok := apierror.AsError(err); !ok && pool.IsUnavailable(err) {
		return errUnavailable("database").WithCause(err)
	}
	return err
}

// isCode reports whether err is storage-api's error with this code.
func isCode(err error, code string) bool {
	e, ok := apierror.AsError(err)
	return ok && e.Code == code
}
