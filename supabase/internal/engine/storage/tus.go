package storage

import (
	"net/http"
	"net/url"
	"strings"

	"daawo/supabase/internal/engine/storage/tus"
)

// tusRoot is the endpoint's path in this engine. Its public path may differ.
const tusRoot = "/upload/resumable"

var tusOperations = map[string]string{
	http.MethodPost: "storage.tus.upload.create", http.MethodPatch: "storage.tus.upload.part",
	http.MethodPut: "storage.tus.upload.part", http.MethodHead: "storage.tus.upload.get",
	http.MethodDelete: "storage.tus.upload.delete", http.MethodOptions: "storage.tus.options",
}

// resumable serves the TUS endpoint. Below /sign, the token of a signed upload URL replaces the
// JWT.
func (e *Engine) resumable(w http.ResponseWriter, r *http.Request) {
	operation, known := tusOperations[r.Method]
	path := strings.TrimPrefix(r.URL.Path, tusRoot)
	if !known || path != "" && path[0] != '/' {
		e.rest(w, r)
		return
	}
	rest, signed := strings.CutPrefix(path, "/sign")
	signed = signed && (rest == "" || rest[0] == '/')
	if (path == "" || signed && rest == "") && r.Method != http.MethodPost && r.Method != http.MethodOptions {
		e.rest(w, r) // the other methods need the id of an upload
		return
	}
	c := &call{w: w, r: r}
	access := tokenRequired
	if signed {
		path, access, operation = rest, unauthenticated, operation+"_signed"
	}
	if r.Method == http.MethodOptions {
		access = unauthenticated
	}
	if err := e.authorize(c, access, operation); err != nil {
		e.fail(c, err)
		return
	}
	e.tus.ServeTUS(w, r, tus.Request{Caller: c.caller, Owner: c.caller.Subject, Upsert: c.flag("X-Upsert"),
		Signed: signed, Path: strings.TrimSuffix(path, "/")})
}

// location returns the absolute URL of an upload, with the host that the client used.
func (e *Engine) location(r *http.Request, signed bool, id string) string {
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if forwarded := r.Header.Get("X-Forwarded-Host"); e.AllowForwardedHeaders && forwarded != "" {
		host = forwarded
		if port := r.Header.Get("X-Forwarded-Port"); port != "" && port != "80" && port != "443" {
			name, _, _ := strings.Cut(host, ":")
			host = name + ":" + port
		}
	}
	if proto := r.Header.Get("X-Forwarded-Proto"); e.AllowForwardedHeaders && (proto == "http" || proto == "https") {
		scheme = proto
	}
	if public, err := url.Parse(e.PublicURL); err == nil && public.Host != "" {
		scheme, host = public.Scheme, public.Host
	}
	path := orElse(e.TUSPath, tusRoot)
	if e.AllowForwardedPrefix {
		path = strings.TrimRight(r.Header.Get("X-Forwarded-Prefix"), "/") + path
	}
	if signed {
		path += "/sign"
	}
	return scheme + "://" + host + path + "/" + id
}
