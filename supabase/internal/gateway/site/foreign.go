package site

import (
	"cmp"
	"net/http"
	"path"
	"regexp"
	"strings"
)

// hashedName matches file names in which a bundler put a hash of the content, such as
// index-B1x9Kq2d.js and app.3f2a91bc.css. The hash has a digit, unlike the words of other names.
var hashedName = regexp.MustCompile(`[-.]([A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*)\.[a-z0-9]+$`)

const hashLength = 8

func isHashed(name string) bool {
	if strings.HasPrefix(name, "_next/static/") {
		return true
	}
	m := hashedName.FindStringSubmatch(path.Base(name))
	return m != nil && len(m[1]) >= hashLength
}

// foreignPolicy is the Content-Security-Policy of a page of another build. The page can restrict
// itself further with a meta element.
const foreignPolicy = "object-src 'none'; base-uri 'self'; frame-ancestors 'none'"

// foreignAsset returns an asset of another build.
func foreignAsset(name string, data []byte) *asset {
	a := &asset{contentType: contentTypes[path.Ext(name)], cache: "no-cache", policy: foreignPolicy, foreign: true}
	a.contentType = cmp.Or(a.contentType, "application/octet-stream")
	if isHashed(name) {
		a.cache = "public, max-age=31536000, immutable"
	}
	a.keep(data)
	return a
}

// foreignHeaders replaces the defaults of the gateway that are too strict for a site that it does
// not know.
func foreignHeaders(h http.Header) {
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("Permissions-Policy", "browsing-topics=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
}

// foreignPage returns name.html for name, or index.html for a page that only the script of a
// single-page application knows. It returns nil for the path of a missing file.
func (s *Site) foreignPage(r *http.Request, name string) *asset {
	if a, ok := s.assets[name+".html"]; ok && name != "" {
		return a
	}
	_, own404 := s.assets["404.html"]
	index, ok := s.assets["index.html"]
	if own404 || !ok || path.Ext(name) != "" && !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return nil
	}
	return index
}
