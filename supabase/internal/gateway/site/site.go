// Package site serves the built website: prerendered pages in two languages, their scripts and pictures. What differs
// between installations is filled into the pages once, at start; they are compressed then and served from memory.
//
// Only app imports it; it imports nothing of ours.
package site

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
)

// Options says what to serve.
type Options struct {
	Files          fs.FS  // the built site: index.html, so/index.html, assets/…
	Values         Values // filled into the pages
	PublishableKey func() string
}

// Values are the placeholders of the pages. They must have passed config's validation: some stand inside scripts.
type Values struct {
	SiteURL      string // public origin without a trailing slash; replaces __SITE_URL__
	WhatsApp     string // digits; replaces __WHATSAPP_NUMBER__
	ContactEmail string // replaces __CONTACT_EMAIL__
	FacebookURL  string // replaces __FACEBOOK_URL__
}

// Site is the handler of everything that is not an API.
type Site struct {
	options Options
	assets  map[string]*asset // by path without the leading slash
}

// New reads and fills every file.
func New(o Options) (*Site, error) {
	s := &Site{options: o, assets: map[string]*asset{}}
	more, err := readAdditions(o.Files)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(o.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(name) == ".keep" || name == additionsFile {
			return err
		}
		data, err := fs.ReadFile(o.Files, name)
		if err != nil {
			return err
		}
		s.assets[name] = newAsset(name, data, o.Values, more)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Compress replaces the quick compression of the first requests by the best one, file by file, until ctx ends.
func (s *Site) Compress(ctx context.Context) {
	for _, a := range s.assets {
		if ctx.Err() != nil {
			return
		}
		a.compressBest()
	}
}

// ServeHTTP serves a file, redirects to the form with a slash, or shows the page for what is not there in the language
// of the path.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "site.json" {
		s.describe(w, r)
		return
	}
	if a, ok := s.assets[name]; ok && path.Base(name) != "index.html" && path.Base(name) != "404.html" {
		a.serve(w, r, http.StatusOK)
		return
	}
	if name == "" || strings.HasSuffix(name, "/") {
		if a, ok := s.assets[name+"index.html"]; ok {
			a.serve(w, r, http.StatusOK)
			return
		}
	} else if to, ok := s.slashForm(name); ok {
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	s.notFound(w, r, name)
}

// slashForm gives the address of a page that was asked for without its slash or by its file name.
func (s *Site) slashForm(name string) (string, bool) {
	dir := name
	if path.Base(name) == "index.html" {
		dir = strings.TrimSuffix(strings.TrimSuffix(name, "index.html"), "/")
	}
	if _, ok := s.assets[path.Join(dir, "index.html")]; !ok {
		return "", false
	}
	if dir == "" {
		return "/", true
	}
	return "/" + dir + "/", true
}

// notFound shows the 404 page of the language; below learn/ it is the one about guides.
func (s *Site) notFound(w http.ResponseWriter, r *http.Request, name string) {
	language, rest := "", name
	if after, ok := strings.CutPrefix(name, "so/"); ok {
		language, rest = "so/", after
	}
	candidates := []string{language + "404.html", "404.html"}
	if slug, ok := strings.CutPrefix(rest, "learn/"); ok && slug != "" && !strings.Contains(strings.TrimSuffix(slug, "/"), "/") {
		candidates = append([]string{language + "learn/404.html"}, candidates...)
	}
	for _, candidate := range candidates {
		if a, ok := s.assets[candidate]; ok {
			a.serve(w, r, http.StatusNotFound)
			return
		}
	}
	http.NotFound(w, r)
}

// plainHost is a name or an address with an optional port, and nothing that could change what a URL means.
var plainHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)

// describe answers /site.json: what supabase-js needs to be made. Its address is that of the page, so that a visitor
// stays on one origin whatever name the server was reached by.
func (s *Site) describe(w http.ResponseWriter, r *http.Request) {
	proto := r.Header.Get("X-Forwarded-Proto")
	if proto == "" {
		proto = "http"
	}
	host := r.Header.Get("X-Forwarded-Host")
	if host == "" {
		host = r.Host
	}
	address := proto + "://" + host
	if !plainHost.MatchString(host) {
		address = s.options.Values.SiteURL
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{ // the client may be gone
		"url":            address,
		"publishableKey": s.options.PublishableKey(),
	})
}
