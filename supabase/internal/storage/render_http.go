package storage

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/images"
	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/wire"
)

type transformation struct{ images.Transform }

// readTransformation reads the options of a query or of a body's transform, in the schema's order.
func readTransformation(f *fields) transformation {
	var t images.Transform
	whole := func(target *int64, name string, least, most int64) {
		if n := f.integer(name, least, most); n != nil {
			*target = *n
		}
	}
	text := func(target *string, name string, oneOf ...string) {
		if _, ok := f.m[name]; ok {
			*target = f.text(name, oneOf...)
		}
	}
	whole(&t.Height, "height", 0, 1<<53)
	whole(&t.Width, "width", 0, 1<<53)
	text(&t.Resize, "resize", "cover", "contain", "fill")
	text(&t.Format, "format", "origin", "avif", "webp")
	whole(&t.Quality, "quality", 20, 100)
	text(&t.Gravity, "gravity", "no", "so", "ea", "we", "noea", "nowe", "soea", "sowe", "ce", "sm", "fp")
	t.X, t.Y = f.number("x_offset"), f.number("y_offset")
	if t.Gravity == "fp" && f.err == nil {
		f.require("x_offset", "y_offset")
		for _, offset := range []struct {
			name  string
			value *float64
		}{{"x_offset", t.X}, {"y_offset", t.Y}} {
			switch {
			case offset.value == nil:
			case *offset.value < 0:
				f.fail(`%s/%s must be >= 0, %s must match "then" schema`, f.at, offset.name, f.at)
			case *offset.value > 1:
				f.fail(`%s/%s must be <= 1, %s must match "then" schema`, f.at, offset.name, f.at)
			}
		}
	}
	return transformation{t}
}

// Segments turns the one mistake that a schema does not see into storage-api's error.
func (t transformation) Segments(original bool) ([]string, error) {
	s, err := t.Transform.Segments(original)
	if err != nil {
		return nil, wire.Errorf(400, "InvalidParameter", "%s", err.Error())
	}
	return s, nil
}

func (c *call) renderPublic() error {
	q := c.query()
	t := readTransformation(q)
	if q.err != nil {
		return q.err
	}
	return objects.Read(c.public, func(o *objects.Object) error { return c.render(o, t, "") })
}

func (c *call) renderAuthenticated() error {
	q := c.query()
	t := readTransformation(q)
	if q.err != nil {
		return q.err
	}
	if err := objects.CheckName(c.name); err != nil {
		return err
	}
	return objects.Read(c.object, func(o *objects.Object) error { return c.render(o, t, "") })
}

func (c *call) renderSigned() error {
	u, err := c.signed()
	if err != nil {
		return err
	}
	t := transformation{images.Parse(u.Transformations)}
	return objects.Read(c.object, func(o *objects.Object) error { return c.render(o, t, expires(u)) })
}

func (c *call) render(o *objects.Object, t transformation, expires string) error {
	segments, err := t.Segments(false)
	if err != nil {
		return err
	}
	m, err := c.describe(o)
	if err != nil {
		return err
	}
	accept := ""
	if t.Format != "origin" {
		accept = c.r.Header.Get("Accept")
	}
	picture, err := c.e.images.Render(c.r.Context(), images.Source{Key: o.Key(), Size: *m.Size, ContentType: m.MimeType}, t.Transform, accept)
	if err != nil {
		return renderError(err)
	}
	defer picture.Body.Close()
	m.MimeType = picture.ContentType
	if !picture.Modified.IsZero() {
		m.LastModified = objects.Timestamp(picture.Modified)
	}
	c.describeHeaders(m, expires)
	h := c.w.Header()
	if picture.Size >= 0 {
		h.Set("Content-Length", strconv.FormatInt(picture.Size, 10))
	}
	if len(segments) > 0 {
		h.Set("X-Transformations", strings.Join(segments, ","))
	}
	c.disposition()
	c.w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(c.w, picture.Body); err != nil && c.r.Context().Err() == nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// renderError is what a client is told when its picture could not be rendered.
func renderError(err error) error {
	var refusal images.Refusal
	var refused *images.ProxyError
	switch {
	case errors.As(err, &refusal):
		return objects.ErrInvalidRequest(err.Error())
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound: // what it was to read is not there
		return wire.Errorf(404, "InvalidRequest", "%s", refused.Message).WithCause(fmt.Errorf("%w: %w", backend.ErrNotFound, err))
	case errors.As(err, &refused) && refused.Status < 500:
		return wire.Errorf(refused.Status, "InvalidRequest", "%s", refused.Message)
	case errors.As(err, &refused):
		return wire.Errorf(500, "InternalError", "%s", refused.Message)
	}
	return errMissing(err)
}
