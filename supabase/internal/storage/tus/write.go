package tus

import (
	"context"
	"encoding/json"
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
	if err != nil {
		return 0, &fault{500, "Something went wrong receiving the file\n"}
	}
	return offset, nil
}

// complete finishes an upload whose bytes are all there and that no row names yet.
func (h *Handler) complete(ctx context.Context, q Request, key backend.Key, up info) error {
	o, err := h.Store.Object(ctx, q.Caller.Service(), key.Bucket, key.Name)
	if err == nil && o.Key() == key {
		return nil
	}
	if e, ok := wire.AsError(err); err != nil && (!ok || e.Code != "NoSuchKey") {
		return err
	}
	return h.finish(ctx, q, key, up)
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
	bucket, err := h.Store.Bucket(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return err
	}
	if size > h.Store.Limit(bucket.SizeLimit) {
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
	bucket, err := h.Store.Bucket(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return 0, err
	}
	return h.Store.Limit(bucket.SizeLimit) - offset, nil
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
	_, err = h.Store.Complete(ctx, q.Caller, key, owner, objects.MetadataOf(meta), userMetadata(up))
	return err
}
