package images

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"time"

	"daawo/supabase/internal/base/photo"
	"daawo/supabase/internal/engine/storage/backend"

	"golang.org/x/image/draw"
)

// maxSource is the largest file that is rendered, in bytes, as in storage-api's imgproxy settings.
const maxSource = 25 << 20

// maxResult is the most pixels of a resized picture. Most have at most maxEdge in both directions.
const maxResult = 24_000_000

// Config configures a Renderer.
type Config struct {
	Backend     backend.Backend
	ImgproxyURL string // "" renders in this process
}

// Renderer resizes pictures. It renders one picture at a time in this process, to limit memory.
type Renderer struct {
	backend   backend.Backend
	proxy     string
	client    *http.Client
	semaphore chan struct{}
}

// Source is the picture to render.
type Source struct {
	Key         backend.Key
	Size        int64
	ContentType string
}

// Picture is a rendered picture. Size is -1 if it is unknown.
type Picture struct {
	Body        io.ReadCloser
	Size        int64
	ContentType string
	Modified    time.Time
}

// RequestError is an error that the request or its source causes, with storage-api's message.
type RequestError string

func (r RequestError) Error() string { return string(r) }

// The request errors.
const (
	ErrTooLarge    RequestError = "The source image resolution is too large to process"
	ErrFrame       RequestError = "The source image frame resolution is too large to process"
	ErrFileTooBig  RequestError = "The source image file is too large to process"
	ErrUnsupported RequestError = "The source image is invalid or unsupported for rendering"
	// gravity fp needs both offsets
	ErrFocalPoint RequestError = "Focal point requires x and y coordinates within 0-1 range"
)

// New returns a Renderer.
func New(c Config) *Renderer {
	return &Renderer{backend: c.Backend, proxy: c.ImgproxyURL, client: newClient(headerTimeout),
		semaphore: make(chan struct{}, 1)}
}

// Render decodes a picture, transforms it and encodes it. The caller closes the body of the result.
func (r *Renderer) Render(ctx context.Context, s Source, t Transform, accept string) (*Picture, error) {
	if r.proxy != "" {
		return r.renderByProxy(ctx, s, t, accept)
	}
	if s.Size > maxSource {
		return nil, ErrFileTooBig
	}
	select {
	case r.semaphore <- struct{}{}:
		defer func() { <-r.semaphore }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	body, err := r.backend.Open(ctx, s.Key, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(body, maxSource))
	body.Close()
	if err != nil {
		return nil, err
	}
	img, info, err := photo.Decode(data, photo.Limits{})
	switch {
	case errors.Is(err, photo.ErrTooLarge):
		return nil, ErrTooLarge
	case err != nil:
		if safe, ok := sanitise(data); ok && (t.Format == "" || t.Format == "origin") {
			body := io.NopCloser(bytes.NewReader(safe))
			return &Picture{Body: body, Size: int64(len(safe)), ContentType: svgType}, nil
		}
		return nil, ErrUnsupported
	}
	fitted, err := fit(img, t)
	if err != nil {
		return nil, err
	}
	out, contentType, err := encode(fitted, info.Format, t)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return &Picture{Body: io.NopCloser(bytes.NewReader(out)), Size: int64(len(out)), ContentType: contentType}, nil
}

// fit resizes as imgproxy does: fill (cover) crops, fit (contain) keeps the whole picture, force
// (fill) stretches. A missing edge follows from the proportions; with force it keeps its length.
// Only force enlarges pictures. It returns ErrTooLarge for a result over maxResult.
func fit(img image.Image, t Transform) (image.Image, error) {
	b := img.Bounds()
	w, h := float64(b.Dx()), float64(b.Dy())
	if t.Width == 0 && t.Height == 0 {
		return img, nil
	}
	wantW, wantH := float64(clamp(t.Width)), float64(clamp(t.Height))
	mode := t.resizingType()
	switch {
	case t.Width == 0 && mode == "force":
		wantW = w
	case t.Width == 0:
		wantW = w * wantH / h
	case t.Height == 0 && mode == "force":
		wantH = h
	case t.Height == 0:
		wantH = h * wantW / w
	}
	source := b
	switch mode {
	case "fit":
		scale := min(wantW/w, wantH/h, 1)
		wantW, wantH = w*scale, h*scale
	case "fill":
		wantW, wantH = min(wantW, w), min(wantH, h)
		// Crop to the largest part of the source with the proportions of the result.
		scale := min(w/wantW, h/wantH)
		cropW, cropH := max(1, round(wantW*scale)), max(1, round(wantH*scale))
		x, y := t.anchor(b.Dx()-cropW, b.Dy()-cropH)
		source = image.Rect(0, 0, cropW, cropH).Add(b.Min).Add(image.Pt(x, y))
	}
	size := image.Pt(max(1, round(wantW)), max(1, round(wantH)))
	if size.X*size.Y > maxResult {
		return nil, ErrTooLarge
	}
	dst := image.NewRGBA(image.Rectangle{Max: size})
	if size == source.Size() {
		draw.Draw(dst, dst.Bounds(), img, source.Min, draw.Src)
	} else {
		scale(dst, img, source)
	}
	return dst, nil
}

// anchor returns the offset of the crop: in the centre, or as gravity says.
func (t Transform) anchor(spareX, spareY int) (x, y int) {
	x, y = spareX/2, spareY/2
	for i := 0; i+2 <= len(t.Gravity); i += 2 {
		switch t.Gravity[i : i+2] {
		case "no":
			y = 0
		case "so":
			y = spareY
		case "we":
			x = 0
		case "ea":
			x = spareX
		case "fp":
			if t.X != nil && t.Y != nil {
				x, y = round(*t.X*float64(spareX)), round(*t.Y*float64(spareY))
			}
		}
	}
	return min(max(x, 0), max(spareX, 0)), min(max(y, 0), max(spareY, 0))
}

func round(f float64) int { return int(f + 0.5) }

// defaultQuality is imgproxy's default JPEG quality.
const defaultQuality = 80

// encode writes WebP (lossless) if the request asks for it and the edges are not too long.
// Otherwise it writes PNG for PNG, GIF and transparent pictures, and JPEG for the rest. AVIF needs
// imgproxy.
func encode(img image.Image, source photo.Format, t Transform) ([]byte, string, error) {
	if b := img.Bounds(); t.Format == "webp" && b.Dx() <= maxWebP && b.Dy() <= maxWebP {
		return encodeWebP(img), "image/webp", nil
	}
	quality := cmp.Or(t.Quality, defaultQuality)
	var b bytes.Buffer
	opaque, ok := img.(interface{ Opaque() bool })
	transparent := ok && !opaque.Opaque()
	if source == photo.PNG || source == photo.GIF || transparent {
		err := (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&b, img)
		return b.Bytes(), "image/png", err
	}
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: int(min(max(quality, 1), 100))})
	return b.Bytes(), "image/jpeg", err
}
