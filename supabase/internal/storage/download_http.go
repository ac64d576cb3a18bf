package storage

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/wire"
)

func (c *call) downloadPublic() error {
	return objects.Read(c.public, func(o *objects.Object) error { return c.serve(o, "") })
}

func (c *call) download() error {
	return objects.Read(c.readable, func(o *objects.Object) error { return c.serve(o, "") })
}

func (c *call) downloadSigned() error {
	u, err := c.signed()
	if err != nil {
		return err
	}
	return objects.Read(c.object, func(o *objects.Object) error { return c.serve(o, expires(u)) })
}

func (c *call) headSigned() error {
	c.w = headOnly{c.w}
	return c.downloadSigned()
}

// public, readable and object read the row that the request is about: of a public bucket, of one that the caller may
// read, and without asking about the bucket.
func (c *call) public() (*objects.Object, error) {
	return c.e.store.PublicObject(c.r.Context(), c.caller, c.bucket, c.name)
}

func (c *call) readable() (*objects.Object, error) {
	return c.e.store.ReadableObject(c.r.Context(), c.caller, c.authenticated, c.bucket, c.name)
}

func (c *call) object() (*objects.Object, error) {
	return c.e.store.Object(c.r.Context(), c.caller, c.bucket, c.name)
}

// signed checks the token of the query.
func (c *call) signed() (*objects.SignedURL, error) {
	q := c.query().require("token")
	token := q.text("token")
	if q.err != nil {
		return nil, q.err
	}
	return c.e.store.VerifySigned(token, c.bucket, c.name, objects.ScopeDownload)
}

// expires is when a signed URL ends, for the header.
func expires(u *objects.SignedURL) string {
	return time.Unix(int64(u.Expires), 0).UTC().Format(http.TimeFormat)
}

// describe gives what serving needs: from the row, or from the backend when the row does not say.
func (c *call) describe(o *objects.Object) (objects.Metadata, error) {
	m, ok := o.Meta()
	if ok {
		return m, nil
	}
	stored, err := c.e.store.Backend.Head(c.r.Context(), o.Key())
	if err != nil {
		return m, errMissing(err)
	}
	return objects.Metadata{ETag: stored.ETag, Size: &stored.Size, MimeType: stored.ContentType, CacheControl: stored.CacheControl,
		LastModified: objects.Timestamp(stored.Modified), XRobotsTag: m.XRobotsTag}, nil
}

// errMissing is the reply when there is a row and no bytes.
func errMissing(err error) error {
	if !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	e := wire.Errorf(404, "NoSuchKey", "The resource was not found").WithCause(err).WithHeader("Cache-Control", "no-store")
	e.Details = wire.StorageDetails{Error: "Not found"}
	return e
}

// serve sends the bytes of an object, or tells that the client has them already.
func (c *call) serve(o *objects.Object, expires string) error {
	m, err := c.describe(o)
	if err != nil {
		return err
	}
	h := c.w.Header()
	if c.unchanged(m) {
		c.describeHeaders(m, expires)
		h.Del("Content-Type")
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	offset, length, status := int64(0), *m.Size, http.StatusOK
	if header := c.r.Header.Get("Range"); header != "" && c.sameAs(c.r.Header.Get("If-Range"), m) {
		if offset, length, err = objects.ParseRange(header, *m.Size); err != nil {
			return err
		}
		status = http.StatusPartialContent
	}
	body, err := c.e.store.Backend.Open(c.r.Context(), o.Key(), offset, length)
	if err != nil {
		return errMissing(err)
	}
	defer body.Close()
	c.describeHeaders(m, expires)
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	if status == http.StatusPartialContent {
		h.Set("Content-Range", "bytes "+strconv.FormatInt(offset, 10)+"-"+strconv.FormatInt(offset+length-1, 10)+"/"+strconv.FormatInt(*m.Size, 10))
	}
	c.disposition()
	c.w.WriteHeader(status)
	if _, err := io.Copy(c.w, body); err != nil && c.r.Context().Err() == nil {
		c.e.log.WarnContext(c.r.Context(), "storage: a download broke off", "error", err)
		panic(http.ErrAbortHandler) // the headers are out: only a cut connection tells the client
	}
	return nil
}

// describeHeaders sets the headers that every reply with an object has.
func (c *call) describeHeaders(m objects.Metadata, expires string) {
	h := c.w.Header()
	h.Set("Accept-Ranges", "bytes")
	setSafe(h, "Content-Type", inert(m.MimeType))
	h.Set("X-Content-Type-Options", "nosniff")
	if active(m.MimeType) {
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	}
	setSafe(h, "Etag", m.ETag)
	h.Set("X-Robots-Tag", "none")
	if m.XRobotsTag != "" && checkRobots(m.XRobotsTag) == nil {
		h.Set("X-Robots-Tag", m.XRobotsTag)
	}
	if t := m.Modified(); !t.IsZero() {
		h.Set("Last-Modified", t.UTC().Format(http.TimeFormat))
	}
	if expires != "" {
		h.Set("Expires", expires)
		return
	}
	cache := []string{orElse(m.CacheControl, "no-cache")}
	if etag := c.r.Header.Get("If-None-Match"); etag != "" && etag != m.ETag {
		cache = append(cache, "stale-while-revalidate=30")
	}
	setSafe(h, "Cache-Control", strings.Join(cache, ", "))
}

// setSafe sets a header whose value came from an uploader, unless it could break the reply.
func setSafe(h http.Header, name, value string) {
	if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		h.Set(name, value)
	}
}

