package storage

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

// objectReader reads the row of the object that a request names.
type objectReader struct{ store *objects.Store }

// public reads an object of a public bucket.
func (h objectReader) public(c *call) (*objects.Object, error) {
	if err := objects.CheckName(c.name); err != nil {
		return nil, err
	}
	return h.store.PublicObject(c.r.Context(), c.caller, c.bucket, c.name)
}

// readable reads an object of a public bucket, or an object that the caller may see.
func (h objectReader) readable(c *call) (*objects.Object, error) {
	return h.store.ReadableObject(c.r.Context(), c.caller, c.authenticated, c.bucket, c.name)
}

// object reads an object that the caller may see, without a query for the bucket.
func (h objectReader) object(c *call) (*objects.Object, error) {
	return h.store.Object(c.r.Context(), c.caller, c.bucket, c.name)
}

// signedURL verifies the token in the query.
func (h objectReader) signedURL(c *call) (*objects.SignedURL, error) {
	q := c.query().require("token")
	token := q.text("token")
	if q.err != nil {
		return nil, q.err
	}
	return h.store.Signer.Verify(token, c.bucket, c.name, objects.ScopeDownload)
}

// expires returns the Expires header of a signed URL.
func expires(u *objects.SignedURL) string {
	return time.Unix(int64(u.Expires), 0).UTC().Format(http.TimeFormat)
}

// describe returns the metadata that a reply needs: from the row or, if that is incomplete, from
// the backend.
func (h objectReader) describe(c *call, o *objects.Object) (objects.Metadata, error) {
	m, ok := o.Meta()
	if ok {
		return m, nil
	}
	stored, err := h.store.Backend.Head(c.r.Context(), o.Key())
	if err != nil {
		return m, errMissing(err)
	}
	return objects.Metadata{ETag: stored.ETag, Size: &stored.Size, MimeType: stored.ContentType,
			CacheControl: stored.CacheControl, LastModified: objects.Timestamp(stored.Modified),
			XRobotsTag: m.XRobotsTag},
		nil
}

// errMissing maps an error of the backend: the row exists, but its bytes are missing.
func errMissing(err error) error {
	if !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	e := apierror.Errorf(404, "NoSuchKey", "The resource was not found").WithCause(err).WithHeader("Cache-Control",
		"no-store")
	e.Details = objects.ErrorDetails{Error: "Not found"}
	return e
}

// downloadHandler sends objects and their metadata.
type downloadHandler struct {
	objectReader
	log *slog.Logger
}

func (h downloadHandler) getPublic(c *call) error {
	return objects.UseCurrent(func() (*objects.Object, error) { return h.public(c) },
		func(o *objects.Object) error { return h.serve(c, o, "") })
}

func (h downloadHandler) get(c *call) error {
	return objects.UseCurrent(func() (*objects.Object, error) { return h.readable(c) },
		func(o *objects.Object) error { return h.serve(c, o, "") })
}

func (h downloadHandler) getSigned(c *call) error {
	u, err := h.signedURL(c)
	if err != nil {
		return err
	}
	return objects.UseCurrent(func() (*objects.Object, error) { return h.object(c) },
		func(o *objects.Object) error { return h.serve(c, o, expires(u)) })
}

func (h downloadHandler) headSigned(c *call) error {
	c.w = headOnly{c.w}
	return h.getSigned(c)
}

