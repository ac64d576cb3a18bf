package s3

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

const metaPrefix = "x-amz-meta-"

// userMetadata returns the x-amz-meta- fields of headers, forms or query parameters as JSON, or nil
// if there are none.
func userMetadata(sources ...map[string][]string) json.RawMessage {
	m := map[string]string{}
	for _, source := range sources {
		for name, values := range source {
			if key, ok := strings.CutPrefix(strings.ToLower(name), metaPrefix); ok {
				m[key] = strings.Join(values, ", ")
			}
		}
	}
	if len(m) == 0 {
		return nil
	}
	data, err := json.Marshal(m)
	if err != nil { // cannot happen: the map holds only strings
		return nil
	}
	return data
}

// setUserMetadata sets the x-amz-meta- headers. It only counts the values that cannot be headers.
func setUserMetadata(h http.Header, raw json.RawMessage) {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	missing := 0
	for key, v := range m {
		s, ok := v.(string)
		if !ok || key == "" || !validHeaderValue(key) || strings.ContainsAny(key, " \t:") || !validHeaderValue(s) {
			missing++
			continue
		}
		h.Set(metaPrefix+key, s)
	}
	if missing > 0 {
		h.Set("X-Amz-Missing-Meta", strconv.Itoa(missing))
	}
}

// validHeaderValue reports whether s is ASCII and can be the value of a header.
func validHeaderValue(s string) bool {
	return len(s) <= 8192 && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f })
}

func (c *call) putObject() error {
	if c.length < 0 {
		return apierror.Errorf(411, "MissingContentLength", "You must provide the Content-Length HTTP header.")
	}
	name := c.key
	if strings.HasSuffix(name, "/") && c.length == 0 {
		name += ".emptyFolderPlaceholder" // the name that Studio uses for folders
	}
	kind := orElse(c.r.Header.Get("Content-Type"), "application/octet-stream")
	o, err := c.store(name, c.body, c.length, kind, orElse(c.r.Header.Get("Cache-Control"), "no-cache"),
		userMetadata(c.r.Header, c.query))
	if err != nil {
		return err
	}
	m, _ := o.Meta()
	c.w.Header().Set("Etag", m.ETag)
	c.w.WriteHeader(http.StatusOK)
	return nil
}

// store writes an object from a body of length bytes (-1: unknown).
func (c *call) store(name string, body io.Reader, length int64, kind, cache string,
	user json.RawMessage) (*objects.Object, error) {
	ctx := c.r.Context()
	if err := objects.CheckBucketName(c.bucket); err != nil {
		return nil, err
	}
	u := objects.Upload{Bucket: c.bucket, Name: name, Owner: c.caller.Subject, Upsert: true, ContentType: kind,
		CacheControl: cache, UserMetadata: user, Declared: objects.Declared{MimeType: kind}}
	if length >= 0 {
		u.Declared.Length = &length
	}
	var err error
	if u.Condition, err = writeCondition(c.r.Header); err != nil {
		return nil, err
	}
	a, err := c.h.Store.Admit(ctx, c.caller, u)
	if err != nil {
		return nil, err
	}
	limit := c.h.Store.Buckets.Limit(a.Bucket.SizeLimit)
	if objects.IsFolderPlaceholder(name) {
		limit = 0
	} else if len(a.Bucket.AllowedTypes) > 0 {
		if err := objects.CheckMimeType(kind, a.Bucket.AllowedTypes); err != nil {
			return nil, err
		}
	}
	if length > limit {
		return nil, objects.ErrTooLarge("object")
	}
	return a.Upload(ctx, body, limit)
}

// writeCondition returns the condition of a write (S3 API reference, "Conditional writes"):
// If-None-Match with *, or If-Match with one ETag.
func writeCondition(h http.Header) (when objects.Condition, err error) {
	if none := h.Get("If-None-Match"); none != "" {
		if when.Absent = none == "*"; !when.Absent {
			return when, apierror.Errorf(501, "NotImplemented", "If-None-Match of a write supports * only.")
		}
	}
	when.ETag = strings.Trim(h.Get("If-Match"), `"`)
	return when, nil
}

func (c *call) headObject() error {
	o, err := c.h.Store.Object(c.r.Context(), c.caller, c.bucket, c.key)
	if err != nil {
		return err
	}
	m, _ := o.Meta()
	if status := condition(c.r.Header, "If-", m, o.UpdatedAt); status != 0 {
		c.w.WriteHeader(status)
		return nil
	}
	h := c.w.Header()
	if o.CreatedAt != nil {
		h.Set("Created-At", objects.Timestamp(*o.CreatedAt))
	}
	describe(h, o, m)
	if m.Size != nil {
		h.Set("Content-Length", strconv.FormatInt(*m.Size, 10))
	}
	c.w.WriteHeader(http.StatusOK)
	return nil
}

