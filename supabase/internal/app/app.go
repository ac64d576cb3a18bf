// Package app combines all parts into one running stack: configuration → Postgres → schema →
// services → gateway. It is the only package that knows every service. The end-to-end tests start
// the same App as the program.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/memory"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/gateway"

	"github.com/jackc/pgx/v5"
)

// Options describe a stack.
type Options struct {
	Config    *config.Config
	Data      string // data folder, absolute
	AnyPort   bool   // use a free port if another program uses a configured one, except for the public port
	Dev       bool   // reload functions, log all requests
	Project   fs.FS  // config.toml, migrations, seed
	Site      fs.FS  // the built site; nil for none
	AdminSite fs.FS  // the built application of the administrators; nil for none
	Postgres  func() (fs.FS, error)
	Functions map[string]edge.Func
	// folder of the module with the project's functions in Go, if they are not part of this program
	FunctionsDir string
	// the project is not that of this program
	Foreign       bool
	CleanBuckets  []CleanBucket // buckets of images without metadata
	FormErrorPage []byte        // see gateway.Options
	// of auth, by language and kind, besides the built-in English ones
	MailTexts map[string]map[string]MailText
	// the line of a notice that says how to find its row if there is no Studio; nil for none
	RowLink func(edge.Row) string
	// the same with the administrators' application at that address; nil for none
	AdminLink func(address string, row edge.Row) string
	// runs after the migrations as role postgres; nil for nothing
	Prepare func(ctx context.Context, conn *pgx.Conn, public bool) error
	Getenv  func(string) (string, bool)
	Version string
	Log     *slog.Logger
	Now     func() time.Time // nil means time.Now; decides what has expired
}

// App is one stack. Start it once, then Close it.
type App struct {
	options Options
	cfg     *config.Config
	data    string
	log     *slog.Logger

	closers      []closer
	database     *database
	pools        pools
	backupStatus *physical.Status
	describe     func() []Value // addresses and keys, as they are now
	// where an operator finds the values that the announcement omits; "" means `daawo status`
	rest     string
	failed   chan error    // the first failure of a part that should run until Close
	stop     chan struct{} // closed when the operator stops the stack
	stopOnce sync.Once
	began    time.Time
	took     atomic.Int64 // of the start, in ns; status may be asked before its end

	sockets    *handover.Sockets
	program    handover.Program // of the next process of an upgrade
	spawn      func(context.Context, handover.Program, any, *handover.Files) (*handover.Server, error)
	keeper     *handover.Keeper      // nil in the first process
	facts      facts                 // of the keeper
	lock       *os.File              // of the data folder, in the first process
	next       chan *handover.Server // the process that has replaced this one
	upgrading  sync.Mutex            // held during an upgrade
	ending     chan struct{}         // closed when Close begins
	endOnce    sync.Once
	standDowns []func()          // called when another process serves
	kept       int               // the closers of the parts that the first process keeps after an upgrade
	traces     *tracing.Provider // nil while traces are off
}

// closer stops one part. Closers run in reverse order.
type closer struct {
	name string
	run  func(context.Context) error
}

// New prepares a stack. Nothing happens before Start.
func New(o Options) *App {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &App{
		options: o, cfg: o.Config, data: o.Data, log: o.Log, failed: make(chan error, 1), stop: make(chan struct{}),
		backupStatus: &physical.Status{}, sockets: handover.NewSockets(), program: handover.This(), spawn: handover.Start,
		next: make(chan *handover.Server, 1), ending: make(chan struct{}),
	}
}

// Run starts the whole stack, calls ready, and serves until ctx ends, the operator stops it or a
// part fails permanently.
func (a *App) Run(ctx context.Context, ready func(Info)) error { return a.run(ctx, a.Start, ready) }

func (a *App) run(ctx context.Context, start func(context.Context) error, ready func(Info)) error {
	if err := start(ctx); err != nil {
		return err
	}
	ready(a.Info())
	var failure error
	alone := a.keeper.Alone()
wait:
	for {
		select {
		case <-ctx.Done():
		case <-a.stop:
		case <-a.keeper.Stopped():
		case failure = <-a.failed:
		case <-a.keeper.Gone():
			failure = handover.ErrEnded
		case <-a.keeper.Replaced():
			a.handovers().standDown()
		case next := <-a.next:
			return a.handovers().keep(ctx, next)
		case <-alone:
			alone = nil
			if err := a.backups().open(a.database); err != nil {
				a.log.Error("continuous backup does not start", "error", err)
			}
			continue
		}
		break wait
	}
	a.log.Info("stopping")
	return errors.Join(failure, a.Close(context.WithoutCancel(ctx)))
}