// serve sends the bytes of an object, or 304 if the client already has them.
func (h downloadHandler) serve(c *call, o *objects.Object, expires string) error {
	if err := checkDownload(c); err != nil {
		return err
	}
	m, err := h.describe(c, o)
	if err != nil {
		return err
	}
	header := c.w.Header()
	if notModified(c.r, m) {
		setObjectHeaders(c, m, expires)
		header.Del("Content-Type")
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	offset, length, status := int64(0), *m.Size, http.StatusOK
	if text := c.r.Header.Get("Range"); text != "" && ifRange(c.r, m) {
		if offset, length, err = objects.ParseRange(text, *m.Size); err != nil {
			return err
		}
		status = http.StatusPartialContent
	}
	body, err := h.store.Backend.Open(c.r.Context(), o.Key(), offset, length)
	if err != nil {
		return errMissing(err)
	}
	defer body.Close()
	setObjectHeaders(c, m, expires)
	header.Set("Content-Length", strconv.FormatInt(length, 10))
	if status == http.StatusPartialContent {
		header.Set("Content-Range", "bytes "+strconv.FormatInt(offset, 10)+"-"+strconv.FormatInt(offset+length-1, 10)+
			"/"+strconv.FormatInt(*m.Size, 10))
	}
	setDisposition(c)
	c.w.WriteHeader(status)
	if _, err := io.Copy(c.w, body); err != nil && c.r.Context().Err() == nil {
		h.log.WarnContext(c.r.Context(), "storage: download interrupted", "error", err)
		panic(http.ErrAbortHandler) // the headers have been sent, so only closing the connection tells the client
	}
	return nil
}

// describeTransformation checks the options of a transformation, which replies with metadata only
// name in a header.
func describeTransformation(c *call) error {
	q := c.query()
	t := readTransformation(q)
	if q.err != nil {
		return q.err
	}
	segments, err := t.Segments(false)
	if err == nil && len(segments) > 0 {
		c.w.Header().Set("X-Transformations", strings.Join(segments, ","))
	}
	return err
}

// describe replies with the metadata of the object that read returns.
func describe(c *call, read func(*call) (*objects.Object, error), send func(*call, *objects.Object) error) error {
	if err := describeTransformation(c); err != nil {
		return err
	}
	o, err := read(c)
	if err != nil {
		return err
	}
	return send(c, o)
}

func (h downloadHandler) headPublic(c *call) error { return describe(c, h.publicInfo, sendHead) }

func (h downloadHandler) infoPublic(c *call) error { return describe(c, h.publicInfo, sendInfo) }

func (h downloadHandler) head(c *call) error { return describe(c, h.readable, sendHead) }

func (h downloadHandler) info(c *call) error { return describe(c, h.readable, sendInfo) }

// publicInfo reads an object for a route without authentication: only objects of public buckets are
// found.
func (h downloadHandler) publicInfo(c *call) (*objects.Object, error) {
	return h.store.ReadableObject(c.r.Context(), c.caller, false, c.bucket, c.name)
}

// sendHead replies with the headers that the row contains. It does not query the backend.
func sendHead(c *call, o *objects.Object) error {
	m, _ := o.Meta()
	setObjectHeaders(c, m, "")
	h := c.w.Header()
	if m.ContentLength != nil && *m.ContentLength >= 0 {
		h.Set("Content-Length", strconv.FormatInt(*m.ContentLength, 10))
	}
	var cache []string
	if m.CacheControl != "" {
		cache = append(cache, m.CacheControl)
	}
	if etag := c.r.Header.Get("If-None-Match"); etag != "" && etag != m.ETag {
		cache = append(cache, "must-revalidate")
	}
	h.Del("Cache-Control")
	setSafe(h, "Cache-Control", strings.Join(cache, ", "))
	c.w.WriteHeader(http.StatusOK)
	return nil
}

func sendInfo(c *call, o *objects.Object) error {
	m, _ := o.Meta()
	h := c.w.Header()
	if m.ETag != "" {
		h.Set("Etag", m.ETag)
	}
	if t := m.Modified(); !t.IsZero() {
		h.Set("Last-Modified", t.UTC().Format(http.TimeFormat))
	}
	if m.CacheControl != "" {
		setSafe(h, "Cache-Control", m.CacheControl)
	}
	return c.send(struct {
		ID           string          `json:"id"`
		Name         string          `json:"name"`
		Version      *string         `json:"version"`
		Bucket       string          `json:"bucket_id"`
		Size         *int64          `json:"size"`
		ContentType  *string         `json:"content_type"`
		CacheControl *string         `json:"cache_control"`
		ETag         *string         `json:"etag"`
		Metadata     json.RawMessage `json:"metadata"`
		LastModified *string         `json:"last_modified"`
		CreatedAt    *string         `json:"created_at"`
	}{o.ID, o.Name, o.Version, o.Bucket, m.Size, nonEmpty(m.MimeType), nonEmpty(m.CacheControl), nonEmpty(m.ETag),
		o.UserMetadata, timestamp(o.UpdatedAt), timestamp(o.CreatedAt)})
}

// nonEmpty returns nil for the empty string.
func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