// describe sets the headers of HEAD and GET replies.
func describe(h http.Header, o *objects.Object, m objects.Metadata) {
	for name, value := range map[string]string{"Cache-Control": m.CacheControl, "Content-Type": m.MimeType,
		"Etag": m.ETag} {
		if value != "" && validHeaderValue(value) {
			h.Set(name, value)
		}
	}
	h.Set("Accept-Ranges", "bytes")
	h.Set("X-Content-Type-Options", "nosniff")
	if o.UpdatedAt != nil {
		h.Set("Last-Modified", o.UpdatedAt.UTC().Format(http.TimeFormat))
	}
	setUserMetadata(h, o.UserMetadata)
}

// overrides maps query parameters to the reply headers that they replace.
var overrides = map[string]string{
	"response-content-disposition": "Content-Disposition", "response-content-type": "Content-Type",
	"response-cache-control": "Cache-Control", "response-content-encoding": "Content-Encoding",
	"response-content-language": "Content-Language", "response-expires": "Expires",
}

func (c *call) getObject() error {
	return objects.UseCurrent(func() (*objects.Object, error) {
		return c.h.Store.Object(c.r.Context(), c.caller, c.bucket, c.key)
	}, c.sendObject)
}

func (c *call) sendObject(o *objects.Object) (err error) {
	m, ok := o.Meta()
	if !ok {
		stored, err := c.h.Store.Backend.Head(c.r.Context(), o.Key())
		if err != nil {
			return missing(err)
		}
		m = objects.MetadataOf(stored)
	}
	h := c.w.Header()
	if status := condition(c.r.Header, "If-", m, o.UpdatedAt); status != 0 {
		h.Set("Etag", m.ETag)
		if status == http.StatusNotModified {
			c.w.WriteHeader(status)
			return nil
		}
		return errPrecondition
	}
	offset, length, status := int64(0), *m.Size, http.StatusOK
	if text := c.r.Header.Get("Range"); text != "" {
		if offset, length, err = objects.ParseRange(text, *m.Size); err != nil {
			return err
		}
		status = http.StatusPartialContent
		h.Set("Content-Range", "bytes "+strconv.FormatInt(offset, 10)+"-"+strconv.FormatInt(offset+length-1, 10)+"/"+
			strconv.FormatInt(*m.Size, 10))
	}
	body, err := c.h.Store.Backend.Open(c.r.Context(), o.Key(), offset, length)
	if err != nil {
		h.Del("Content-Range")
		return missing(err)
	}
	defer body.Close()
	describe(h, o, m)
	for parameter, name := range overrides {
		if value := c.query.Get(parameter); value != "" && validHeaderValue(value) {
			h.Set(name, value)
		}
	}
	if objects.Scriptable(h.Get("Content-Type")) {
		h.Set("Content-Security-Policy", objects.SandboxPolicy)
	}
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	c.w.WriteHeader(status)
	if _, err := io.Copy(c.w, body); err != nil && c.r.Context().Err() == nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

var errPrecondition = apierror.Errorf(412, "PreconditionFailed",
	"At least one of the pre-conditions you specified did not hold")

func missing(err error) error {
	if errors.Is(err, backend.ErrNotFound) {
		return objects.ErrNoKey().WithCause(err)
	}
	return err
}

// condition evaluates conditional headers in the order of RFC 9110, section 13.2.2. It returns 304,
// 412, or 0 if the request continues.
func condition(h http.Header, prefix string, m objects.Metadata, updated *time.Time) int {
	same := func(list string) bool {
		for _, tag := range strings.Split(list, ",") {
			if tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`); tag == "*" ||
				tag == strings.Trim(m.ETag, `"`) {
				return true
			}
		}
		return false
	}
	modified := m.Modified()
	if updated != nil {
		modified = *updated
	}
	modified = modified.Truncate(time.Second)
	date := func(name string) (time.Time, bool) {
		t, err := http.ParseTime(h.Get(prefix + name))
		return t, err == nil
	}
	if v := h.Get(prefix + "Match"); v != "" {
		if !same(v) {
			return http.StatusPreconditionFailed
		}
	} else if t, ok := date("Unmodified-Since"); ok && modified.After(t) {
		return http.StatusPreconditionFailed
	}
	if v := h.Get(prefix + "None-Match"); v != "" {
		if same(v) {
			return http.StatusNotModified
		}
	} else if t, ok := date("Modified-Since"); ok && !modified.After(t) {
		return http.StatusNotModified
	}
	return 0
}

func (c *call) getTagging() error {
	if _, err := c.h.Store.Object(c.r.Context(), c.caller, c.bucket, c.key); err != nil {
		return err
	}
	return reply(c.w, http.StatusOK, taggingReply{Xmlns: namespace})
}

