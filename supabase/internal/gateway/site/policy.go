package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
)

// additionsFile, written by the site's build, lists sources for directives that cannot be read from
// the pages, such as the hash of a <style> element that a library inserts in the browser. It is not
// served.
const additionsFile = "csp.json"

// additions maps the name of a directive to additional sources.
type additions map[string][]string

func readAdditions(files fs.FS) (additions, error) {
	data, err := fs.ReadFile(files, additionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a site that is not built, or the desk
	}
	if err != nil {
		return nil, err
	}
	var more additions
	if err := json.Unmarshal(data, &more); err != nil {
		return nil, fmt.Errorf("%s: %w", additionsFile, err)
	}
	return more, nil
}

// pagePolicy returns the Content-Security-Policy of one page. Its inline scripts and styles are
// allowed by hash, everything else must come from our own origin. Style attributes are allowed
// because Radix positions elements with them.
func pagePolicy(page []byte, more additions) string {
	scripts, styles := inline(page)
	scripts, styles = append(scripts, more["script-src"]...), append(styles, more["style-src"]...)
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + strings.Join(append([]string{"'self'"}, scripts...), " "),
		"style-src " + strings.Join(append([]string{"'self'"}, styles...), " "),
		"style-src-attr 'unsafe-inline'",
		"img-src 'self' blob: data:",
		"font-src 'self'",
		"media-src 'self'",
		"frame-src 'self'",
		"connect-src 'self'",
		"manifest-src 'self'",
		"worker-src 'self'",
		"form-action 'self'",
		"base-uri 'none'",
		"object-src 'none'",
		"frame-ancestors 'none'",
	}, "; ")
}

// workerPolicy is the policy of a service worker, which fetches the files it caches.
const workerPolicy = "default-src 'none'; connect-src 'self'"

// inline returns the hashes of the executable inline scripts and the style elements of a page.
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

// runs reports whether a script element holds a script and not data.
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
