// Package tus implements the resumable upload protocol of storage-api: tus.io version 1.0.0 with
// creation, creation-with-upload, termination and expiration.
//
// The id of an upload is bucket/name/version in base64url. Its description and its bytes are in the
// backend and its lock is in Postgres, so any replica can serve any of its requests.
package tus

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"

	"github.com/jackc/pgx/v5/pgxpool"
)

const version = "1.0.0"

// Config configures a Handler.
type Config struct {
	Store   *objects.Store
	Pool    *pgxpool.Pool // of the database that keeps the locks
	MaxSize int64         // announced to clients
	Expiry  time.Duration // lifetime of an unfinished upload
	// AnnounceExpiry sends Upload-Expires, as storage-api does with its S3 backend only.
	AnnounceExpiry bool
	// Location returns the absolute URL of an upload.
	Location func(r *http.Request, signed bool, id string) string
	Log      *slog.Logger
	Now      func() time.Time
}

// Handler serves the endpoint. The package that calls it has authenticated the request.
type Handler struct {
	Config
	locks *locker
}

// New returns a Handler.
func New(c Config) *Handler {
	return &Handler{Config: c, locks: newLocker(c.Pool, c.Log)}
}

// Close releases the locks.
func (h *Handler) Close() { h.locks.close() }

// Request is an authenticated request.
type Request struct {
	Caller objects.Caller
	Owner  string
	Upsert bool
	Signed bool   // the path is below /sign: X-Signature replaces the JWT
	Path   string // rest of the path after the endpoint: "" or "/<id>"
}

// info is the description of an upload, in the form of storage-api's file store.
type info struct {
	ID       string             `json:"id"`
	Size     *int64             `json:"size,omitempty"`
	Offset   int64              `json:"offset"`
	Metadata map[string]*string `json:"metadata"`
	Created  time.Time          `json:"creation_date"`
	Owner    string             `json:"owner,omitempty"`  // subject of the user who created the upload
	Upsert   bool               `json:"upsert,omitempty"` // it may replace an object
	// Completed says that the row of the object has been written.
	Completed bool `json:"completed,omitempty"`
}

// text returns a metadata value, or "" if it is missing.
func (i *info) text(name string) string {
	if v := i.Metadata[name]; v != nil {
		return *v
	}
	return ""
}

// protocolError is an error of the TUS protocol: plain text with a real HTTP status.
type protocolError struct {
	status int
	body   string
}

func (e *protocolError) Error() string { return strings.TrimSpace(e.body) }

var (
	errNoVersion     = &protocolError{412, "Tus-Resumable Required\n"}
	errOffset        = &protocolError{409, "Upload-Offset conflict\n"}
	errMissingOffset = &protocolError{403, "Upload-Offset header required\n"}
	errContentType   = &protocolError{403, "Content-Type header required\n"}
	errLength        = &protocolError{400, "Upload-Length or Upload-Defer-Length header required\n"}
	errMaxSize       = &protocolError{413, "Maximum size exceeded\n"}
	errSize          = &protocolError{413, "upload's size exceeded\n"}
	errNotFound      = &protocolError{404, "The file for this url was not found\n"}
	errGone          = &protocolError{410, "The file for this url no longer exists\n"}
	errTerminate     = &protocolError{400, "Cannot terminate an already completed upload\n"}
	errMetadata      = &protocolError{400,
		"Upload-Metadata is invalid. It MUST consist of one or more comma-separated key-value pairs. The key and " +
			"value MUST be separated by a space. The key MUST NOT contain spaces and commas and MUST NOT be empty. " +
			"The key SHOULD be ASCII encoded and the value MUST be Base64 encoded. All keys MUST be unique"}
	// clients then query the offset and continue
	errDisplaced = &protocolError{423, "Another request took over the upload\n"}
	errConcat    = &protocolError{400, // storage-api says 501, which tus-js-client sends again
		"Concatenation extension is not (yet) supported. Disable parallel uploads in the tus client.\n"}
	errMethod = &protocolError{404, "Not found\n"}
)

// protocolHeaders lists the headers of the protocol. Browser clients must be able to send and to
// read them.
const protocolHeaders = "Authorization, Content-Type, Location, Tus-Extension, Tus-Max-Size, Tus-Resumable, " +
	"Tus-Version, Upload-Concat, Upload-Defer-Length, Upload-Length, Upload-Metadata, Upload-Offset, " +
	"X-HTTP-Method-Override, X-Requested-With, X-Forwarded-Host, X-Forwarded-Proto, Forwarded"