func (c *call) deleteObject() error {
	when, err := writeCondition(c.r.Header)
	if err != nil {
		return err
	}
	if when.Absent {
		return objects.ErrInvalidRequest("If-None-Match is not a condition of a deletion")
	}
	err = c.h.Store.Delete(c.r.Context(), c.caller, c.bucket, c.key, when.ETag)
	if e, ok := apierror.AsError(err); ok && e.Code == "NoSuchKey" {
		if when.ETag != "" {
			return errPrecondition
		}
		_, err = c.h.Store.Buckets.Get(c.r.Context(), c.caller.Service(), c.bucket)
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c *call) deleteObjects() error {
	ctx := c.r.Context()
	var doc deleteRequest
	ok, err := c.document("Delete", &doc)
	switch {
	case err != nil:
		return err
	case !ok:
		return objects.ErrInvalidRequest("Body must be object")
	case len(doc.Objects) == 0:
		return objects.ErrInvalidRequest("Body, Delete must be object")
	}
	if len(doc.Objects) > 1000 {
		return apierror.Errorf(400, "MalformedXML", "At most 1000 objects can be deleted per request")
	}
	if _, err := c.h.Store.Buckets.Get(ctx, c.caller.Service(), c.bucket); err != nil {
		return err
	}
	out := deleteReply{Xmlns: namespace}
	var present []deletedEntry
	var names []string
	for _, o := range doc.Objects {
		if o.ETag != "" {
			return apierror.Errorf(501, "NotImplemented", "A condition of DeleteObjects is not implemented; delete one by one.")
		}
		entry := deletedEntry{o.Key, o.VersionId}
		if !isCurrent(o.VersionId) {
			out.Errors = append(out.Errors, deleteErrorEntry{entry, errNoVersion.Code, errNoVersion.Message})
			continue
		}
		present, names = append(present, entry), append(names, o.Key)
	}
	removed, err := c.h.Store.DeleteMany(ctx, c.caller, c.bucket, names)
	if err != nil {
		return err
	}
	deleted := map[string]bool{}
	for _, o := range removed {
		deleted[o.Name] = true
	}
	left, err := c.h.Store.Visible(ctx, c.caller.Service(), c.bucket, names)
	if err != nil {
		return err
	}
	for _, entry := range present {
		switch {
		case left[entry.Key] && !deleted[entry.Key]:
			out.Errors = append(out.Errors, deleteErrorEntry{entry, "AccessDenied", "Access Denied"})
		case !doc.Quiet:
			out.Deleted = append(out.Deleted, entry)
		}
	}
	return reply(c.w, http.StatusOK, out)
}

// source parses x-amz-copy-source: bucket/key, percent-encoded, with or without a leading slash.
func (c *call) source() (bucket, key string, err error) {
	text := strings.TrimPrefix(c.r.Header.Get("X-Amz-Copy-Source"), "/")
	text, version, _ := strings.Cut(text, "?versionId=")
	if !isCurrent(version) {
		return "", "", errNoVersion
	}
	if text, err = url.PathUnescape(text); err != nil {
		return "", "", objects.ErrInvalidParameter("CopySource")
	}
	bucket, key, _ = strings.Cut(text, "/")
	if bucket == "" {
		return "", "", objects.ErrInvalidBucketName()
	}
	if key == "" {
		return "", "", objects.ErrMissingParameter("CopySource")
	}
	return bucket, key, nil
}

func (c *call) copyObject() error {
	bucket, key, err := c.source()
	if err != nil {
		return err
	}
	keep := c.r.Header.Get("X-Amz-Metadata-Directive") != "REPLACE"
	p := objects.Copy{FromBucket: bucket, FromName: key, ToBucket: c.bucket, ToName: c.key, Owner: c.caller.Subject,
		Upsert: true, KeepMetadata: keep, UserMetadata: userMetadata(c.r.Header), Check: c.checkSource}
	if kind := c.r.Header.Get("Content-Type"); kind != "" {
		p.MimeType = &kind
	}
	if cache := c.r.Header.Get("Cache-Control"); cache != "" {
		p.CacheControl = &cache
	}
	if p.Condition, err = writeCondition(c.r.Header); err != nil {
		return err
	}
	o, err := c.h.Store.Copy(c.r.Context(), c.caller, p)
	if err != nil {
		return err
	}
	m, _ := o.Meta()
	return reply(c.w, http.StatusOK, copyReply{XMLName: xml.Name{Local: "CopyObjectResult"}, Xmlns: namespace,
		ETag: m.ETag, LastModified: m.LastModified})
}

// checkSource evaluates the conditions on the source of a copy. It returns 412 if one fails.
func (c *call) checkSource(o *objects.Object) error {
	m, _ := o.Meta()
	if condition(c.r.Header, "X-Amz-Copy-Source-If-", m, o.UpdatedAt) != 0 {
		return errPrecondition
	}
	return nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
