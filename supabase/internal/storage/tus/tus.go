// Package tus is the resumable upload protocol (tus.io, version 1.0.0, with creation, creation-with-upload, termination
// and expiration) as storage-api speaks it.
//
// An upload's id is bucket/name/version in base64url; its description and its bytes are in the backend, its lock in
// Postgres, so that any replica may serve any request of it. Of ours it imports db,
// storage/backend, storage/objects and wire; only storage imports it.
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
	"regexp"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/wire"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

const version = "1.0.0"

// Config makes a Handler.
type Config struct {
	Store   *objects.Store
	Pool    *pgxpool.Pool // whose server keeps the locks
	MaxSize int64         // announced to clients
	Expiry  time.Duration // of an unfinished upload
	// Location gives the absolute address of an upload.
	Location func(r *http.Request, signed bool, id string) string
	Log      *slog.Logger
	Now      func() time.Time
}

// Handler serves one endpoint. The caller has established who asks.
type Handler struct {
	Config
	locks *locker
}

// New makes a Handler.
func New(c Config) *Handler {
	return &Handler{Config: c, locks: newLocker(c.Pool, c.Log)}
}

// Close lets go of the locks.
func (h *Handler) Close() { h.locks.close() }

// Request is who asks for what. Path is what follows the endpoint, "" or "/<id>".
type Request struct {
	Caller objects.Caller
	Owner  string
	Upsert bool
	Signed bool // below /sign: X-Signature instead of a token
	Path   string
}

// info is the description of an upload, in the form of storage-api's file store.
type info struct {
	ID       string             `json:"id"`
	Size     *int64             `json:"size,omitempty"`
	Offset   int64              `json:"offset"`
	Metadata map[string]*string `json:"metadata"`
	Created  time.Time          `json:"creation_date"`
	Owner    string             `json:"owner,omitempty"` // who began it, for the row
	// Completed: a row has named it.
	Completed bool `json:"completed,omitempty"`
}

func (i *info) text(name string) string {
	if v := i.Metadata[name]; v != nil {
		return *v
	}
	return ""
}

// fault is an error of the protocol itself: plain text and a real status.
type fault struct {
	status int
	body   string
}

func (f *fault) Error() string { return strings.TrimSpace(f.body) }

var (
	errNoVersion     = &fault{412, "Tus-Resumable Required\n"}
	errOffset        = &fault{409, "Upload-Offset conflict\n"}
	errMissingOffset = &fault{403, "Upload-Offset header required\n"}
	errContentType   = &fault{403, "Content-Type header required\n"}
	errLength        = &fault{400, "Upload-Length or Upload-Defer-Length header required\n"}
	errMaxSize       = &fault{413, "Maximum size exceeded\n"}
	errSize          = &fault{413, "upload's size exceeded\n"}
	errNotFound      = &fault{404, "The file for this url was not found\n"}
	errGone          = &fault{410, "The file for this url no longer exists\n"}
	errTerminate     = &fault{400, "Cannot terminate an already completed upload\n"}
	errMetadata      = &fault{400, "Upload-Metadata is invalid. It MUST consist of one or more comma-separated key-value pairs. The key and value MUST be separated by a space. The key MUST NOT contain spaces and commas and MUST NOT be empty. The key SHOULD be ASCII encoded and the value MUST be Base64 encoded. All keys MUST be unique"}
	errDisplaced     = &fault{423, "Another request took over the upload\n"} // clients ask for the offset and go on
	errMethod        = &fault{404, "Not found\n"}
)

// exposed are the headers that a browser's client must be able to read.
const exposed = "Authorization, Content-Type, Location, Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Concat, Upload-Defer-Length, Upload-Length, Upload-Metadata, Upload-Offset, X-HTTP-Method-Override, X-Requested-With, X-Forwarded-Host, X-Forwarded-Proto, Forwarded"

