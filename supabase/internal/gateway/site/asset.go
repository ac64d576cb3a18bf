package site

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"math/bits"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/andybalholm/brotli"
)

// asset is one served file.
type asset struct {
	plain, br, gz content
	contentType   string
	cache         string
	etag          string // without quotes
	policy        string // Content-Security-Policy of a page
	foreign       bool   // of another build
	best          atomic.Bool
}

// hashedFolder is where the build puts files with a hash in their name. They never change.
const hashedFolder = "assets/"

// contentTypes are fixed here because operating systems differ in theirs.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".webmanifest": "application/manifest+json", ".xml": "application/xml; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg",
	".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon", ".woff2": "font/woff2", ".woff": "font/woff",
	".ttf": "font/ttf", ".pdf": "application/pdf", ".gif": "image/gif", ".jpeg": "image/jpeg",
	".map": "application/json", ".wasm": "application/wasm", ".mp4": "video/mp4", ".webm": "video/webm",
	".mp3": "audio/mpeg",
}

// ContentType returns the type of a file by the ending of its name, or "" for an unknown ending.
func ContentType(name string) string { return contentTypes[path.Ext(name)] }

func newAsset(name string, data []byte, v Values, texts map[string]string, more additions) *asset {
	a := &asset{contentType: ContentType(name)}
	a.contentType = cmp.Or(a.contentType, "application/octet-stream")
	hashed := strings.HasPrefix(name, hashedFolder)
	switch {
	case hashed:
		a.cache = "public, max-age=31536000, immutable"
	case path.Base(name) == "sw.js":
		a.cache = "no-store"
		a.policy = workerPolicy
	case path.Ext(name) == ".html" || a.compressible():
		a.cache = "no-cache"
	default:
		a.cache = "public, max-age=86400"
	}
	switch {
	case path.Ext(name) == ".html":
		data = fillTexts(fillPage(data, v), texts)
		a.policy = pagePolicy(data, more)
	case a.compressible() && !hashed:
		data = fillText(name, data, v)
	}
	a.keep(data)
	return a
}

// keep sets the content and its tag.
func (a *asset) keep(data []byte) {
	a.plain.kept.Store(&data)
	sum := sha256.Sum256(data)
	a.etag = base64.RawURLEncoding.EncodeToString(sum[:12])
}

// compressible reports whether files of this type shrink by compression.
func (a *asset) compressible() bool {
	return strings.HasPrefix(a.contentType, "text/") || strings.HasPrefix(a.contentType, "application/json") ||
		strings.HasPrefix(a.contentType, "application/manifest") ||
		strings.HasPrefix(a.contentType, "application/xml") ||
		a.contentType == "image/svg+xml"
}

// serve writes the asset in the best encoding that the client accepts. Its stack frame is small,
// see gateway.New.
func (a *asset) serve(w http.ResponseWriter, r *http.Request, status int) {
	data, replied := a.begin(w, r, status)
	if replied {
		return
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the client may have disconnected
	}
}

// maxRanges is the number of ranges of a request. The reply to thousands of short ranges is much
// longer than the file.
const maxRanges = 50

// tooManyRanges reports whether a request has more than maxRanges ranges. Such a request gets the
// whole file (RFC 9110, section 14.2).
func tooManyRanges(r *http.Request) bool {
	return strings.Count(r.Header.Get("Range"), ",") >= maxRanges
}

