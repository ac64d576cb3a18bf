package redirect

import (
	"net/url"
	"strings"
	"testing"
)

func TestAllows(t *testing.T) {
	l, err := New("https://example.org", []string{
		"https://*.example.com/welcome", "https://app.example.net/**", "myapp://callback",
		"https://{a,b}.example.edu/x?", "https://pr-[0-9][!a].example.edu/",
	})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{
		"https://example.org":                         true,
		"https://example.org/any/page?q=1#frag":       true,
		"http://example.org/":                         false, // another scheme
		"https://example.org:8443/":                   false, // another port
		"https://example.org.evil.example/":           false,
		"https://evil.example/?https://example.org":   false,
		"https://one.example.com/welcome":             true,
		"https://one.two.example.com/welcome":         false, // * does not cross a dot
		"https://one.example.com/welcome/more":        false,
		"https://app.example.net/deep/er?x=1":         true,
		"https://app.example.net@evil.example/":       false,
		"myapp://callback":                            true,
		"myapp://callback2":                           false,
		"https://a.example.edu/x1":                    true,
		"https://c.example.edu/x1":                    false,
		"https://pr-1b.example.edu/":                  true,
		"https://pr-1a.example.edu/":                  false,
		"http://127.0.0.1:3000/":                      true,
		"http://[::1]:3000/":                          true,
		"http://10.0.0.1/":                            false,
		"http://2130706433/":                          false, // 127.0.0.1 in decimal
		"https://app.example.net\\@evil.example/":     false,
		"javascript:alert(1)":                         false,
		"//evil.example/":                             false,
		"":                                            false,
		"https://ex\u0430mple.org/":                   false, // a Cyrillic letter
		"https://evil.example%2f.app.example.net/foo": false,
	} {
		if got := l.Allows(target); got != want {
			t.Errorf("%q: %v, want %v", target, got, want)
		}
	}
}

func TestGlobErrors(t *testing.T) {
	for _, glob := range []string{"https://[", "{a", "a}", `a\`} {
		if _, err := New("https://example.org", []string{glob}); err == nil {
			t.Errorf("%q is accepted", glob)
		}
	}
}

// FuzzAllows searches for allowed targets whose host is neither the site's, nor loopback, nor
// matched by the glob.
func FuzzAllows(f *testing.F) {
	for _, seed := range []string{"https://example.org/", "https://example.org@evil.example", `https:\\evil.example`,
		"http://[::1]/", "https://a.b.example.com/"} {
		f.Add(seed)
	}
	l, err := New("https://example.org", []string{"https://*.example.com/**"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, target string) {
		if !l.Allows(target) {
			return
		}
		u, err := url.Parse(target)
		if err != nil {
			t.Fatalf("%q is allowed but not a URL", target)
		}
		host := u.Hostname()
		if host != "example.org" && !strings.HasSuffix(host, ".example.com") && !isLoopbackName(host) &&
			!strings.HasPrefix(host, "127.") && !strings.Contains(host, ":") {
			t.Fatalf("%q is allowed", target)
		}
	})
}

func FuzzGlob(f *testing.F) {
	f.Add("https://*.example.com/**", "https://a.example.com/b")
	f.Fuzz(func(t *testing.T, glob, target string) {
		if l, err := New("https://example.org", []string{glob}); err == nil {
			l.Allows(target)
		}
	})
}
