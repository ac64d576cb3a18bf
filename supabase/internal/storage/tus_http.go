package storage

import (
	"net/http"
	"net/url"
	"strings"

	"daawo/supabase/internal/storage/tus"
)

// tusRoot is the endpoint below this engine's root; clients may know it under another path.
const tusRoot = "/upload/resumable"

var tusOperations = map[string]string{
	http.MethodPost: "storage.tus.upload.create", http.MethodPatch: "storage.tus.upload.part", http.MethodPut: "storage.tus.upload.part",
	http.MethodHead: "storage.tus.upload.get", http.MethodDelete: "storage.tus.upload.delete", http.MethodOptions: "storage.tus.options",
}

// resumable serves the TUS endpoint: with a token, or below /sign with the signature of an upload URL.
func (e *Engine) resumable(w http.ResponseWriter, r *http.Request) {
	operation, known := tusOperations[r.Method]
	path := strings.TrimPrefix(r.URL.Path, tusRoot)
	if !known || path != "" && path[0] != '/' {
		e.rest(w, r)
		return
	}
	c := &call{e: e, w: w, r: r}
	rest, signed := strings.CutPrefix(path, "/sign")
	signed = signed && (rest == "" || rest[0] == '/')
	access := anonymous
	if signed {
		path, access, operation = rest, open, operation+"_signed"
	}
	if r.Method == http.MethodOptions || r.Method == http.MethodHead && r.Header.Get("Authorization") == "" {
		access = open
	}
	if err := c.authorize(access, operation); err != nil {
		c.fail(err)
		return
	}
	e.tus.ServeTUS(w, r, tus.Request{Caller: c.caller, Owner: c.caller.Subject, Upsert: c.flag("X-Upsert"), Signed: signed,
		Path: strings.TrimSuffix(path, "/")})
}

// location is the absolute address of an upload, as the client reached us.
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
