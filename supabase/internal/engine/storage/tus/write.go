package tus

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

// write takes the lock and appends the body. It completes the object once all bytes have arrived.
// It returns the new offset.
func (h *Handler) write(ctx context.Context, w http.ResponseWriter, r *http.Request, q Request, key backend.Key,
	up info, at int64) (int64, error) {
	held, release, err := h.locks.acquire(ctx, objects.LockKey(key.Bucket, key.Name, key.Version))
	if err != nil {
		return 0, err
	}
	defer release()
	limit, err := h.prepare(ctx, r, q, key, &up, at)
	if err != nil {
		return 0, err
	}
	offset := at
	if up.Completed { // all bytes have arrived before
		if err := h.complete(ctx, q, key, up); err != nil {
			return 0, err
		}
		w.Header().Set("Tus-Complete", "1")
		return offset, nil
	}
	// If another request asks for the lock, wait only a little longer for bytes of this one.
	fired := make(chan struct{})
	stop := context.AfterFunc(held, func() {
		defer close(fired)
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(drain))
	})
	n, err := h.Store.Backend.Append(context.WithoutCancel(ctx), key, offset, &exactReader{r: r.Body, left: limit},
		func(n int64) bool { return up.Size != nil && offset+n == *up.Size })
	stopped := !stop()
	if stopped {
		<-fired // the connection has a read deadline, so it cannot be reused
		w.Header().Set("Connection", "close")
	}
	offset += n
	if up.Size != nil && offset == *up.Size { // even if the connection failed
		if err := h.finish(ctx, q, key, up); err != nil {
			return 0, err
		}
		w.Header().Set("Tus-Complete", "1")
		return offset, nil
	}
	if err != nil {
		return 0, appendError(err, stopped)
	}
	return offset, nil
}

// prepare reads the description again, now under the lock, and checks the request against it. It
// returns how many bytes the upload still accepts.
func (h *Handler) prepare(ctx context.Context, r *http.Request, q Request, key backend.Key, up *info,
	at int64) (limit int64, err error) {
	raw, offset, err := h.Store.Backend.Info(ctx, key)
	if err != nil {
		return 0, errNotFound
	}
	if err := json.Unmarshal(raw, up); err != nil {
		return 0, err
	}
	if offset != at {
		return 0, errOffset
	}
	if up.Size == nil {
		if err := h.setLength(ctx, r, q, key, up, offset); err != nil {
			return 0, err
		}
	} else if text := r.Header.Get("Upload-Length"); text != "" && text != strconv.FormatInt(*up.Size, 10) {
		return 0, errLength
	}
	limit, err = h.remaining(ctx, q, key, *up, offset)
	switch {
	case err != nil:
		return 0, err
	case r.ContentLength > limit && up.Size == nil:
		return 0, errMaxSize
	case r.ContentLength > limit:
		return 0, errSize
	}
	return limit, nil
}

// appendError returns the reply for an error of Append. stopped says that another request has asked
// for the upload.
func appendError(err error, stopped bool) error {
	if errors.Is(err, errMaxSize) {
		return errMaxSize
	}
	if stopped { // checked before the error itself: the deadline makes net/http cancel the context too
		return errDisplaced
	}
	if _, ok := apierror.AsError(objects.MapError(err)); ok { // an error of the backend, not of the connection
		return err
	}
	return &protocolError{500, "Something went wrong receiving the file\n"}
}

// drain is how long a request may go on after another one has asked for its upload. A request that
// is receiving bytes can finish, so one of several at once succeeds; one whose connection is lost
// gives way.
const drain = time.Second

// exactReader reads at most left bytes. If the body has more, it returns errMaxSize before the last
// of them, so that the upload does not become complete.
type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left == 0 && len(p) > 0 { // an upload of no bytes, or one that has ended
		return 0, e.end()
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); e.left == 0 && n > 0 && err == nil {
		if err = e.end(); errors.Is(err, errMaxSize) {
			return 0, err
		}
	}
	return n, err
}