// ServeTUS answers one request.
func (h *Handler) ServeTUS(w http.ResponseWriter, r *http.Request, q Request) {
	header := w.Header()
	header.Set("Tus-Resumable", version)
	header.Set("Access-Control-Expose-Headers", exposed)
	header.Set("Access-Control-Allow-Origin", "*")
	if origin := r.Header.Get("Origin"); origin != "" {
		header.Set("Access-Control-Allow-Origin", origin)
	}
	header.Set("Cache-Control", "no-store")
	if err := h.serve(w, r, q); err != nil {
		h.fail(w, r, err)
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, q Request) error {
	if r.Method == http.MethodOptions {
		h.options(w)
		return nil
	}
	if r.Header.Get("Tus-Resumable") == "" {
		return errNoVersion
	}
	if err := checkHeaders(r); err != nil {
		return err
	}
	switch r.Method {
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
	header.Set("Access-Control-Allow-Headers", exposed+", X-Upsert, Upload-Expires, ApiKey, x-signature")
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// fail answers in plain text with the real status.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusInternalServerError, "Something went wrong with that request\n"
	var f *fault
	err = objects.MapError(err) // what the backend said
	switch e, ok := wire.AsError(err); {
	case errors.As(err, &f):
		status, text = f.status, f.body
	case ok:
		status, text = e.Status, e.Message
	case errors.Is(err, errLocked):
		status, text = http.StatusServiceUnavailable, objects.ErrLockTimeout().Message
	}
	if status >= 500 && r.Context().Err() == nil {
		h.Log.ErrorContext(r.Context(), "storage: resumable upload failed", "method", r.Method, "error", err)
	}
	header := w.Header()
	if e, ok := wire.AsError(err); ok {
		maps.Copy(header, e.Header)
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// open finds the upload of a path.
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
		return key, up, 0, fmt.Errorf("description of an upload: %w", err)
	}
	if h.expired(up, offset) {
		return key, up, 0, errGone
	}
	return key, up, offset, nil
}

func (h *Handler) expired(up info, offset int64) bool {
	return (up.Size == nil || offset < *up.Size) && !h.Now().Before(up.Created.Add(h.Expiry))
}

// allowed asks whether the caller may write the object; the holder of a signed URL may.
func (h *Handler) allowed(ctx context.Context, q *Request, r *http.Request, key backend.Key, up info) error {
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
	return h.Store.CanUpload(ctx, q.Caller, objects.Upload{Bucket: key.Bucket, Name: key.Name, Owner: q.Owner, Upsert: q.Upsert,
		UserMetadata: userMetadata(up), Declared: objects.Declared{MimeType: up.text("contentType"), Length: up.Size}})
}

func userMetadata(up info) json.RawMessage {
	var doc map[string]json.RawMessage
	raw := []byte(up.text("metadata"))
	if json.Unmarshal(raw, &doc) != nil || doc == nil {
		return nil
	}
	return raw
}

func (h *Handler) create(w http.ResponseWriter, r *http.Request, q Request) error {
	ctx := r.Context()
	metadata, err := parseMetadata(r.Header.Get("Upload-Metadata"))
	if err != nil {
		return err
	}
	if metadata == nil {
		return objects.ErrInvalidRequest("Metadata header is required")
	}
	up := info{Metadata: metadata, Created: h.Now().UTC()}
	if up.Size, err = readLength(r); err != nil {
		return err
	}
	key := backend.Key{Bucket: up.text("bucketName"), Name: up.text("objectName"), Version: uuid.NewString()}
	if err := objects.CheckBucketName(key.Bucket); err != nil {
		return err
	}
	if err := objects.CheckName(key.Name); err != nil {
		return err
	}
	bucket, err := h.Store.Buckets.Get(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return err
	}
	if up.Size != nil && *up.Size > h.Store.Buckets.Limit(bucket.SizeLimit) {
		return errMaxSize
	}
	if err := h.allowed(ctx, &q, r, key, up); err != nil {
		return err
	}
	cache := "no-cache"
	if age := up.text("cacheControl"); cacheAge.MatchString(age) {
		cache = "max-age=" + age
	}
	up.Metadata["cacheControl"] = &cache
	if kind := up.text("contentType"); kind != "" && bucket.AllowedTypes != nil {
		if err := objects.CheckMimeType(kind, bucket.AllowedTypes); err != nil {
			return err
		}
	}
	up.Owner = q.Owner
	up.ID = key.Bucket + "/" + key.Name + "/" + key.Version
	raw, err := json.Marshal(up)
	if err != nil {
		return err
	}
	if err := h.Store.Backend.Begin(ctx, key, backend.Options{ContentType: up.text("contentType"), CacheControl: cache}, raw); err != nil {
		if errors.Is(err, backend.ErrInvalidKey) {
			return objects.ErrInvalidKey(key.Name)
		}
		return err
	}
	header := w.Header()
	header.Set("Location", h.Location(r, q.Signed, encodeID(key)))
	offset := int64(0)
	if r.Header.Get("Content-Type") == "application/offset+octet-stream" || up.Size != nil && *up.Size == 0 {
		if offset, err = h.write(ctx, w, r, q, key, up, 0); err != nil {
			return err
		}
		header.Set("Upload-Offset", strconv.FormatInt(offset, 10))
	}
	h.expires(header, up, offset)
	w.WriteHeader(http.StatusCreated)
	return nil
}

var cacheAge = regexp.MustCompile(`^-?\d+$`)

// expires tells until when an unfinished upload can be gone on with.
func (h *Handler) expires(header http.Header, up info, offset int64) {
	if up.Size == nil || offset < *up.Size {
		header.Set("Upload-Expires", up.Created.Add(h.Expiry).UTC().Format(time.RFC3339Nano))
	}
}

func (h *Handler) head(w http.ResponseWriter, r *http.Request, q Request) error {
	key, up, _, err := h.open(r.Context(), q)
	if err != nil {
		return err
	}
	if err := h.allowed(r.Context(), &q, r, key, up); err != nil {
		return err
	}
	// The offset counts once nobody writes any more: a client asks for it because its last request broke off.
	_, release, err := h.locks.acquire(r.Context(), objects.LockKey(key.Bucket, key.Name, key.Version))
	if err != nil {
		return err
	}
	defer release()
	_, up, offset, err := h.open(r.Context(), q)
	if err != nil {
		return err
	}
	// A client that sees the whole length here is done. It must not be told so before the object is there, also when the
	// server died, or the connection, behind the last byte.
	if up.Size != nil && offset == *up.Size {
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
	h.expires(header, up, offset)
	w.WriteHeader(http.StatusOK)
	return nil
}

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
	if err := h.allowed(ctx, &q, r, key, up); err != nil {
		return err
	}
	offset, err := h.write(ctx, w, r, q, key, up, at)
	if err != nil {
		return err
	}
	w.Header().Set("Upload-Offset", strconv.FormatInt(offset, 10))
	h.expires(w.Header(), up, offset)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *Handler) terminate(w http.ResponseWriter, r *http.Request, q Request) error {
	ctx := r.Context()
	key, up, _, err := h.open(ctx, q)
	if err != nil {
		return err
	}
	if err := h.allowed(ctx, &q, r, key, up); err != nil {
		return err
	}
	_, release, err := h.locks.acquire(ctx, objects.LockKey(key.Bucket, key.Name, key.Version))
	if err != nil {
		return err
	}
	defer release()
	// Who held the lock may have completed the upload.
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

// decodeID reads bucket/name/version; a name may have slashes, the other two have none.
func decodeID(id string) (backend.Key, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(id, "="))
	if err != nil {
		return backend.Key{}, errNotFound
	}
	bucket, rest, ok := strings.Cut(string(raw), "/")
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return backend.Key{}, wire.Errorf(400, "InvalidUploadId", "Invalid upload id")
	}
	k := backend.Key{Bucket: bucket, Name: rest[:at], Version: rest[at+1:]}
	if err := objects.CheckBucketName(k.Bucket); err != nil {
		return k, err
	}
	if err := objects.CheckName(k.Name); err != nil {
		return k, err
	}
	if k.Version == "" {
		return k, wire.Errorf(400, "InvalidUploadId", "Version not provided")
	}
	return k, nil
}

func formatKey(key int64) string { return strconv.FormatInt(key, 10) }