// ServeTUS serves one request.
func (h *Handler) ServeTUS(w http.ResponseWriter, r *http.Request, q Request) {
	header := w.Header()
	header.Set("Tus-Resumable", version)
	if err := h.serve(w, r, q); err != nil {
		h.fail(w, r, err)
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, q Request) error {
	if r.Method != http.MethodOptions {
		if r.Header.Get("Tus-Resumable") == "" {
			return errNoVersion
		}
		if err := checkHeaders(r); err != nil {
			return err
		}
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", protocolHeaders+",") // with storage-api's empty last element
	switch r.Method {
	case http.MethodOptions:
		h.options(w)
		return nil
	case http.MethodPost:
		return h.create(w, r, q)
	case http.MethodHead:
		return h.head(w, r, q)
	case http.MethodPatch:
		return h.patch(w, r, q)
	case http.MethodDelete:
		return h.terminate(w, r, q)
	}
	return errMethod
}

func (h *Handler) options(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Tus-Version", version)
	header.Set("Tus-Extension", "creation,creation-with-upload,creation-defer-length,termination,expiration")
	header.Set("Tus-Max-Size", strconv.FormatInt(h.MaxSize, 10))
	header.Set("Access-Control-Allow-Methods", "POST, HEAD, PATCH, OPTIONS, DELETE")
	header.Set("Access-Control-Allow-Headers", protocolHeaders+
		", Authorization, X-Upsert, Upload-Expires, ApiKey, x-signature")
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// textType is the type of all replies that may have a body.
const textType = "text/plain;charset=UTF-8"

// fail sends an error as plain text with a real HTTP status.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusInternalServerError, "Something went wrong with that request\n"
	var protocol *protocolError
	err = objects.MapError(err)
	switch e, ok := apierror.AsError(err); {
	case errors.As(err, &protocol):
		status, text = protocol.status, protocol.body
	case ok:
		status, text = e.Status, e.Message
	case errors.Is(err, errLocked):
		status, text = http.StatusServiceUnavailable, objects.ErrLockTimeout().Message
	}
	if status >= 500 && r.Context().Err() == nil {
		h.Log.ErrorContext(r.Context(), "storage: resumable upload failed", "method", r.Method, "error", err)
	}
	header := w.Header()
	if e, ok := apierror.AsError(err); ok {
		maps.Copy(header, e.Header)
	}
	header.Set("Content-Type", textType)
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// open returns the upload that the path names, with its offset.
func (h *Handler) open(ctx context.Context, q Request) (key backend.Key, up info, offset int64, err error) {
	if key, err = decodeID(strings.TrimPrefix(q.Path, "/")); err != nil {
		return key, up, 0, err
	}
	raw, offset, err := h.Store.Backend.Info(ctx, key)
	if errors.Is(err, backend.ErrNotFound) || errors.Is(err, backend.ErrInvalidKey) {
		return key, up, 0, errNotFound
	}
	if err != nil {
		return key, up, 0, err
	}
	if err := json.Unmarshal(raw, &up); err != nil {
		return key, up, 0, fmt.Errorf("upload description: %w", err)
	}
	if h.expired(up, offset) {
		return key, up, 0, errGone
	}
	return key, up, offset, nil
}

// expired reports whether the upload is unfinished and its lifetime has passed.
func (h *Handler) expired(up info, offset int64) bool {
	return (up.Size == nil || offset < *up.Size) && !h.Now().Before(up.Created.Add(h.Expiry))
}

// authorize returns an error if the caller may not write the object. The token of a signed URL
// permits it and sets owner and upsert.
func (h *Handler) authorize(ctx context.Context, q *Request, r *http.Request, key backend.Key, up info) error {
	if q.Signed {
		token := r.Header.Get("X-Signature")
		if token == "" {
			return objects.ErrInvalidSignature("Missing x-signature header")
		}
		u, err := h.Store.Signer.Verify(token, key.Bucket, key.Name, objects.ScopeUpload)
		if err != nil {
			return err
		}
		q.Owner, q.Upsert = u.Owner, u.Upsert != nil && *u.Upsert
		return nil
	}
	if r.Method == http.MethodHead {
		return nil
	}
	u, err := q.upload(key, up)
	if err != nil {
		return err
	}
	return h.Store.CanUpload(ctx, q.Caller, u)
}

// upload returns the upload with which the caller's permissions are checked.
func (q Request) upload(key backend.Key, up info) (objects.Upload, error) {
	user, err := objects.UserMetadata([]byte(up.text("metadata")))
	return objects.Upload{Bucket: key.Bucket, Name: key.Name, Owner: q.Owner, Upsert: q.Upsert, UserMetadata: user,
		Declared: objects.Declared{MimeType: up.text("contentType"), Length: up.Size}}, err
}

// setExpires sets Upload-Expires for an unfinished upload.
func (h *Handler) setExpires(header http.Header, up info, offset int64) {
	if h.AnnounceExpiry && (up.Size == nil || offset < *up.Size) {
		header.Set("Upload-Expires", up.Created.Add(h.Expiry).UTC().Format(http.TimeFormat))
	}
}

// head handles HEAD: it reports the offset, and completes an upload whose bytes are all stored.
func (h *Handler) head(w http.ResponseWriter, r *http.Request, q Request) error {
	key, up, _, err := h.open(r.Context(), q)
	if err != nil {
		return err
	}
	if err := h.authorize(r.Context(), &q, r, key, up); err != nil {
		return err
	}
	// The previous request of the client may still be writing, so wait for the lock before reading
	// the offset.
	_, release, err := h.locks.acquire(r.Context(), objects.LockKey(key.Bucket, key.Name, key.Version))
	if err != nil {
		return err
	}
	defer release()
	_, up, offset, err := h.open(r.Context(), q)
	if err != nil {
		return err
	}
	// A client that sees the full length is done, so the object must exist before the reply. After
	// a crash or a lost connection it may not exist yet.
	if up.Size != nil && offset == *up.Size {
		q.Upsert = q.Upsert || up.Upsert // not all clients repeat the header
		if err := h.complete(r.Context(), q, key, up); err != nil {
			return err
		}
	}
	header := w.Header()
	header.Set("Upload-Offset", strconv.FormatInt(offset, 10))
	if up.Size != nil {
		header.Set("Upload-Length", strconv.FormatInt(*up.Size, 10))
	} else {
		header.Set("Upload-Defer-Length", "1")
	}
	if m := formatMetadata(up.Metadata); m != "" {
		header.Set("Upload-Metadata", m)
	}
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", textType)
	w.WriteHeader(http.StatusOK)
	return nil
}

// patch handles PATCH: it appends bytes.
func (h *Handler) patch(w http.ResponseWriter, r *http.Request, q Request) error {
	ctx := r.Context()
	sent := r.Header.Get("Upload-Offset")
	if sent == "" {
		return errMissingOffset
	}
	at, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || at < 0 {
		return errMissingOffset
	}
	if r.Header.Get("Content-Type") == "" {
		return errContentType
	}
	key, up, _, err := h.open(ctx, q)
	if err != nil {
		return err
	}
	if err := h.authorize(ctx, &q, r, key, up); err != nil {
		return err
	}
	offset, err := h.write(ctx, w, r, q, key, up, at)
	if err != nil {
		return err
	}
	w.Header().Set("Upload-Offset", strconv.FormatInt(offset, 10))
	h.setExpires(w.Header(), up, offset)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// terminate handles DELETE.
func (h *Handler) terminate(w http.ResponseWriter, r *http.Request, q Request) error {
	ctx := r.Context()
	key, up, _, err := h.open(ctx, q)
	if err != nil {
		return err
	}
	if err := h.authorize(ctx, &q, r, key, up); err != nil {
		return err
	}
	_, release, err := h.locks.acquire(ctx, objects.LockKey(key.Bucket, key.Name, key.Version))
	if err != nil {
		return err
	}
	defer release()
	// The previous holder of the lock may have completed the upload.
	_, up, offset, err := h.open(ctx, q)
	if err != nil {
		return err
	}
	if up.Size != nil && offset == *up.Size {
		return errTerminate
	}
	if err := h.Store.Backend.Discard(ctx, key); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func encodeID(k backend.Key) string {
	return base64.RawURLEncoding.EncodeToString([]byte(k.Bucket + "/" + k.Name + "/" + k.Version))
}

// decodeID decodes bucket/name/version. Only the name can contain slashes.
func decodeID(id string) (backend.Key, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(id, "="))
	if id == "" {
		return backend.Key{}, errNotFound
	}
	bucket, rest, ok := strings.Cut(string(raw), "/")
	at := strings.LastIndexByte(rest, '/')
	if err != nil || !ok || at < 0 {
		return backend.Key{}, apierror.Errorf(400, "InvalidUploadId", "Invalid upload id")
	}
	k := backend.Key{Bucket: bucket, Name: rest[:at], Version: rest[at+1:]}
	if err := objects.CheckBucketName(k.Bucket); err != nil {
		return k, err
	}
	if err := objects.CheckName(k.Name); err != nil {
		return k, err
	}
	if k.Version == "" {
		return k, apierror.Errorf(400, "InvalidUploadId", "Version not provided")
	}
	return k, nil
}

func formatKey(key int64) string { return strconv.FormatInt(key, 10) }
