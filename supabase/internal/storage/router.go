package storage

import (
	"io"
	"net/http"
	"strings"

	"daawo/supabase/internal/wire"
)

// route is one address of the API. In a pattern ":" stands for one step of the path and a "*" at the end for the rest.
type route struct {
	method, pattern string
	access          access
	operation       string
	handle          func(*call) error
}

// routes is the whole REST surface, in the order in which they are tried: fixed steps before variable ones.
func (e *Engine) routes() []route {
	rs := []route{
		{"POST", "/bucket", required, "storage.bucket.create", (*call).createBucket},
		{"GET", "/bucket", required, "storage.bucket.list", (*call).listBuckets},
		{"GET", "/bucket/:", required, "storage.bucket.get", (*call).getBucket},
		{"PUT", "/bucket/:", required, "storage.bucket.update", (*call).updateBucket},
		{"DELETE", "/bucket/:", required, "storage.bucket.delete", (*call).deleteBucket},
		{"POST", "/bucket/:/empty", service, "storage.bucket.empty", (*call).emptyBucket},

		{"GET", "/object/public/:/*", open, "storage.object.get_public", (*call).downloadPublic},
		{"HEAD", "/object/public/:/*", open, "storage.object.info_public", (*call).headPublic},
		{"GET", "/object/info/public/:/*", open, "storage.object.info_public", (*call).infoPublic},
		{"GET", "/object/sign/:/*", open, "storage.object.get_signed", (*call).downloadSigned},
		{"HEAD", "/object/sign/:/*", open, "storage.object.get_signed", (*call).headSigned},
		{"PUT", "/object/upload/sign/:/*", open, "storage.object.upload_signed", (*call).uploadSigned},

		{"GET", "/object/authenticated/:/*", required, "storage.object.get_authenticated", (*call).download},
		{"HEAD", "/object/authenticated/:/*", required, "object.head_authenticated_info", (*call).head},
		{"GET", "/object/info/authenticated/:/*", required, "object.get_authenticated_info", (*call).info},
		{"HEAD", "/object/info/authenticated/:/*", required, "object.get_authenticated_info", (*call).info},
		{"GET", "/object/info/:/*", optional, "object.get_authenticated_info", (*call).info},
		{"HEAD", "/object/info/:/*", optional, "object.get_authenticated_info", (*call).info},

		{"POST", "/object/upload/sign/:/*", required, "storage.object.sign_upload_url", (*call).signUpload},
		{"POST", "/object/sign/:/*", required, "storage.object.sign", (*call).signOne},
		{"POST", "/object/sign/:", required, "storage.object.sign_many", (*call).signMany},
		{"POST", "/object/list/:", required, "storage.object.list", (*call).list},
		{"POST", "/object/list-v2/:", required, "storage.object.list_v2", (*call).listV2},
		{"POST", "/object/move", required, "storage.object.move", (*call).move},
		{"POST", "/object/copy", required, "storage.object.copy", (*call).copyObject},

		{"DELETE", "/object/:", required, "storage.object.delete_many", (*call).deleteMany},
		{"DELETE", "/object/:/*", required, "storage.object.delete", (*call).deleteOne},
		{"POST", "/object/:/*", required, "storage.object.upload", (*call).upload},
		{"PUT", "/object/:/*", required, "storage.object.upload_update", (*call).uploadUpdate},
		{"HEAD", "/object/:/*", optional, "object.head_authenticated_info", (*call).head},
		{"GET", "/object/:/*", optional, "storage.object.get_authenticated", (*call).download},

		{"GET", "/health", anonymous, "", (*call).health},
	}
	if e.images != nil {
		rs = append(rs,
			route{"GET", "/render/image/authenticated/:/*", required, "storage.render.image_authenticated", (*call).renderAuthenticated},
			route{"GET", "/render/image/public/:/*", open, "storage.render.image_public", (*call).renderPublic},
			route{"GET", "/render/image/sign/:/*", open, "storage.render.image_sign", (*call).renderSigned},
		)
	}
	return rs
}

// match compares an escaped path with the pattern and gives the decoded variables.
func (r *route) match(path string) (bucket, name string, ok bool) {
	pattern := r.pattern
	for pattern != "" {
		step := pattern[1:]
		rest := ""
		if i := strings.IndexByte(step, '/'); i >= 0 {
			step, rest = step[:i], step[i:]
		}
		if !strings.HasPrefix(path, "/") {
			return "", "", false
		}
		path = path[1:]
		if step == "*" {
			return bucket, decode(path), true
		}
		have := path
		if i := strings.IndexByte(path, '/'); i >= 0 {
			have, path = path[:i], path[i:]
		} else {
			path = ""
		}
		switch {
		case step == ":":
			if have == "" {
				return "", "", false
			}
			bucket = decode(have)
		case step != have:
			return "", "", false
		}
		pattern = rest
	}
	// The collection itself answers with and without a slash at its end.
	return bucket, "", path == "" || path == "/" && strings.Count(r.pattern, "/") == 1
}

// rest serves everything that is neither TUS nor S3.
func (e *Engine) rest(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	for i := range e.table {
		route := &e.table[i]
		if route.method != r.Method {
			continue
		}
		bucket, name, ok := route.match(path)
		if !ok {
			continue
		}
		c := &call{e: e, w: w, r: r, bucket: bucket, name: name}
		err := c.authorize(route.access, route.operation)
		if err == nil {
			err = route.handle(c)
		}
		if err != nil {
			c.fail(err)
		}
		return
	}
	if r.Method == http.MethodHead { // GET routes without a HEAD of their own answer HEAD as well
		get := r.Clone(r.Context())
		get.Method = http.MethodGet
		for i := range e.table {
			if _, _, ok := e.table[i].match(path); ok && e.table[i].method == http.MethodGet {
				e.rest(headOnly{w}, get)
				return
			}
		}
	}
	notFound := wire.Errorf(404, "InvalidRequest", "Route %s:%s not found", r.Method, r.URL.RequestURI())
	notFound.Details = wire.StorageDetails{Error: "Not Found", Reply: 404}
	wire.WriteStorageError(w, notFound)
}

// headOnly drops the body of a GET that answers a HEAD.
type headOnly struct{ http.ResponseWriter }

func (h headOnly) Write(p []byte) (int, error) { return len(p), nil }

// ReadFrom does not even read it.
func (h headOnly) ReadFrom(io.Reader) (int64, error) { return 0, nil }

// fail sends an error and logs those that are ours.
func (c *call) fail(err error) {
	if body, _ := wire.StorageError(err); body.StatusCode[0] == '5' && c.r.Context().Err() == nil {
		c.e.log.ErrorContext(c.r.Context(), "storage: request failed", "method", c.r.Method, "operation", c.caller.Operation, "error", err)
	}
	wire.WriteStorageError(c.w, err)
}