// startOrClose runs start and measures it. If start fails, all parts that were started are closed.
func (a *App) startOrClose(ctx context.Context, start func(context.Context) error) error {
	a.began = time.Now()
	memory.Limit(a.cfg.DatabaseURL == "")
	err := openTraces(ctx, a)
	if err == nil {
		err = start(ctx)
	}
	if err != nil {
		a.keeper.Failed(err)
		return errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	a.took.Store(int64(time.Since(a.began)))
	return nil
}

// openTraces begins to send traces, if an endpoint is set.
func openTraces(ctx context.Context, a *App) (err error) {
	exporter, err := openSpanExporter(ctx, a.cfg.TracesURL)
	if err != nil {
		return err
	}
	a.traces, err = tracing.Open(ctx, tracing.Options{Service: "daawo", Version: a.options.Version, Exporter: exporter})
	a.onClose("traces", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // the receiver may be away
		defer cancel()
		if err := a.traces.Close(ctx); err != nil {
			a.log.Warn("the last spans were not sent", "error", err)
		}
		return nil
	})
	return err
}

// Start returns when the whole stack serves.
func (a *App) Start(ctx context.Context) error { return a.startOrClose(ctx, a.startAll) }

func (a *App) startAll(ctx context.Context) error {
	for _, warning := range a.cfg.Warnings {
		a.log.Warn("config.toml", "problem", warning)
	}
	if err := errors.Join(a.cfg.CheckPublic(), a.cfg.CheckServices()); err != nil {
		return err
	}
	if err := a.handovers().open(); err != nil {
		return err
	}
	// First the port: if another program uses it, the start fails before Postgres is unpacked.
	front, err := a.openFront(a.plainHost())
	if err != nil {
		return err
	}
	sites := openSites(a, front.addresses)
	d, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	a.database, a.kept = d, len(a.closers)
	if err := d.migrateAll(ctx); err != nil {
		return err
	}
	s, err := a.openServices(ctx, d, front.addresses)
	if err != nil {
		return err
	}
	s.watchKeys()
	s.watchIssuer()
	if err := a.openGateway(ctx, front, s, sites); err != nil {
		return err
	}
	if a.keeper == nil { // otherwise the backup of the process before this one still runs
		if err := a.backups().open(d); err != nil {
			return err
		}
	}
	a.describe = s.values
	if err := s.openControl(); err != nil {
		return err
	}
	removeLeftFolders(a.log)
	return a.handovers().ready()
}

// openGateway serves the services and the site on the public ports.
func (a *App) openGateway(ctx context.Context, front *front, s *services, p *sites) error {
	p.publishableKey = s.publishableKey
	files, err := a.openSite(ctx, p, s)
	if err != nil {
		return err
	}
	admin, err := s.adminGateway(p)
	if err != nil {
		return err
	}
	p.compressLater(a)
	return front.open(ctx, a.traces.Handler(gateway.New(s.gatewayOptions(files))), admin)
}

// openControl listens for the commands of the operator.
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
		"/database/replaced": func(ctx context.Context) (any, error) { return struct{}{}, s.databaseReplaced(ctx) },
		"/upgrade":           func(ctx context.Context) (any, error) { return s.handovers().upgrade(ctx) },
		"/stop": func(context.Context) (any, error) {
			s.stopOnce.Do(func() { close(s.stop) })
			return struct{}{}, nil
		},
	}, s.control.handler())
	if err != nil {
		return err
	}
	s.onClose("control", c.close)
	return nil
}

// Info returns what `status` prints. It is complete after Start has returned.
func (a *App) Info() Info {
	info := Info{Version: a.options.Version, Data: a.data, Ready: fmt.Sprintf("%.2f s",
		time.Duration(a.took.Load()).Seconds()), Values: a.describe(), Rest: a.rest, Upgrade: a.keeper != nil}
	info.Demo = a.cfg.Loopback() && a.cfg.DatabaseURL == "" && info.Get("SECRET_KEY") == keys.Demo().Secret
	return info
}

// Close stops all parts, the newest first. It returns the errors of all parts.
func (a *App) Close(ctx context.Context) error {
	a.endOnce.Do(func() { close(a.ending) })
	return closeDownTo(ctx, a, 0)
}

// closeDownTo stops all parts except the n oldest.
func closeDownTo(ctx context.Context, a *App, n int) error {
	var errs []error
	for len(a.closers) > n {
		last := a.closers[len(a.closers)-1]
		a.closers[len(a.closers)-1] = closer{} // so that its memory becomes free
		a.closers = a.closers[:len(a.closers)-1]
		began := time.Now()
		err := last.run(ctx)
		a.log.Debug("part stopped", "part", last.name, "duration", time.Since(began))
		if err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", last.name, err))
		}
	}
	return errors.Join(errs...)
}

// background runs a part until the App closes: run returns when its context ends.
func background(a *App, name string, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	a.onClose(name, func(context.Context) error { cancel(); <-done; return nil })
}

// onClose adds a function that stops a part.
func (a *App) onClose(name string, run func(context.Context) error) {
	a.closers = append(a.closers, closer{name, run})
}

// fail makes Run return err, because a part stopped unexpectedly.
func (a *App) fail(err error) {
	select {
	case a.failed <- err:
	default: // Run returns the first failure
	}
}
