package tus

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/wire"
)

// write appends the body under the lock and completes the object when all of it is there.
func (h *Handler) write(ctx context.Context, w http.ResponseWriter, r *http.Request, q Request, key backend.Key, up info, at int64) (int64, error) {
	held, release, err := h.locks.acquire(ctx, objects.LockKey(key.Bucket, key.Name, key.Version))
	if err != nil {
		return 0, err
	}
	defer release()
	raw, offset, err := h.Store.Backend.Info(ctx, key)
	if err != nil {
		return 0, errNotFound
	}
	if err := json.Unmarshal(raw, &up); err != nil {
		return 0, err
	}
	if offset != at {
		return 0, errOffset
	}
	if up.Size == nil {
		if err := h.declare(ctx, r, q, key, &up, offset); err != nil {
			return 0, err
		}
	}
	limit, err := h.room(ctx, q, key, up, offset)
	if err != nil {
		return 0, err
	}
	if r.ContentLength > limit {
		if up.Size == nil {
			return 0, errMaxSize
		}
		return 0, errSize
	}
	if up.Completed { // there are no bytes to come
		if err := h.complete(ctx, q, key, up); err != nil {
			return 0, err
		}
		w.Header().Set("Tus-Complete", "1")
		return offset, nil
	}
	// A newcomer on the same upload ends the wait for bytes that will not come.
	fired := make(chan struct{})
	stop := context.AfterFunc(held, func() {
		defer close(fired)
		http.NewResponseController(w).SetReadDeadline(time.Now())
	})
	n, err := h.Store.Backend.Append(context.WithoutCancel(ctx), key, offset, io.LimitReader(r.Body, limit),
		func(n int64) bool { return up.Size != nil && offset+n == *up.Size })
	stopped := !stop()
	if stopped {
		<-fired // the connection's deadline has passed: it is of no further use
		w.Header().Set("Connection", "close")
	}
	offset += n
	if up.Size != nil && offset == *up.Size { // however the connection ended
		if err := h.finish(ctx, q, key, up); err != nil {
			return 0, err
		}
		w.Header().Set("Tus-Complete", "1")
		return offset, nil
	}
	if stopped { // net/http takes the deadline for the end of the connection and ends the context, too
		return 0, errDisplaced
	}
	if _, ok := wire.AsError(objects.MapError(err)); ok { // the backend's, not the connection's
		return 0, err
	}
	if err != nil {
		return 0, &fault{500, "Something went wrong receiving the file\n"}
	}
	return offset, nil
}

// complete answers for an upload whose bytes are all there: the row names it, or does from now on. Once it has been the
// object, it never becomes it again: what replaced, moved or deleted it may have left bytes and description to the sweeper.
func (h *Handler) complete(ctx context.Context, q Request, key backend.Key, up info) error {
	o, err := h.Store.Object(ctx, q.Caller.Service(), key.Bucket, key.Name)
	if e, ok := wire.AsError(err); ok && e.Code == "NoSuchKey" {
		o, err = nil, nil
	}
	if err != nil {
		return err
	}
	switch {
	case o != nil && o.Key() == key:
		if !up.Completed { // the server died, or the reply of the commit was lost
			h.mark(ctx, key, up)
		}
		return nil
	case up.Completed:
		return errNotFound
	case o != nil && o.UpdatedAt != nil:
		// A row that was written behind the last byte may have taken the place of this upload's, before it was marked.
		// Nobody may undo that without a token, and who has one sends the file again.
		meta, err := h.Store.Backend.Head(ctx, key)
		if err == nil && o.UpdatedAt.After(meta.Modified) {
			return errNotFound
		}
		if err != nil && !errors.Is(err, backend.ErrNotFound) { // in an S3 store there is none before it is joined
			return err
		}
	}
	return h.finish(ctx, q, key, up)
}

// mark notes in the description that a row has named the upload. An upload that cannot be marked is the object
// nevertheless, and one that was replaced meanwhile has no description any more.
func (h *Handler) mark(ctx context.Context, key backend.Key, up info) {
	up.Completed = true
	raw, err := json.Marshal(up)
	if err == nil {
		err = h.Store.Backend.SetInfo(context.WithoutCancel(ctx), key, raw)
	}
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		h.Log.WarnContext(ctx, "storage: a completed upload was not marked", "error", err)
	}
}

// declare takes the length of an upload that was begun without one.
func (h *Handler) declare(ctx context.Context, r *http.Request, q Request, key backend.Key, up *info, offset int64) error {
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

// room is how many bytes may still come.
func (h *Handler) room(ctx context.Context, q Request, key backend.Key, up info, offset int64) (int64, error) {
	if up.Size != nil {
		return *up.Size - offset, nil
	}
	bucket, err := h.Store.Buckets.Get(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return 0, err
	}
	return h.Store.Buckets.Limit(bucket.SizeLimit) - offset, nil
}

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
	if _, err = h.Store.Complete(ctx, q.Caller, key, owner, objects.MetadataOf(meta), userMetadata(up)); err != nil {
		return err
	}
	h.mark(ctx, key, up)
	return nil
}
