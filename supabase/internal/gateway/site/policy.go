package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
)

// pagePolicy is the Content-Security-Policy of one page: what it carries inline is allowed by hash, everything else
// comes from our own origin. Style attributes are allowed, since Radix positions things with them.
func pagePolicy(page []byte) string {
	scripts, styles := inline(page)
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + strings.Join(append([]string{"'self'"}, scripts...), " "),
		"style-src " + strings.Join(append([]string{"'self'"}, styles...), " "),
		"style-src-attr 'unsafe-inline'",
		"img-src 'self' blob: data:",
		"font-src 'self'",
		"media-src 'self'", // recordings of the guides
		"frame-src 'self'", // the reference on the thank-you page
		"connect-src 'self'",
		"manifest-src 'self'",
		"worker-src 'self'",
		"form-action 'self'",
		"base-uri 'none'",
		"object-src 'none'",
		"frame-ancestors 'none'",
	}, "; ")
}

// workerPolicy is that of a service worker, which fetches what it keeps.
const workerPolicy = "default-src 'none'; connect-src 'self'"

// inline finds the scripts that run and the style elements of a page and gives their hashes.
func inline(page []byte) (scripts, styles []string) {
	z := nethtml.NewTokenizer(bytes.NewReader(page))
	var into *[]string
	for {
		switch z.Next() {
		case nethtml.ErrorToken:
			return scripts, styles
		case nethtml.StartTagToken:
			token := z.Token()
			into = nil
			switch {
			case token.Data == "style":
				into = &styles
			case token.Data == "script" && runs(token.Attr):
				into = &scripts
			}
		case nethtml.TextToken:
			if into == nil {
				continue
			}
			sum := sha256.Sum256(z.Raw())
			hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			if !slices.Contains(*into, hash) {
				*into = append(*into, hash)
			}
		case nethtml.EndTagToken:
			into = nil
		}
	}
}

// runs says whether a script element holds a script and not data.
func runs(attributes []nethtml.Attribute) bool {
	for _, a := range attributes {
		if a.Key == "src" {
			return false
		}
		if a.Key == "type" && a.Val != "" && a.Val != "module" && a.Val != "text/javascript" {
			return false
		}
	}
	return true
}
