package storage

import (
	"net/http"
	"net/url"
	"strings"
)

// s3Prefix returns the public path before /s3, which is part of the signature.
func (e *Engine) s3Prefix(r *http.Request) string {
	if prefix := r.Header.Get("X-Forwarded-Prefix"); e.AllowForwardedPrefix && prefix != "" {
		return prefix
	}
	return e.S3Prefix
}

// hosts returns the host names that a client may have used in its signature.
func (e *Engine) hosts(r *http.Request) []string {
	if public, err := url.Parse(e.PublicURL); err == nil && public.Host != "" {
		return []string{public.Host, r.Host}
	}
	hosts := []string{r.Host}
	if forwarded := strings.ToLower(r.Header.Get("X-Forwarded-Host")); e.AllowForwardedHeaders && forwarded != "" {
		hosts = append(hosts, forwarded)
		if port := r.Header.Get("X-Forwarded-Port"); port != "" {
			name, _, _ := strings.Cut(forwarded, ":")
			hosts = append(hosts, name+":"+port)
		}
	}
	return hosts
}
