package storage

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/images"
	"daawo/supabase/internal/engine/storage/objects"
)

// transformation is the requested change of a picture.
type transformation struct{ images.Transform }

// readTransformation reads the options from a query or from the member transform of a body, in the
// order of the schema.
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

// Segments returns imgproxy's path segments. It maps the error for an invalid focal point, which
// the schema does not check, to storage-api's error.
func (t transformation) Segments(original bool) ([]string, error) {
	s, err := t.Transform.Segments(original)
	if err != nil {
		return nil, apierror.Errorf(400, "InvalidParameter", "%s", err.Error())
	}
	return s, nil
}

// renderHandler sends resized pictures.
type renderHandler struct {
	objectReader
	images *images.Renderer
}

func (h renderHandler) getPublic(c *call) error {
	q := c.query()
	t := readTransformation(q)
	if q.err != nil {
		return q.err
	}
	return objects.UseCurrent(func() (*objects.Object, error) { return h.public(c) },
		func(o *objects.Object) error { return h.render(c, o, t, "") })
}

func (h renderHandler) getAuthenticated(c *call) error {
	q := c.query()
	t := readTransformation(q)
	if q.err != nil {
		return q.err
	}
	if err := objects.CheckName(c.name); err != nil {
		return err
	}
	return objects.UseCurrent(func() (*objects.Object, error) { return h.object(c) },
		func(o *objects.Object) error { return h.render(c, o, t, "") })
}

func (h renderHandler) getSigned(c *call) error {
	u, err := h.signedURL(c)
	if err != nil {
		return err
	}
	t := transformation{images.Parse(u.Transformations)}
	return objects.UseCurrent(func() (*objects.Object, error) { return h.object(c) },
		func(o *objects.Object) error { return h.render(c, o, t, expires(u)) })
}

// render resizes an object and sends the result.
func (h renderHandler) render(c *call, o *objects.Object, t transformation, expires string) error {
	if err := checkDownload(c); err != nil {
		return err
	}
	segments, err := t.Segments(false)
	if err != nil {
		return err
	}
	m, err := h.describe(c, o)
	if err != nil {
		return err
	}
	accept := ""
	if t.Format != "origin" {
		accept = c.r.Header.Get("Accept")
	}
	picture, err := h.images.Render(c.r.Context(), images.Source{Key: o.Key(), Size: *m.Size, ContentType: m.MimeType},
		t.Transform, accept)
	if err != nil {
		return renderError(err)
	}
	defer picture.Body.Close()
	m.MimeType = picture.ContentType
	if !picture.Modified.IsZero() {
		m.LastModified = objects.Timestamp(picture.Modified)
	}
	setObjectHeaders(c, m, expires)
	header := c.w.Header()
	if picture.Size >= 0 {
		header.Set("Content-Length", strconv.FormatInt(picture.Size, 10))
	}
	if len(segments) > 0 {
		header.Set("X-Transformations", strings.Join(segments, ","))
	}
	setDisposition(c)
	c.w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(c.w, picture.Body); err != nil && c.r.Context().Err() == nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// renderError maps an error of the renderer to a reply.
func renderError(err error) error {
	var request images.RequestError
	var proxy *images.ProxyError
	switch {
	case errors.As(err, &request):
		return objects.ErrInvalidRequest(err.Error())
	case errors.As(err, &proxy) && proxy.Status == http.StatusNotFound: // imgproxy did not find the source
		return apierror.Errorf(404, "InvalidRequest", "%s",
			proxy.Message).WithCause(fmt.Errorf("%w: %w", backend.ErrNotFound, err))
	case errors.As(err, &proxy) && proxy.Status < 500:
		return apierror.Errorf(proxy.Status, "InvalidRequest", "%s", proxy.Message)
	case errors.As(err, &proxy):
		return apierror.Errorf(500, "InternalError", "%s", proxy.Message)
	}
	return errMissing(err)
}
