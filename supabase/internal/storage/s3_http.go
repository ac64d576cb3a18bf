package storage

import (
	"net/http"
	"net/url"
	"strings"
)

// s3Prefix is the public path in front of /s3 that a client has signed.
func (e *Engine) s3Prefix(r *http.Request) string {
	if prefix := r.Header.Get("X-Forwarded-Prefix"); e.AllowForwardedPrefix && prefix != "" {
		return prefix
	}
	return e.S3Prefix
}

// hosts are the names under which a client may have signed a request to this server.
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
