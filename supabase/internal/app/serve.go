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

	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/gateway"
)

// RunGateway serves only the gateway and the site, in front of services that run elsewhere.
func (a *App) RunGateway(ctx context.Context, ready func(Info)) error {
	return a.run(ctx, func(ctx context.Context) error { return a.startOrClose(ctx, a.startGateway) }, ready)
}

func (a *App) startGateway(ctx context.Context) error {
	if !a.cfg.Loopback() && a.cfg.SiteURL == "" {
		return fmt.Errorf("SITE_URL: is required when %s; links in pages start with it", a.cfg.Where())
	}
	if err := a.cfg.CheckSecrets(); err != nil {
		return err
	}
	set, err := LoadKeys(ctx, a.cfg, a.data)
	if err != nil {
		return err
	}
	s := a.newServices(set, nil, addresses{})
	for _, u := range []struct {
		name, target string
		to           *http.Handler
	}{
		{"auth", a.cfg.AuthURL, &s.auth}, {"rest", a.cfg.RESTURL, &s.rest}, {"storage", a.cfg.StorageURL, &s.storage},
		{"functions", a.cfg.FunctionsURL, &s.functions}, {"meta", a.cfg.MetaURL, &s.meta},
	} {
		if err := a.upstream(u.target, u.to); err != nil {
			return err
		}
		if u.target != "" && u.name != "meta" {
			s.ready[u.name] = reachable(u.target)
		}
	}
	s.functions = verified(s, s.functions)
	if err := a.upstream(a.cfg.RealtimeURL, &s.realtime); err != nil {
		return err
	}
	front, err := a.openFront(a.cfg.Host)
	if err != nil {
		return err
	}
	s.addresses = front.addresses
	if err := a.openGateway(ctx, front, s, openSites(a, front.addresses)); err != nil {
		return err
	}
	a.describe = func() []Value { return gatewayValues(a.cfg, front.addresses, s.keys.current()) }
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
	if a.cfg.DatabaseURL == "" {
		return errors.New("DATABASE_URL: is required; functions use this database")
	}
	if err := a.cfg.CheckPublic(); err != nil {
		return err
	}
	set, err := LoadKeys(ctx, a.cfg, a.data)
	if err != nil {
		return err
	}
	d, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	if err := withConn(ctx, d.url("postgres"),
		func(conn *pgx.Conn) error { return d.migrateOwn(ctx, conn) }); err != nil {
		return err
	}
	l, err := listen(a, functionsSocket, a.cfg.Host, a.cfg.FunctionsPort, false)
	if err != nil {
		return err
	}
	a.onClose("port", func(context.Context) error { _ = l.Close(); return nil }) // its server closes it as well
	at := addresses{public: publicAddress(a.cfg, int(a.cfg.API.Port)), admin: a.cfg.AdminURL}
	at.inside = cmp.Or(a.cfg.InsideURL, at.public)
	s := a.newServices(set, d, at)
	for _, open := range []func(context.Context) error{s.openMail, s.openOutbox, s.openFunctions, s.openMetrics} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	s.watchKeys()
	s.watchIssuer()
	mux := http.NewServeMux()
	mux.Handle("GET /_internal/health", observe.Ready(s.ready))
	mux.Handle("GET /_internal/metric", s.metrics.Handler(a.cfg.MetricsToken))
	mux.Handle("/", s.functions)
	// The gateway is the only client, so there is no limit per address.
	serveUntilClose(a, "functions' port", httpServer(mux, a.log), l, gateway.ConnLimits{Total: maxConnections}, nil)
	address := "http://" + net.JoinHostPort(a.cfg.Host, strconv.Itoa(portOf(l)))
	a.describe = func() []Value { return []Value{{"FUNCTIONS_URL", "Functions", address}} }
	return nil
}
