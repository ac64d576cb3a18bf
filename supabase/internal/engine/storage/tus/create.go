package tus

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"

	"github.com/google/uuid"
)

// create handles POST: it starts an upload and, if the request has a body, writes its first bytes.
func (h *Handler) create(w http.ResponseWriter, r *http.Request, q Request) error {
	if r.Header.Get("Upload-Concat") != "" {
		return errConcat
	}
	ctx := r.Context()
	key, up, err := h.newUpload(ctx, r, &q)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(up)
	if err != nil {
		return err
	}
	options := backend.Options{ContentType: up.text("contentType"), CacheControl: up.text("cacheControl")}
	if err := h.Store.Backend.Begin(ctx, key, options, raw); err != nil {
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
	h.setExpires(header, up, offset)
	header.Set("Content-Type", textType)
	w.WriteHeader(http.StatusCreated)
	return nil
}

// cacheAge matches the values of the metadata cacheControl that become max-age.
var cacheAge = regexp.MustCompile(`^-?\d+$`)

// newUpload returns the key and the description of a new upload, after it has checked the request,
// the bucket's limits and the caller's permissions.
func (h *Handler) newUpload(ctx context.Context, r *http.Request, q *Request) (key backend.Key, up info, err error) {
	metadata, err := parseMetadata(r.Header.Get("Upload-Metadata"))
	if err != nil {
		return key, up, err
	}
	if metadata == nil {
		return key, up, objects.ErrInvalidRequest("Metadata header is required")
	}
	up = info{Metadata: metadata, Created: h.Now().UTC()}
	if up.Size, err = readLength(r); err != nil {
		return key, up, err
	}
	key = backend.Key{Bucket: up.text("bucketName"), Name: up.text("objectName"), Version: uuid.NewString()}
	if err := objects.CheckBucketName(key.Bucket); err != nil {
		return key, up, err
	}
	if err := objects.CheckName(key.Name); err != nil {
		return key, up, err
	}
	bucket, err := h.Store.Buckets.Get(ctx, q.Caller.Service(), key.Bucket)
	if err != nil {
		return key, up, err
	}
	if up.Size != nil && *up.Size > h.Store.Buckets.Limit(bucket.SizeLimit) {
		return key, up, errMaxSize
	}
	if err := h.authorize(ctx, q, r, key, up); err != nil {
		return key, up, err
	}
	cache := "no-cache"
	if age := up.text("cacheControl"); cacheAge.MatchString(age) {
		cache = "max-age=" + age
	}
	up.Metadata["cacheControl"] = &cache
	if kind := up.text("contentType"); kind != "" && bucket.AllowedTypes != nil {
		if err := objects.CheckMimeType(kind, bucket.AllowedTypes); err != nil {
			return key, up, err
		}
	}
	up.Owner, up.Upsert = q.Owner, q.Upsert
	up.ID = key.Bucket + "/" + key.Name + "/" + key.Version
	return key, up, nil
}
