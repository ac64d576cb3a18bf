// Package site serves a built website: prerendered pages, scripts and pictures. At start it fills
// the placeholders of the pages with the values of this installation and compresses the files that
// the build has not compressed. It serves them from memory.
package site

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Options says what to serve.
type Options struct {
	// Files is the built site: index.html, assets/…. Files in assets have a hash in their name.
	// Beside such a file may be its compressed forms, NAME.br (Brotli) and NAME.gz (gzip).
	Files          fs.FS
	Values         Values // filled into the pages; SITE_URL is the public origin without a trailing slash
	PublishableKey func() string
	// Texts gives texts that change while the site is served: in pages __TEXT:KEY|DEFAULT__ stands
	// for the text of KEY, or for DEFAULT, which is HTML, without one. In all files
	// __TEXTS_VERSION__ changes with the texts. nil leaves the defaults.
	Texts Texts
	// names by which browsers may reach the site, besides SITE_URL's and loopback; without ports
	Hosts []string
	// Foreign serves the files of another build: a static site or a single-page application. Its
	// files are served as they are, pages may load from other origins, only names with a hash are
	// cached for long, and about.html answers /about. Without a 404.html, a path without a file
	// gets index.html, whose script shows the page.
	Foreign bool
}

// Site is the handler of everything that is not an API.
type Site struct {
	options Options
	assets  map[string]*asset // by path without the leading slash
	live    liveFiles
}

// New reads and fills every file.
func New(o Options) (*Site, error) {
	o.Values = maps.Clone(o.Values)
	if o.Values == nil {
		o.Values = Values{}
	}
	o.Values[textsVersion] = versionOf(nil)
	s := &Site{options: o, assets: map[string]*asset{}}
	more, err := additions(nil), error(nil)
	if !o.Foreign {
		if more, err = readAdditions(o.Files); err != nil {
			return nil, err
		}
	}
	err = fs.WalkDir(o.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(name) == ".keep" {
			return err
		}
		if o.Foreign {
			return s.addForeign(name)
		}
		return s.add(name, d, more)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// add reads a file. The walk is in the order of names, so a file comes before its compressed forms.
func (s *Site) add(name string, d fs.DirEntry, more additions) error {
	if name == additionsFile {
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	data, err := fs.ReadFile(s.options.Files, name)
	if err != nil {
		return err
	}
	c, asRead := s.formOf(name), true
	if c != nil {
		c.built = true
		c.kept.Store(&data)
	} else {
		a := newAsset(name, data, s.options.Values, nil, more)
		s.assets[name] = a
		s.live.add(name, data)
		c = &a.plain
		kept := *c.kept.Load()
		asRead = len(data) > 0 && len(kept) == len(data) && &kept[0] == &data[0]
	}
	if embedded := info.ModTime().IsZero(); embedded && asRead {
		c.read = func() ([]byte, error) { return fs.ReadFile(s.options.Files, name) }
		c.release()
	}
	return nil
}

// formOf returns where to put a compressed form that the build made, or nil if the file is
// something else.
func (s *Site) formOf(name string) *content {
	ext := path.Ext(name)
	a := s.assets[strings.TrimSuffix(name, ext)]
	if a == nil || !a.compressible() || !strings.HasPrefix(name, hashedFolder) {
		return nil
	}
	switch ext {
	case ".br":
		return &a.br
	case ".gz":
		return &a.gz
	}
	return nil
}

// addForeign reads a file of another build.
func (s *Site) addForeign(name string) error {
	if strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(name, ".well-known/") {
		return nil // such as .env and .DS_Store
	}
	data, err := fs.ReadFile(s.options.Files, name)
	if err != nil {
		return err
	}
	s.assets[name] = foreignAsset(name, data)
	return nil
}

// Compress compresses every file at the best level, until ctx ends. Requests before that get a
// faster compression.
func (s *Site) Compress(ctx context.Context) {
	for _, a := range s.assets {
		if ctx.Err() != nil {
			return
		}
		a.compressBest()
		a.plain.release()
	}
}

// ServeHTTP serves a file, redirects a page's address to the one with a trailing slash and without
// double ones, or serves the nearest 404.html.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a, status := s.find(w, r); a != nil {
		a.serve(w, r, status)
	}
}

// find returns the file for a request and the status of the reply, or nil if it has replied itself.
func (s *Site) find(w http.ResponseWriter, r *http.Request) (a *asset, status int) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return nil, 0
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "site.json" {
		s.describe(w, r)
		return nil, 0
	}
	if a, ok := s.assets[name]; ok && path.Base(name) != "index.html" && path.Base(name) != "404.html" {
		return s.present(r.Context(), name, a), http.StatusOK
	}
	sent := sentPath(r)
	if (name == "" || strings.HasSuffix(name, "/")) && !strings.Contains(sent, "//") {
		if a, ok := s.assets[name+"index.html"]; ok {
			return s.present(r.Context(), name+"index.html", a), http.StatusOK
		}
	}
	if to, ok := s.slashForm(strings.TrimPrefix(sent, "/")); ok {
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusPermanentRedirect)
		return nil, 0
	}
	if s.options.Foreign {
		if a := s.foreignPage(r, name); a != nil {
			return a, http.StatusOK
		}
	}
	if a := s.notFound(name); a != nil {
		return a, http.StatusNotFound
	}
	http.NotFound(w, r)
	return nil, 0
}

