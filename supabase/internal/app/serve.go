package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/gateway"
)

// RunGateway serves only the gateway and the site, in front of services that run elsewhere.
func (a *App) RunGateway(ctx context.Context, ready func(Info)) error {
	return a.run(ctx, func(ctx context.Context) error { return a.startOrClose(ctx, a.startGateway) }, ready)
}

func (a *App) startGateway(ctx context.Context) error {
	if !a.Config.Loopback() && a.Config.SiteURL == "" {
		return fmt.Errorf("SITE_URL: is required when %s; links in pages start with it", a.Config.Where())
	}
	if err := a.Config.CheckSecrets(); err != nil {
		return err
	}
	set, err := keyring.Load(ctx, a.Config, a.Data)
	if err != nil {
		return err
	}
	s := a.newServices(set, nil, front.Addresses{})
	for _, u := range []struct {
		name, target string
		to           *http.Handler
	}{
		{"auth", a.Config.AuthURL, &s.auth}, {"rest", a.Config.RESTURL, &s.rest},
		{"storage", a.Config.StorageURL, &s.storage}, {"functions", a.Config.FunctionsURL, &s.functions},
		{"meta", a.Config.MetaURL, &s.meta},
	} {
		if err := upstream(a.Installation, u.target, u.to); err != nil {
			return err
		}
		if u.target != "" && u.name != "meta" {
			s.ready[u.name] = reachable(u.target)
		}
	}
	s.functions = verified(s.Installation, s.keys, s.functions)
	if err := upstream(a.Installation, a.Config.RealtimeURL, &s.realtime); err != nil {
		return err
	}
	ports, err := front.Listen(a.Installation, a.process.Sockets, a.Config.Host)
	if err != nil {
		return err
	}
	s.Addresses = ports.Addresses
	if err := a.openGateway(ctx, ports, s,
		front.ReadSites(a.Installation, a.process.Sockets, ports.Addresses)); err != nil {
		return err
	}
	a.describe = func() []Value { return gatewayValues(a.Config, ports.Addresses, s.keys.Current()) }
	a.rest = "the keys and Studio's login are in .env"
	return nil
}

// reachable checks that something listens at a URL.
func reachable(target string) observe.Check {
	return func(ctx context.Context) error {
		u, err := url.Parse(target)
		if err != nil {
			return err
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// RunFunctions serves only the edge functions and runs their background jobs. It listens on PORT
// (9000).
func (a *App) RunFunctions(ctx context.Context, ready func(Info)) error {
	return a.run(ctx, func(ctx context.Context) error { return a.startOrClose(ctx, a.startFunctions) }, ready)
}

func (a *App) startFunctions(ctx context.Context) error {
	if a.Config.DatabaseURL == "" {
		return errors.New("DATABASE_URL: is required; functions use this database")
	}
	if err := a.Config.CheckPublic(); err != nil {
		return err
	}
	set, err := keyring.Load(ctx, a.Config, a.Data)
	if err != nil {
		return err
	}
	d, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	if err := pool.WithConn(ctx, d.URL("postgres"),
		func(conn *pgx.Conn) error { return d.MigrateOwn(ctx, conn) }); err != nil {
		return err
	}
	l, err := a.process.Sockets.Listen(handover.FunctionsSocket, a.Config.Host, a.Config.FunctionsPort, false)
	if err != nil {
		return err
	}
	a.OnClose("port", func(context.Context) error { _ = l.Close(); return nil }) // its server closes it as well
	at := front.Addresses{Public: front.PublicAddress(a.Config, int(a.Config.API.Port)), Admin: a.Config.AdminURL}
	at.Inside = cmp.Or(a.Config.InsideURL, at.Public)
	s := a.newServices(set, d, at)
	for _, open := range []func(context.Context) error{s.openMail, s.openOutbox, s.openFunctions, s.openMetrics} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	s.keys.Watch(s.Installation)
	s.keys.WatchIssuer(s.Installation)
	mux := http.NewServeMux()
	mux.Handle("GET /_internal/health", observe.Ready(s.ready))
	mux.Handle("GET /_internal/metric", s.metrics.Handler(a.Config.MetricsToken))
	mux.Handle("/", s.functions)
	// The gateway is the only client, so there is no limit per address.
	front.Serve(a.Installation, "functions' port", mux, l, gateway.ConnLimits{Total: front.MaxConnections}, nil)
	address := "http://" + net.JoinHostPort(a.Config.Host, strconv.Itoa(handover.Port(l)))
	a.describe = func() []Value { return []Value{value("FUNCTIONS_URL", "Functions", address)} }
	return nil
}
