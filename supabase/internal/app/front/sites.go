package front

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/memory"
	"daawo/supabase/internal/gateway/site"
)

// Sites are the site and the administrators' application. A goroutine fills in the values of their
// pages while the database starts.
type Sites struct {
	PublishableKey func() string // set it before the first request
	Texts          site.Texts    // of the site's pages; the same; nil for none
	installation.Installation
	sockets     *handover.Sockets
	foreign     bool // the site is of another build
	site, admin func() (*site.Site, error)
	served      []*site.Site // those whose files CompressLater compresses
}

// ReadSites begins to read the site and the administrators' application.
func ReadSites(in installation.Installation, sockets *handover.Sockets, at Addresses) *Sites {
	p := &Sites{Installation: in, sockets: sockets}
	key := func() string { return p.PublishableKey() }
	files := in.Site
	dir := in.Config.SiteDir
	if dir != "" {
		files, p.foreign = os.DirFS(dir), true
	}
	values := site.Values{"SITE_URL": at.Public}
	for _, v := range in.Config.PageValues {
		values[v.Variable] = v.Value
	}
	p.site = begin(func() (*site.Site, error) {
		if dir != "" {
			if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
				return nil, fmt.Errorf("site: %s has no index.html; build the site first, and name the folder of its files", dir)
			}
		}
		return readSite("site", site.Options{
			Files: files, Values: values, PublishableKey: key, Hosts: in.Config.TLSDomains, Foreign: p.foreign,
			Texts: func(ctx context.Context, keys []string) (map[string]string, error) {
				if p.Texts == nil {
					return nil, nil
				}
				return p.Texts(ctx, keys)
			},
		})
	})
	p.admin = begin(func() (*site.Site, error) {
		return readSite("administrators' application", site.Options{
			Files: in.AdminSite, Values: site.Values{"SITE_URL": at.Admin, "PUBLIC_URL": at.Public},
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

// Public returns the handler of the site, or fallback if there is none. CompressLater compresses
// its files.
func (p *Sites) Public(ctx context.Context, fallback http.Handler) (http.Handler, error) {
	files, err := p.site()
	if err != nil {
		return nil, err
	}
	if files == nil {
		return fallback, nil
	}
	if p.Dev && !p.foreign {
		return openVite(ctx, p.Installation, p.sockets, files)
	}
	p.served = append(p.served, files)
	return files, nil
}

// Admin returns the handler of the files of the administrators' application, or nil if there is
// none.
func (p *Sites) Admin() (http.Handler, error) {
	files, err := p.admin()
	if err != nil || files == nil {
		return nil, err
	}
	p.served = append(p.served, files)
	return files, nil
}

// CompressLater compresses the files of the sites in the background, a second after the start: one
// site after the other, so that requests have the other cores for themselves. Then it returns
// memory to the system and calls trim.
func (p *Sites) CompressLater(trim func(context.Context)) {
	p.Background("site", func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			for _, files := range p.served {
				files.Compress(ctx)
			}
			// The start and the compression used far more memory than serving needs.
			memory.Trim()
			trim(ctx)
		}
	})
}