// begin sets the headers of a reply and returns its body. Ranges, which apply to the uncompressed
// form only, and conditional requests get their reply here.
func (a *asset) begin(w http.ResponseWriter, r *http.Request, status int) (data []byte, replied bool) {
	if tooManyRanges(r) {
		r.Header.Del("Range")
	}
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Cache-Control", a.cache)
	h.Set("Referrer-Policy", "same-origin")
	if a.foreign {
		foreignHeaders(h)
	}
	if a.policy != "" {
		h.Set("Content-Security-Policy", a.policy)
	}
	tag, encoding := a.etag, ""
	if a.compressible() {
		h.Add("Vary", "Accept-Encoding")
		if encoding = negotiate(r.Header.Get("Accept-Encoding")); r.Header.Get("Range") != "" {
			encoding = ""
		}
	}
	data, err := a.encoded(encoding)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return nil, true
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
		tag += "-" + encoding
	}
	if status == http.StatusOK {
		h.Set("ETag", `"`+tag+`"`)
		h.Set("Accept-Ranges", "bytes")
		if r.Header.Get("Range") != "" { // ServeContent copies the part; whole files need no copy
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			return nil, true
		}
		if matches(r.Header.Get("If-None-Match"), a.etag) {
			h.Del("Content-Encoding")
			h.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return nil, true
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	return data, false
}

// matches reports whether If-None-Match holds the asset's tag, in any encoding.
func matches(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		switch strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`) {
		case "*", etag, etag + "-br", etag + "-gzip":
			return true
		}
	}
	return false
}

// negotiate picks br or gzip from Accept-Encoding, or "" for neither. A quality of 0 excludes an
// encoding.
func negotiate(accept string) string {
	gzipTaken := false
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if f, err := strconv.ParseFloat(q, 64); err == nil && f == 0 {
				continue
			}
		}
		switch strings.TrimSpace(name) {
		case "br":
			return "br"
		case "gzip":
			gzipTaken = true
		}
	}
	if gzipTaken {
		return "gzip"
	}
	return ""
}

// encoded returns the file in an encoding, "" for the uncompressed one. It compresses on the first
// request, unless the build has done that, and keeps the result.
func (a *asset) encoded(encoding string) ([]byte, error) {
	if encoding == "" {
		return a.plain.data()
	}
	form, level, compress := &a.gz, gzip.DefaultCompression, gzipped
	if encoding == "br" {
		form, level, compress = &a.br, 5, brotlied
	}
	if data, err := form.data(); data != nil || err != nil {
		return data, err
	}
	data, err := a.plain.data()
	if err != nil {
		return nil, err
	}
	out := compress(data, level)
	form.kept.CompareAndSwap(nil, &out)
	return *form.kept.Load(), nil
}

// compressBest replaces the compressed forms, except the build's, by the smallest ones.
func (a *asset) compressBest() {
	if !a.compressible() || a.best.Swap(true) || a.br.built && a.gz.built {
		return
	}
	data, err := a.plain.data()
	if err != nil {
		return // a request gets the error
	}
	if !a.br.built {
		br := brotlied(data, brotli.BestCompression)
		a.br.kept.Store(&br)
		if a.plain.read == nil {
			a.plain.read = func() ([]byte, error) { return io.ReadAll(brotli.NewReader(bytes.NewReader(br))) }
		}
	}
	if !a.gz.built {
		gz := gzipped(data, gzip.BestCompression)
		a.gz.kept.Store(&gz)
	}
}

// brotlied compresses with a window that just covers the file: the encoder's memory is a multiple
// of the window, 32 MB for the largest, and no file gets smaller by more.
func brotlied(data []byte, level int) []byte {
	var out bytes.Buffer
	const smallest, largest = 16, 22 // powers of two
	window := min(max(bits.Len(uint(len(data)+windowReserve)), smallest), largest)
	w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: level, LGWin: window})
	_, _ = w.Write(data) // a bytes.Buffer never fails
	_ = w.Close()
	return bytes.Clone(out.Bytes()) // without the unused capacity, up to half of it
}

// windowReserve is how many bytes a window of brotli is shorter than its power of two (RFC 7932,
// section 9.1).
const windowReserve = 16

func gzipped(data []byte, level int) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil { // the level is a constant of the package
		w = gzip.NewWriter(&out)
	}
	_, _ = w.Write(data) // a bytes.Buffer never fails
	_ = w.Close()
	return bytes.Clone(out.Bytes())
}
