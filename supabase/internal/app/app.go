// Package app combines all parts into one running stack: configuration → Postgres → schema →
// services → gateway. It is the only package that knows every service. The end-to-end tests start
// the same App as the program.
package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/app/lifecycle"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/memory"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/engine/storage"
	"daawo/supabase/internal/functions/jail"
	"daawo/supabase/internal/gateway"
)

// Options describe a stack.
type Options = installation.Options

// CleanBucket is a bucket of images without metadata.
type CleanBucket = installation.CleanBucket

// MailText is one of auth's mails in one language.
type MailText = installation.MailText

// Info holds the addresses and keys of a running stack.
type Info = installation.Info

// Value is one value of Info.
type Value = installation.Value

// App is one stack. Start it once, then Close it.
type App struct {
	installation.Installation
	process *lifecycle.Process

	database *database.Database
	pools    pools
	backups  backups
	logs     requestLogs
	describe func() []Value // addresses and keys, as they are now
	// where an operator finds the values that the announcement omits; "" means `daawo status`
	rest   string
	began  time.Time
	took   atomic.Int64      // of the start, in ns; status may be asked before its end
	traces *tracing.Provider // nil while traces are off
}

// New prepares a stack. Nothing happens before Start.
func New(o Options) *App {
	in := installation.New(o)
	a := &App{Installation: in, process: lifecycle.New(in), pools: pools{Installation: in}}
	a.backups = backups{in, &physical.Status{}, a.oneShot}
	return a
}

// Run starts the whole stack, calls ready, and serves until ctx ends, the operator stops it or a
// part fails permanently.
func (a *App) Run(ctx context.Context, ready func(Info)) error { return a.run(ctx, a.Start, ready) }

func (a *App) run(ctx context.Context, start func(context.Context) error, ready func(Info)) error {
	if err := start(ctx); err != nil {
		return err
	}
	ready(a.Info())
	return a.process.Serve(ctx, func() {
		if err := a.backups.open(a.database); err != nil {
			a.Log.Error("continuous backup does not start", "error", err)
		}
	})
}

// startOrClose runs start and measures it. If start fails, all parts that were started are closed.
func (a *App) startOrClose(ctx context.Context, start func(context.Context) error) error {
	a.began = time.Now()
	memory.Limit(a.Config.DatabaseURL == "")
	err := openTraces(ctx, a)
	if err == nil {
		err = start(ctx)
	}
	if err != nil {
		a.process.StartFailed(err)
		return errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	a.took.Store(int64(time.Since(a.began)))
	return nil
}

// Start returns when the whole stack serves, without functions that are still built from source.
func (a *App) Start(ctx context.Context) error { return a.startOrClose(ctx, a.startAll) }

func (a *App) startAll(ctx context.Context) error {
	for _, warning := range a.Config.Warnings {
		a.Log.Warn("config.toml", "problem", warning)
	}
	if err := errors.Join(a.Config.CheckPublic(), a.Config.CheckServices()); err != nil {
		return err
	}
	if err := a.process.Open(); err != nil {
		return err
	}
	// First the port: if another program uses it, the start fails before Postgres is unpacked.
	ports, err := front.Listen(a.Installation, a.process.Sockets, front.PlainHost(a.Config))
	if err != nil {
		return err
	}
	sites := front.ReadSites(a.Installation, a.process.Sockets, ports.Addresses)
	openLogs(a)
	d, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	a.database = d
	a.process.KeepParts(d.TLSPort())
	if !a.process.Replaces() { // otherwise that process still serves it
		if err := serveHTTP(a, d, ports.Addresses); err != nil {
			return err
		}
	}
	if err := a.migrateAll(ctx, d); err != nil {
		return err
	}
	s, err := a.openServices(ctx, d, ports.Addresses)
	if err != nil {
		return err
	}
	s.keys.Watch(s.Installation)
	s.keys.WatchIssuer(s.Installation)
	if err := a.openGateway(ctx, ports, s, sites); err != nil {
		return err
	}
	if !a.process.Replaces() { // otherwise the backup of the process before this one still runs
		if err := a.backups.open(d); err != nil {
			return err
		}
	}
	a.describe = s.values
	if err := a.openControl(s); err != nil {
		return err
	}
	control.RemoveLeftFolders(a.Log)
	if a.process.Replaces() {
		if err := serveHTTP(a, d, ports.Addresses); err != nil {
			return err
		}
	}
	return a.process.Ready(time.Since(a.began))
}

// openGateway serves the services and the site on the public ports.
func (a *App) openGateway(ctx context.Context, ports *front.Front, s *services, sites *front.Sites) error {
	sites.PublishableKey, sites.Texts = s.publishableKey, pageTexts(s)
	files, err := sites.Public(ctx, front.ServeStartPage(s.Config.Loopback(), startPage{s}.content))
	if err != nil {
		return err
	}
	admin, err := s.adminGateway(sites)
	if err != nil {
		return err
	}
	if err := openStudio(s); err != nil {
		return err
	}
	s.logs.read(s)
	h := front.Handlers{Gateway: a.traces.Handler(gateway.New(s.gatewayOptions(files))), Admin: admin, Studio: s.studio,
		StudioSignIn: s.newStudioAccounts()}
	sites.CompressLater(a.pools.closeIdle)
	return ports.Start(ctx, h)
}

// openControl listens for the commands of the operator.
func (a *App) openControl(s *services) error {
	c, err := control.Start(s.Data, map[string]func(context.Context) (any, error){
		"/functions/logs": func(context.Context) (any, error) { return s.journal.Lines(), nil },
		"/notify/test":    func(ctx context.Context) (any, error) { return testNotice(ctx, s.outbox) },
		"/status": func(context.Context) (any, error) {
			info := a.Info()
			if engine, ok := s.storage.(*storage.Engine); ok {
				info.ForeignFiles = engine.ForeignFiles()
			}
			return info, nil
		},
		"/keys/reload": func(ctx context.Context) (any, error) {
			set, err := keyring.Load(ctx, s.Config, s.Data)
			if err == nil {
				s.keys.Learn(set)
				s.keys.Use()
			}
			return struct{}{}, err
		},
		"/database/replaced": func(ctx context.Context) (any, error) { return struct{}{}, s.databaseReplaced(ctx) },
		"/upgrade":           func(ctx context.Context) (any, error) { return a.process.Upgrade(ctx) },
		"/stop": func(context.Context) (any, error) {
			a.process.Stop()
			return struct{}{}, nil
		},
	}, s.control.Handler())
	if err != nil {
		return err
	}
	s.OnClose("control", c.Close)
	return nil
}

// Info returns what `status` prints. It is complete after Start has returned.
func (a *App) Info() Info {
	info := Info{Version: a.Version, Data: a.Data, Ready: fmt.Sprintf("%.2f s",
		time.Duration(a.took.Load()).Seconds()), Values: a.describe(), Rest: a.rest, Upgrade: a.process.Replaces(),
		Lacks: jail.Check().Lacks()}
	info.Demo = a.Config.Loopback() && a.Config.DatabaseURL == "" && info.Get("SECRET_KEY") == keys.Demo().Secret
	return info
}

// Close stops all parts, the newest first. It returns the errors of all parts.
func (a *App) Close(ctx context.Context) error { return a.process.Close(ctx) }
