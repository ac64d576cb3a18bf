package storage

import (
	"io"
	"net/http"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

// route is one operation of the API. In its pattern, ":" matches one path segment and "*" at the
// end matches the rest.
type route struct {
	method, pattern string
	access          access
	operation       string
	handle          func(*call) error
}

// routes returns the routes of the REST API in the order of matching: fixed segments before
// variables.
func (e *Engine) routes() []route {
	reader := objectReader{e.store}
	bucket, object := bucketHandler{e.store}, objectHandler{e.store}
	download := downloadHandler{reader, e.log}
	upload := uploadHandler{e.store, e.standardLimit}
	sign := signHandler{e.store, e.signedUpload, e.images != nil}
	rs := []route{
		{"POST", "/bucket", required, "storage.bucket.create", bucket.create},
		{"GET", "/bucket", required, "storage.bucket.list", bucket.list},
		{"GET", "/bucket/:", required, "storage.bucket.get", bucket.get},
		{"PUT", "/bucket/:", required, "storage.bucket.update", bucket.update},
		{"DELETE", "/bucket/:", required, "storage.bucket.delete", bucket.delete},
		{"POST", "/bucket/:/empty", service, "storage.bucket.empty", bucket.empty},

		{"GET", "/object/public/:/*", unauthenticated, "storage.object.get_public", download.getPublic},
		{"HEAD", "/object/public/:/*", unauthenticated, "storage.object.info_public", download.headPublic},
		{"GET", "/object/info/public/:/*", unauthenticated, "storage.object.info_public", download.infoPublic},
		{"GET", "/object/sign/:/*", unauthenticated, "storage.object.get_signed", download.getSigned},
		{"HEAD", "/object/sign/:/*", unauthenticated, "storage.object.get_signed", download.headSigned},
		{"PUT", "/object/upload/sign/:/*", unauthenticated, "storage.object.upload_signed", upload.signed},

		{"GET", "/object/authenticated/:/*", required, "storage.object.get_authenticated", download.get},
		{"HEAD", "/object/authenticated/:/*", required, "object.head_authenticated_info", download.head},
		{"GET", "/object/info/authenticated/:/*", required, "object.get_authenticated_info", download.info},
		{"HEAD", "/object/info/authenticated/:/*", required, "object.get_authenticated_info", download.info},
		{"GET", "/object/info/:/*", optional, "object.get_authenticated_info", download.info},
		{"HEAD", "/object/info/:/*", optional, "object.get_authenticated_info", download.info},

		{"POST", "/object/upload/sign/:/*", required, "storage.object.sign_upload_url", sign.upload},
		{"POST", "/object/sign/:/*", required, "storage.object.sign", sign.one},
		{"POST", "/object/sign/:", required, "storage.object.sign_many", sign.many},
		{"POST", "/object/list/:", required, "storage.object.list", object.list},
		{"POST", "/object/list-v2/:", tokenRequired, "storage.object.list_v2", object.listV2},
		{"POST", "/object/move", required, "storage.object.move", object.move},
		{"POST", "/object/copy", required, "storage.object.copy", object.copy},

		{"DELETE", "/object/:", required, "storage.object.delete_many", object.deleteMany},
		{"DELETE", "/object/:/*", required, "storage.object.delete", object.delete},
		{"POST", "/object/:/*", required, "storage.object.upload", upload.create},
		{"PUT", "/object/:/*", required, "storage.object.upload_update", upload.update},
		{"HEAD", "/object/:/*", optional, "object.head_authenticated_info", download.head},
		{"GET", "/object/:/*", optional, "storage.object.get_authenticated", download.get},

		{"DELETE", "/cdn", service, "storage.cdn.tenant.purge_cache", noCDN},
		{"DELETE", "/cdn/:", service, "storage.cdn.bucket.purge_cache", noCDN},
		{"DELETE", "/cdn/:/*", service, "storage.cdn.object.purge_cache", noCDN},

		{"GET", "/health", tokenRequired, "", e.health},
	}
	if e.images != nil {
		render := renderHandler{reader, e.images}
		rs = append(rs,
			route{"GET", "/render/image/authenticated/:/*", required, "storage.render.image_authenticated",
				render.getAuthenticated},
			route{"GET", "/render/image/public/:/*", unauthenticated, "storage.render.image_public", render.getPublic},
			route{"GET", "/render/image/sign/:/*", unauthenticated, "storage.render.image_sign", render.getSigned},
		)
	}
	return rs
}

// match compares an escaped path with the pattern and returns the decoded variables.
func (r *route) match(path string) (bucket, name string, ok bool) {
	pattern := r.pattern
	for pattern != "" {
		segment := pattern[1:]
		rest := ""
		if i := strings.IndexByte(segment, '/'); i >= 0 {
			segment, rest = segment[:i], segment[i:]
		}
		if !strings.HasPrefix(path, "/") {
			return "", "", false
		}
		path = path[1:]
		if segment == "*" {
			return bucket, decode(path), true
		}
		have := path
		if i := strings.IndexByte(path, '/'); i >= 0 {
			have, path = path[:i], path[i:]
		} else {
			path = ""
		}
		switch {
		case segment == ":":
			if have == "" && r.pattern != "/bucket/:" { // there it is the name of no bucket
				return "", "", false
			}
			bucket = decode(have)
		case segment != have:
			return "", "", false
		}
		pattern = rest
	}
	// A pattern with one segment also matches a path with a trailing slash.
	return bucket, "", path == "" || path == "/" && strings.Count(r.pattern, "/") == 1
}

// checksBucket reports whether a request is refused for the form of its bucket's name, before the
// bucket is looked up. As in storage-api, most reads are not.
func checksBucket(method, path, bucket string) bool {
	read := method == http.MethodGet || method == http.MethodHead
	return bucket != "" && !strings.HasPrefix(path, "/bucket/") && (!read || strings.Contains(path, "/public/"))
}

// rest serves all requests that are neither TUS nor S3.
func (e *Engine) rest(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	if kind, ok := r.Header["Content-Type"]; ok && r.Method != http.MethodGet && r.Method != http.MethodHead &&
		!validContentType(kind[0]) {
		writeError(w, errContentType())
		return
	}
	for i := range e.table {
		route := &e.table[i]
		if route.method != r.Method {
			continue
		}
		bucket, name, ok := route.match(path)
		if !ok {
			continue
		}
		c := &call{w: w, r: r, bucket: bucket, name: name}
		err := e.authorize(c, route.access, route.operation)
		if err == nil && checksBucket(r.Method, path, bucket) {
			err = objects.CheckBucketName(bucket)
		}
		if err == nil {
			err = route.handle(c)
		}
		if err != nil {
			e.fail(c, err)
		}
		return
	}
	if r.Method == http.MethodHead { // a GET route without a HEAD route also serves HEAD
		get := r.Clone(r.Context())
		get.Method = http.MethodGet
		for i := range e.table {
			if _, _, ok := e.table[i].match(path); ok && e.table[i].method == http.MethodGet {
				e.rest(headOnly{w}, get)
				return
			}
		}
	}
	noRoute(w, r)
}

// restPrefixes are the parts of the API with storage-api's own reply to an unknown route. The rest
// has the reply of its HTTP framework.
var restPrefixes = []string{"/bucket", "/object", "/render/image", "/cdn", "/vector"}

// noRoute replies to a request for an unknown route.
func noRoute(w http.ResponseWriter, r *http.Request) {
	message := "Route " + r.Method + ":" + r.URL.RequestURI() + " not found"
	for _, prefix := range restPrefixes {
		if rest, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix); ok && (rest == "" || rest[0] == '/') {
			notFound := apierror.Errorf(404, "InvalidRequest", "%s", message)
			notFound.Details = objects.ErrorDetails{Error: "Not Found", Reply: 404}
			writeError(w, notFound.WithHeader("Content-Type", "application/json"))
			return
		}
	}
	body, _ := encode(struct { // never fails
		Message    string `json:"message"`
		Error      string `json:"error"`
		StatusCode int    `json:"statusCode"`
	}{message, "Not Found", 404})
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	w.Write(body)
}

// noCDN replies as storage-api without a CDN does.
func noCDN(*call) error { return objects.ErrMissingParameter("CDN_PURGE_ENDPOINT_URL is not set") }

// headOnly discards the body of a GET handler that serves a HEAD request.
type headOnly struct{ http.ResponseWriter }

func (h headOnly) Write(p []byte) (int, error) { return len(p), nil }

// ReadFrom discards the body without reading it.
func (h headOnly) ReadFrom(io.Reader) (int64, error) { return 0, nil }

func (e *Engine) health(c *call) error {
	return c.send(struct {
		Healthy bool `json:"healthy"`
	}{e.store.Healthy(c.r.Context()) == nil})
}
