package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"daawo/supabase/internal/gateway/site"
)

// sites are the site and the administrators' application. A goroutine fills in the values of their
// pages while the database starts.
type sites struct {
	publishableKey func() string // set before the first request
	foreign        bool          // the site is of another build
	site, admin    func() (*site.Site, error)
	served         []*site.Site // those whose files compressLater compresses
}

// openSites begins to read the site and the administrators' application.
func openSites(a *App, at addresses) *sites {
	p := &sites{}
	key := func() string { return p.publishableKey() }
	files := a.options.Site
	dir := a.cfg.SiteDir
	if dir != "" {
		files, p.foreign = os.DirFS(dir), true
	}
	values := site.Values{"SITE_URL": at.public}
	for _, v := range a.cfg.PageValues {
		values[v.Variable] = v.Value
	}
	p.site = begin(func() (*site.Site, error) {
		if dir != "" {
			if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
				return nil, fmt.Errorf("site: %s has no index.html; build the site first, and name the folder of its files", dir)
			}
		}
		return readSite("site", site.Options{
			Files: files, Values: values, PublishableKey: key, Hosts: a.cfg.TLSDomains, Foreign: p.foreign,
		})
	})
	p.admin = begin(func() (*site.Site, error) {
		return readSite("administrators' application", site.Options{
			Files: a.options.AdminSite, Values: site.Values{"SITE_URL": at.admin, "PUBLIC_URL": at.public},
			PublishableKey: key,
		})
	})
	return p
}

// readSite returns nil if there are no files.
func readSite(name string, o site.Options) (*site.Site, error) {
	if o.Files == nil {
		return nil, nil
	}
	files, err := site.New(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return files, nil
}

// begin calls f in a goroutine. The function that it returns waits for the result.
func begin[T any](f func() (T, error)) (result func() (T, error)) {
	var value T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = f()
	}()
	return func() (T, error) {
		<-done
		return value, err
	}
}

// openSite returns the handler of the site. Its files are compressed after the start.
func (a *App) openSite(ctx context.Context, p *sites, s *services) (http.Handler, error) {
	files, err := p.site()
	if err != nil {
		return nil, err
	}
	if files == nil {
		return noSite(s), nil
	}
	if a.options.Dev && !p.foreign {
		return a.openVite(ctx, files)
	}
	p.served = append(p.served, files)
	return files, nil
}

// compressLater compresses the files of the sites in the background, a second after the start: one
// site after the other, so that requests have the other cores for themselves.
func (p *sites) compressLater(a *App) {
	background(a, "site", func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			for _, files := range p.served {
				files.Compress(ctx)
			}
			// The start and the compression used far more memory than serving needs.
			debug.FreeOSMemory()
			a.pools.closeIdle(ctx)
		}
	})
}