// inert keeps uploaded pages from being pages.
func inert(contentType string) string {
	if strings.Contains(strings.ToLower(contentType), "text/html") {
		return "text/plain"
	}
	if strings.ContainsFunc(contentType, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "application/octet-stream"
	}
	return contentType
}

// active says whether a browser might run what is in such a document.
func active(contentType string) bool {
	t := strings.ToLower(contentType)
	return strings.Contains(t, "svg") || strings.Contains(t, "xml") || strings.Contains(t, "html")
}

// unchanged applies If-None-Match, else If-Modified-Since.
func (c *call) unchanged(m objects.Metadata) bool {
	if header := c.r.Header.Get("If-None-Match"); header != "" {
		for _, tag := range strings.Split(header, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == "*" || tag == m.ETag {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(c.r.Header.Get("If-Modified-Since"))
	modified := m.Modified()
	return err == nil && !modified.IsZero() && !modified.After(since)
}

// sameAs applies If-Range: who goes on with a download that has changed in the meantime gets all of the new one.
func (c *call) sameAs(header string, m objects.Metadata) bool {
	if header == "" || header == m.ETag {
		return true
	}
	date, err := http.ParseTime(header)
	return err == nil && date.Equal(m.Modified().Truncate(time.Second))
}

// disposition answers ?download and ?download=name.
func (c *call) disposition() {
	values := c.r.URL.Query()
	if !values.Has("download") {
		return
	}
	name := values.Get("download")
	if name == "" {
		c.w.Header().Set("Content-Disposition", "attachment;")
		return
	}
	encoded := encodeComponent(name)
	c.w.Header().Set("Content-Disposition", "attachment; filename="+encoded+"; filename*=UTF-8''"+encoded)
}

// encodeComponent is JavaScript's encodeURIComponent.
func encodeComponent(s string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
}

func (c *call) headPublic() error {
	o, err := c.publicInfo()
	if err != nil {
		return err
	}
	return c.sendHead(o)
}

func (c *call) infoPublic() error {
	o, err := c.publicInfo()
	if err != nil {
		return err
	}
	return c.sendInfo(o)
}

// publicInfo is for the open routes: nobody is authenticated there, so only public buckets answer.
func (c *call) publicInfo() (*objects.Object, error) {
	return c.e.store.ReadableObject(c.r.Context(), c.caller, false, c.bucket, c.name)
}

func (c *call) head() error {
	o, err := c.readable()
	if err != nil {
		return err
	}
	return c.sendHead(o)
}

// sendHead answers from the row alone, with the headers that it knows.
func (c *call) sendHead(o *objects.Object) error {
	m, _ := o.Meta()
	c.describeHeaders(m, "")
	if m.Size != nil {
		c.w.Header().Set("Content-Length", strconv.FormatInt(*m.Size, 10))
	}
	if etag := c.r.Header.Get("If-None-Match"); etag != "" && etag != m.ETag {
		setSafe(c.w.Header(), "Cache-Control", orElse(m.CacheControl, "no-cache")+", must-revalidate")
	}
	c.w.WriteHeader(http.StatusOK)
	return nil
}

func (c *call) info() error {
	o, err := c.readable()
	if err != nil {
		return err
	}
	return c.sendInfo(o)
}

func (c *call) sendInfo(o *objects.Object) error {
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
	}{o.ID, o.Name, o.Version, o.Bucket, m.Size, some(m.MimeType), some(m.CacheControl), some(m.ETag), o.UserMetadata,
		stamp(o.UpdatedAt), stamp(o.CreatedAt)})
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
