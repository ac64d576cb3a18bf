package gotrue

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth"
)

// keyring returns the keys of the settings, which do not change while the server runs.
type keyring struct{ s settings }

func (k keyring) Signer() keys.Key      { return k.s.Signer }
func (k keyring) Verifying() []keys.Key { return k.s.Verifying }

// direct sends mail within the request, as GoTrue does; there is no outbox. The transaction waits
// for the mail server, so a one-time token is stored only if the server accepts its mail.
type direct struct{ server mail.Server }

func (d direct) SendMail(ctx context.Context, _ pgx.Tx, m mail.Message) error {
	if err := d.server.Send(ctx, m); err != nil {
		return auth.Undelivered{Cause: err}
	}
	return nil
}

// noMail takes every mail and sends none, as GoTrue does without a mail server.
type noMail struct{}

func (noMail) SendMail(context.Context, pgx.Tx, mail.Message) error { return nil }

// mailer returns the Mailer for the mail server, if there is one. sends reports whether it sends
// within the request.
func mailer(server *mail.Server, log *slog.Logger) (m auth.Mailer, sends bool) {
	if server == nil {
		log.Warn("no mail is sent: GOTRUE_SMTP_HOST is not set")
		return noMail{}, false
	}
	return direct{*server}, true
}

// checkTimeout bounds the check of the mail server at the start.
const checkTimeout = 10 * time.Second

// checkMail warns if the mail server cannot be used as configured.
func checkMail(ctx context.Context, server mail.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	server.Timeout = checkTimeout
	authenticated, err := server.Check(ctx)
	switch {
	case ctx.Err() != nil && err != nil:
	case err != nil:
		log.Warn("mail server cannot be used", "error", err)
	case server.User != "" && !authenticated:
		log.Warn("mail server offers no authentication; GOTRUE_SMTP_USER has no effect", "host", server.Host)
	}
}

// Run serves the auth API until ctx ends.
func Run(ctx context.Context, getenv func(string) (string, bool), environ []string, log *slog.Logger) error {
	s, err := fromEnv(getenv, environ)
	if err != nil {
		return err
	}
	if len(s.Unread) > 0 {
		log.Warn("variables without effect; docs/auth.md lists the supported ones", "names", s.Unread)
	}
	if err := prepare(ctx, &s, log); err != nil {
		return err
	}
	pool, err := pool.Open(ctx,
		pool.Config{URL: s.DatabaseURL, MaxConns: int32(max(s.MaxConns, 1)), ApplicationName: "daawo-auth", Log: log})
	if err != nil {
		return err
	}
	defer pool.Close()
	o := auth.Options{DB: pool, Keys: keyring{s}, Config: s.Auth, SMS: s.SMS, Log: log,
		RequestIDHeader: s.RequestIDHeader}
	o.Mailer, o.DirectMail = mailer(s.SMTP, log)
	engine, err := auth.New(o)
	if err != nil {
		return err
	}
	first := s.Templates.refresh(ctx, engine.ReplaceMailTemplate)
	background, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	defer done.Wait()
	defer stop()
	if s.Sweeps {
		done.Go(func() { sweep(background, engine, log) })
	}
	if len(s.Templates.urls) > 0 {
		done.Go(func() { s.Templates.keep(background, first, engine.ReplaceMailTemplate, log) })
	}
	if s.SMTP != nil {
		done.Go(func() { checkMail(background, *s.SMTP, log) })
	}
	var handler http.Handler = engine
	if s.ForwardedFor {
		handler = withForwardedFor(handler, s.Auth.Limits.Header)
	}
	server := &http.Server{Handler: withCORS(handler, s.AllowedHeaders), ReadHeaderTimeout: 2 * time.Second,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	listener, err := net.Listen("tcp", net.JoinHostPort(s.Host, s.Port))
	if err != nil {
		return err
	}
	log.Info("auth API started", "address", listener.Addr().String())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	shut, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = server.Shutdown(shut)
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// sweep deletes expired rows at the start and every hour, until ctx ends.
func sweep(ctx context.Context, engine *auth.Handler, log *slog.Logger) {
	for hourly := time.NewTicker(time.Hour); ; {
		if err := engine.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.Warn("cannot delete expired rows", "error", err)
		}
		select {
		case <-hourly.C:
		case <-ctx.Done():
			hourly.Stop()
			return
		}
	}
}

// corsMethods are the methods that CORS allows.
var corsMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// withCORS sets the CORS headers as GoTrue does without a gateway. It does not allow apikey, a
// header of the gateway.
func withCORS(next http.Handler, more []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h := w.Header()
			h.Add("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
			if origin != "" && slices.Contains(corsMethods, r.Header.Get("Access-Control-Request-Method")) &&
				allowed(r.Header.Get("Access-Control-Request-Headers"), more) {
				h.Set("Access-Control-Allow-Origin", "*")
				h.Set("Access-Control-Allow-Methods", r.Header.Get("Access-Control-Request-Method"))
				if requested := r.Header.Get("Access-Control-Request-Headers"); requested != "" {
					h.Set("Access-Control-Allow-Headers", requested)
				}
				h.Set("Access-Control-Allow-Credentials", "true")
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if origin != "" {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Expose-Headers", "X-Total-Count, Link, X-Supabase-Api-Version")
			h.Set("Access-Control-Allow-Credentials", "true")
		}
		next.ServeHTTP(w, r)
	})
}

// allowed reports whether CORS allows all requested headers: GoTrue's own and those in more.
func allowed(requested string, more []string) bool {
	known := []string{
		"accept", "authorization", "content-type", "x-client-ip", "x-client-info", "x-jwt-aud", "x-use-cookie",
		"x-supabase-api-version",
	}
	for name := range strings.SplitSeq(requested, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		same := func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), name) }
		if name != "" && !slices.Contains(known, name) && !slices.ContainsFunc(more, same) {
			return false
		}
	}
	return true
}