// sentPath returns the path as the client sent it: the gateway removes double slashes from the URL,
// but not from what the script of a page sees.
func sentPath(r *http.Request) string {
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil {
		return u.Path
	}
	return r.URL.Path
}

// slashes matches several slashes in a row.
var slashes = regexp.MustCompile("//+")

// slashForm returns the canonical address of a page that was requested without its slash, with
// several in a row, or by its file name.
func (s *Site) slashForm(name string) (string, bool) {
	dir := strings.Trim(slashes.ReplaceAllString(name, "/"), "/")
	if path.Base(dir) == "index.html" {
		dir = strings.TrimSuffix(strings.TrimSuffix(dir, "index.html"), "/")
	}
	if _, ok := s.assets[path.Join(dir, "index.html")]; !ok {
		return "", false
	}
	if dir == "" {
		return "/", true
	}
	return "/" + dir + "/", true
}

// notFound returns the nearest 404.html, in the folder of the requested path or above it, or nil.
func (s *Site) notFound(name string) *asset {
	for dir := path.Dir(path.Clean("/" + name)); ; dir = path.Dir(dir) {
		if a, ok := s.assets[strings.TrimPrefix(path.Join(dir, "404.html"), "/")]; ok {
			return a
		}
		if dir == "/" {
			return nil
		}
	}
}

// plainHost matches a name or an address with an optional port, without characters that change the
// meaning of a URL.
var plainHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)

// knows reports whether a host, with or without a port, is a configured name or loopback.
func (s *Site) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if ip, err := netip.ParseAddr(name); name == "localhost" || err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	site, err := url.Parse(s.options.Values["SITE_URL"])
	return err == nil && strings.EqualFold(site.Host, host) ||
		slices.ContainsFunc(s.options.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// describe serves /site.json, the arguments of supabase-js's createClient. The URL is the origin of
// the page, so that the browser stays on one origin, if its name is a configured one. For other
// names it is SITE_URL: no cache and no forged header can send the clients of a page to another
// host.
func (s *Site) describe(w http.ResponseWriter, r *http.Request) {
	proto := cmp.Or(r.Header.Get("X-Forwarded-Proto"), "http")
	host := cmp.Or(r.Header.Get("X-Forwarded-Host"), r.Host)
	address := proto + "://" + host
	if !plainHost.MatchString(host) || !s.knows(host) {
		address = s.options.Values["SITE_URL"]
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{ // the client may have disconnected
		"url":            address,
		"publishableKey": s.options.PublishableKey(),
	})
}
