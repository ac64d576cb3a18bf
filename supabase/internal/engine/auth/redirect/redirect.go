// Package redirect decides which URLs may receive a redirect with a token: the site's own, loopback
// addresses, and URLs that match a glob of the allow list.
package redirect

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// List holds the site and the allow list.
type List struct {
	site  *url.URL
	globs []*regexp.Regexp
}

// New parses the URL of the site and the globs. In a glob, `*` matches any characters except `.`
// and `/`, `**` matches any characters, `?` matches one character except `.` and `/`, and `[ab]`,
// `[!a-c]` and `{one,two}` match alternatives.
func New(site string, globs []string) (*List, error) {
	base, err := url.Parse(site)
	if err != nil {
		return nil, fmt.Errorf("site URL: %w", err)
	}
	l := &List{site: base}
	for _, g := range globs {
		re, err := compile(strings.TrimSpace(g))
		if err != nil {
			return nil, fmt.Errorf("redirect URL %q: %w", g, err)
		}
		l.globs = append(l.globs, re)
	}
	return l, nil
}

// Host returns the host of the site, with its port if the URL has one.
func (l *List) Host() string { return l.site.Host }

// Allows reports whether a redirect to target may carry a session.
func (l *List) Allows(target string) bool {
	if target == "" {
		return false
	}
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	host := u.Hostname()
	// Native applications listen on any loopback port (RFC 8252, section 7.3).
	if host == l.site.Hostname() && u.Scheme == l.site.Scheme && (u.Port() == l.site.Port() || isLoopbackName(host)) {
		return true
	}
	if isDecimal(host) {
		return false // browsers read it as an IPv4 address
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	scheme := strings.ToLower(u.Scheme)
	if (scheme == "http" || scheme == "https") && !isPlainHost(host) {
		return false
	}
	bare, _, _ := strings.Cut(target, "#")
	for _, g := range l.globs {
		if g.MatchString(bare) {
			return true
		}
	}
	return false
}

func isLoopbackName(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

func isDecimal(host string) bool {
	return host != "" && strings.Trim(host, "0123456789") == ""
}

// isPlainHost rejects hosts that a glob and a browser may interpret differently.
func isPlainHost(host string) bool {
	if host == "" {
		return false
	}
	for i, c := range []byte(host) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || i == len(host)-1 || (c != '.' && c != '-')) {
			return false
		}
	}
	return true
}

// compile converts a glob to a regular expression that matches a whole URL.
func compile(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			if i+1 < len(glob) && glob[i+1] == '*' {
				i++
				b.WriteString(`.*`)
			} else {
				b.WriteString(`[^./]*`)
			}
		case '?':
			b.WriteString(`[^./]`)
		case '[':
			end := strings.IndexByte(glob[i:], ']')
			if end < 2 {
				return nil, fmt.Errorf("unclosed [")
			}
			set := glob[i+1 : i+end]
			b.WriteByte('[')
			if set[0] == '!' {
				b.WriteByte('^')
				set = set[1:]
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `^`, `\^`, `[`, `\[`).Replace(set))
			b.WriteByte(']')
			i += end
		case '{':
			depth++
			b.WriteString(`(?:`)
		case '}':
			if depth == 0 {
				return nil, fmt.Errorf("} without {")
			}
			depth--
			b.WriteByte(')')
		case ',':
			if depth > 0 {
				b.WriteByte('|')
			} else {
				b.WriteByte(',')
			}
		case '\\':
			if i+1 == len(glob) {
				return nil, fmt.Errorf("\\ at the end")
			}
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("unclosed {")
	}
	b.WriteString(`)\z`)
	return regexp.Compile(b.String())
}