// end returns errMaxSize if the body has another byte, otherwise io.EOF, even if the connection has
// failed: all bytes that are needed have arrived.
func (e *exactReader) end() error {
	if n, _ := io.ReadFull(e.r, make([]byte, 1)); n > 0 {
		return errMaxSize
	}
	return io.EOF
}

// complete ensures that an upload with all its bytes has become the object. It returns errNotFound
// if the object has since been replaced, moved or deleted: such an upload must not become the
// object again, even if its bytes still exist.
func (h *Handler) complete(ctx context.Context, q Request, key backend.Key, up info) error {
	o, err := h.Store.Object(ctx, q.Caller.Service(), key.Bucket, key.Name)
	if e, ok := apierror.AsError(err); ok && e.Code == "NoSuchKey" {
		o, err = nil, nil
	}
	if err != nil {
		return err
	}
	switch {
	case o != nil && o.Key() == key:
		if !up.Completed { // the server crashed, or the reply to the commit was lost
			h.mark(ctx, key, up)
		}
		return nil
	case up.Completed:
		return errNotFound
	case o != nil && o.UpdatedAt != nil:
		// A row that is newer than the last byte may have replaced the row of this upload before
		// the upload was marked. Restoring the upload would overwrite it without authorization.
		meta, err := h.Store.Backend.Head(ctx, key)
		if err == nil && o.UpdatedAt.After(meta.Modified) {
			return errNotFound
		}
		// an S3 backend has no version before the parts are joined
		if err != nil && !errors.Is(err, backend.ErrNotFound) {
			return err
		}
	}
	return h.finish(ctx, q, key, up)
}

// mark sets Completed in the description. An error is only logged, because the row has been
// written. If the object has been replaced in the meantime, the description no longer exists.
func (h *Handler) mark(ctx context.Context, key backend.Key, up info) {
	up.Completed = true
	raw, err := json.Marshal(up)
	if err == nil {
		err = h.Store.Backend.SetInfo(context.WithoutCancel(ctx), key, raw)
	}
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		h.Log.WarnContext(ctx, "storage: completed upload not marked", "error", err)
	}
}

// setLength reads the length of an upload that was created without one.
func (h *Handler) setLength(ctx context.Context, r *http.Request, q Request, key backend.Key, up *info,
	offset int64) error {
	text := r.Header.Get("Upload-Length")
	if text == "" {
		return nil
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < offset {
		return errLength
	}
	bucket, err := h.Store.Buckets.Get(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return err
	}
	if size > h.Store.Buckets.Limit(bucket.SizeLimit) {
		return errMaxSize
	}
	up.Size = &size
	raw, err := json.Marshal(up)
	if err != nil {
		return err
	}
	return h.Store.Backend.SetInfo(ctx, key, raw)
}

// remaining returns how many bytes the upload still accepts.
func (h *Handler) remaining(ctx context.Context, q Request, key backend.Key, up info, offset int64) (int64, error) {
	if up.Size != nil {
		return *up.Size - offset, nil
	}
	bucket, err := h.Store.Buckets.Get(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return 0, err
	}
	return h.Store.Buckets.Limit(bucket.SizeLimit) - offset, nil
}

// finish turns the complete upload into a version and writes its row.
func (h *Handler) finish(ctx context.Context, q Request, key backend.Key, up info) error {
	ctx = context.WithoutCancel(ctx)
	meta, err := h.Store.Backend.Finish(ctx, key)
	if err != nil {
		return err
	}
	owner := q.Owner
	if owner == "" {
		owner = up.Owner
	}
	u, err := q.upload(key, up)
	if err != nil {
		return err
	}
	u.Owner = owner
	if _, err = h.Store.Complete(ctx, q.Caller, key, u, objects.MetadataOf(meta), u.UserMetadata); err != nil {
		return err
	}
	h.mark(ctx, key, up)
	return nil
}
