package storage

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"daawo/supabase/internal/engine/storage/objects"
)

// setObjectHeaders sets the headers of every reply that contains or describes an object. expires is
// the Expires header of a signed URL, or "".
func setObjectHeaders(c *call, m objects.Metadata, expires string) {
	h := c.w.Header()
	h.Set("Accept-Ranges", "bytes")
	setSafe(h, "Content-Type", inert(m.MimeType))
	h.Set("X-Content-Type-Options", "nosniff")
	if objects.Scriptable(m.MimeType) {
		h.Set("Content-Security-Policy", objects.SandboxPolicy)
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

// setSafe sets a header whose value comes from an uploader. It omits values with control
// characters.
func setSafe(h http.Header, name, value string) {
	if value != "" && !strings.ContainsFunc(value, isControl) {
		h.Set(name, value)
	}
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// inert returns the Content-Type of a reply. Uploaded HTML becomes plain text, so that browsers do
// not run it.
func inert(contentType string) string {
	if strings.Contains(strings.ToLower(contentType), "text/html") {
		return "text/plain"
	}
	if strings.ContainsFunc(contentType, isControl) {
		return "application/octet-stream"
	}
	return contentType
}

// notModified evaluates If-None-Match or, without it, If-Modified-Since.
func notModified(r *http.Request, m objects.Metadata) bool {
	if header := r.Header.Get("If-None-Match"); header != "" {
		for _, tag := range strings.Split(header, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == "*" || tag == m.ETag {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	modified := m.Modified()
	return err == nil && !modified.IsZero() && !modified.After(since)
}

// ifRange evaluates If-Range: false means that the object has changed and the client gets all of
// it.
func ifRange(r *http.Request, m objects.Metadata) bool {
	header := r.Header.Get("If-Range")
	if header == "" || header == m.ETag {
		return true
	}
	date, err := http.ParseTime(header)
	return err == nil && date.Equal(m.Modified().Truncate(time.Second))
}

// checkDownload returns an error if the query has several names for the downloaded file.
func checkDownload(c *call) error {
	q := c.query()
	q.text("download")
	return q.err
}

// setDisposition sets Content-Disposition if the query has "download" or "download=name".
func setDisposition(c *call) {
	values := parseQuery(c.r.URL.RawQuery)
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
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A",
		"*").Replace(url.QueryEscape(s))
}
