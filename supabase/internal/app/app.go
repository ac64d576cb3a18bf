// Package app makes one running stack of all the parts: configuration → Postgres → schema → services → gateway. It is
// the only package that knows every service; the end-to-end tests start the same App as the program does.
//
// Only cli and tests import it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/config"
	"daawo/supabase/internal/gateway"
	"daawo/supabase/internal/gateway/site"
	"daawo/supabase/internal/keys"
)

// Options say what to run.
type Options struct {
	Config        *config.Config
	Data          string // data folder, absolute
	AnyPort       bool   // a port that is taken may be replaced by a free one, except the public one
	Dev           bool   // reload functions, log requests
	Project       fs.FS  // config.toml, migrations, seed
	Site          fs.FS  // the built site
	Postgres      func() (fs.FS, error)
	Functions     map[string]edge.Func
	FormErrorPage []byte                // see gateway.Options
	RowLink       func(edge.Row) string // the line of a notice that leads to its row when there is no Studio; may be nil
	Getenv        func(string) (string, bool)
	Version       string
	Log           *slog.Logger
	Now           func() time.Time // nil means time.Now; what has a time to live is judged by it
}

// App is one stack. Start it once, then Close it.
type App struct {
	options Options
	cfg     *config.Config
	data    string
	log     *slog.Logger

	closers  []closer
	describe func() []Value // addresses and keys, as they are now
	rest     string         // where an operator finds the values that the announcement leaves out; "" is `daawo status`
	ended    chan error     // the first failure of a part that should not end
	stop     chan struct{}  // closed when the operator asks for the end
	stopped  sync.Once
	begun    time.Time
	took     time.Duration // of the start
}

// closer ends one part; they run in the reverse order of their making.
type closer struct {
	name string
	end  func(context.Context) error
}

// New prepares a stack. Nothing happens before Start.
func New(o Options) *App {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &App{options: o, cfg: o.Config, data: o.Data, log: o.Log, ended: make(chan error, 1), stop: make(chan struct{})}
}

// Run starts the whole stack, reports readiness, and serves until ctx ends, the operator stops it or a part fails for
// good.
func (a *App) Run(ctx context.Context, ready func(Info)) error { return a.run(ctx, a.Start, ready) }

func (a *App) run(ctx context.Context, start func(context.Context) error, ready func(Info)) error {
	if err := start(ctx); err != nil {
		return err
	}
	ready(a.Info())
	var failure error
	select {
	case <-ctx.Done():
	case <-a.stop:
	case failure = <-a.ended:
	}
	a.log.Info("stopping")
	return errors.Join(failure, a.Close(context.WithoutCancel(ctx)))
}

// begin runs a start; when it fails, what was started is ended again.
func (a *App) begin(ctx context.Context, start func(context.Context) error) error {
	a.begun = time.Now()
	if err := start(ctx); err != nil {
		return errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	a.took = time.Since(a.begun)
	return nil
}

// Start returns when the whole stack serves.
func (a *App) Start(ctx context.Context) error { return a.begin(ctx, a.startAll) }

func (a *App) startAll(ctx context.Context) error {
	if err := errors.Join(a.cfg.CheckPublic(), a.cfg.CheckServices()); err != nil {
		return err
	}
	lock, err := lockData(a.data)
	if err != nil {
		return err
	}
	a.onClose("data folder", func(context.Context) error { return lock.Close() })
	// The port is taken first: that it is not free should be known before anything is unpacked.
	front, err := a.openFront(a.plainHost())
	if err != nil {
		return err
	}
	d, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	if err := d.migrateAll(ctx); err != nil {
		return err
	}
	s, err := a.openServices(ctx, d, front.addresses)
	if err != nil {
		return err
	}
	s.watchKeys()
	if err := a.openGateway(ctx, front, s); err != nil {
		return err
	}
	if err := a.backups().open(d); err != nil {
		return err
	}
	a.describe = s.values
	return s.openControl()
}

// openGateway serves the services and the site at the front.
func (a *App) openGateway(ctx context.Context, front *front, s *services) error {
	files, err := a.openSite(ctx, front.public, s)
	if err != nil {
		return err
	}
	return front.open(ctx, gateway.New(s.gatewayOptions(files)))
}

// openSite fills the pages and compresses them once the start is over.
func (a *App) openSite(ctx context.Context, address string, s *services) (http.Handler, error) {
	if a.options.Site == nil {
		return noSite(address), nil
	}
	values := site.Values{"SITE_URL": address}
	for _, v := range a.cfg.PageValues {
		values[v.Variable] = v.Value
	}
	files, err := site.New(site.Options{
		Files:          a.options.Site,
		Values:         values,
		PublishableKey: s.publishableKey,
	})
	if err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	if a.options.Dev {
		return a.openVite(ctx, files)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			files.Compress(ctx)
			trim() // the start and the compression have left far more than serving needs
		}
	}()
	a.onClose("site", func(context.Context) error { cancel(); <-done; return nil })
	return files, nil
}

func (s *services) openControl() error {
	c, err := openControl(s.data, map[string]func(context.Context) (any, error){
		"/functions/logs": func(context.Context) (any, error) { return s.journal.Lines(), nil },
		"/notify/test":    func(ctx context.Context) (any, error) { return testNotice(ctx, s.outbox) },
		"/status":         func(context.Context) (any, error) { return s.Info(), nil },
		"/keys/reload": func(ctx context.Context) (any, error) {
			set, err := LoadKeys(ctx, s.cfg, s.data)
			if err == nil {
				s.keys.learn(set)
				s.keys.use()
			}
			return struct{}{}, err
		},
		"/stop": func(context.Context) (any, error) {
			s.stopped.Do(func() { close(s.stop) })
			return struct{}{}, nil
		},
	})
	if err != nil {
		return err
	}
	s.onClose("control", c.close)
	return nil
}

// Info is what `status` prints. It is complete once Start has returned.
func (a *App) Info() Info {
	info := Info{Version: a.options.Version, Data: a.data, Ready: fmt.Sprintf("%.2f s", a.took.Seconds()), Values: a.describe(), Rest: a.rest}
	info.Known = a.cfg.Loopback() && a.cfg.DatabaseURL == "" && info.Get("SECRET_KEY") == keys.Demo().Secret
	return info
}

// Close ends every part, the newest first, and reports what could not be ended in order.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	for len(a.closers) > 0 {
		last := a.closers[len(a.closers)-1]
		a.closers = a.closers[:len(a.closers)-1]
		if err := last.end(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", last.name, err))
		}
	}
	return errors.Join(errs...)
}

func (a *App) onClose(name string, end func(context.Context) error) {
	a.closers = append(a.closers, closer{name, end})
}

// fail ends the stack because a part that should go on has ended.
func (a *App) fail(err error) {
	select {
	case a.ended <- err:
	default: // the first failure is the one that is told
	}
}
