package gotrue

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/mail"
)

// signingSet reads a JWK set and picks the key whose key_ops allow signing; the first private one when none says so.
func signingSet(text string) ([]keys.Key, keys.Key, error) {
	all, err := keys.ParseSet(text)
	if err != nil {
		return nil, keys.Key{}, err
	}
	var marks []struct {
		ID  string   `json:"kid"`
		Ops []string `json:"key_ops"`
	}
	_ = json.Unmarshal([]byte(text), &marks) // a set in an object has no marks that are read
	for i, k := range all {
		if k.CanSign() && i < len(marks) && slices.Contains(marks[i].Ops, "sign") {
			return all, k, nil
		}
	}
	for _, k := range all {
		if k.CanSign() {
			return all, k, nil
		}
	}
	return nil, keys.Key{}, errors.New("no key can sign")
}

// keyring is the Settings' keys; they do not change while the server runs.
type keyring struct{ s Settings }

func (k keyring) Signer() keys.Key      { return k.s.Signer }
func (k keyring) Verifying() []keys.Key { return k.s.Verifying }

// direct sends mail at once, as GoTrue does; there is no outbox here. The transaction waits for the mail server, so that a
// proof is stored only when its mail was taken.
type direct struct{ server mail.Server }

func (d direct) SendMail(ctx context.Context, _ pgx.Tx, m mail.Message) error {
	if err := d.server.Send(ctx, m); err != nil {
		return auth.Undelivered{Cause: err}
	}
	return nil
}

// Run serves until ctx ends.
func Run(ctx context.Context, getenv func(string) (string, bool), environ []string, log *slog.Logger) error {
	s, err := FromEnv(getenv, environ)
	if err != nil {
		return err
	}
	if len(s.Unread) > 0 {
		log.Warn("these variables have no effect here; docs/auth.md lists those that have", "names", s.Unread)
	}
	if err := prepare(ctx, &s, log); err != nil {
		return err
	}
	pool, err := db.Open(ctx, db.Config{URL: s.DatabaseURL, MaxConns: int32(max(s.MaxConns, 1)), ApplicationName: "daawo-auth", Log: log})
	if err != nil {
		return err
	}
	defer pool.Close()
	o := auth.Options{DB: pool, Keys: keyring{s}, Config: s.Auth, SMS: s.SMS, Log: log}
	if s.SMTP != nil {
		o.Mailer, o.DirectMail = direct{*s.SMTP}, true
	}
	engine, err := auth.New(o)
	if err != nil {
		return err
	}
	if s.Sweeps {
		sweeping, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { sweep(sweeping, engine, log) })
		defer done.Wait()
		defer stop()
	}
	server := &http.Server{Handler: withCORS(engine, s.AllowedHeaders), ReadHeaderTimeout: 2 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
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

// sweep removes what ended long ago: at the start and every hour, until ctx ends.
func sweep(ctx context.Context, engine *auth.Handler, log *slog.Logger) {
	for hourly := time.NewTicker(time.Hour); ; {
		if err := engine.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.Warn("what ended long ago could not be removed", "error", err)
		}
		select {
		case <-hourly.C:
		case <-ctx.Done():
			hourly.Stop()
			return
		}
	}
}

// withCORS answers browsers as GoTrue alone does. It does not allow apikey: that header is a gateway's.
func withCORS(next http.Handler, more []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h := w.Header()
			h.Add("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
			if origin != "" && allowed(r.Header.Get("Access-Control-Request-Headers"), more) {
				h.Set("Access-Control-Allow-Origin", "*")
				h.Set("Access-Control-Allow-Methods", r.Header.Get("Access-Control-Request-Method"))
				if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
					h.Set("Access-Control-Allow-Headers", asked)
				}
				h.Set("Access-Control-Allow-Credentials", "true")
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if origin != "" {
			h := w.Header()
			h.Add("Vary", "Origin")
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Expose-Headers", "X-Total-Count, Link, X-Supabase-Api-Version")
			h.Set("Access-Control-Allow-Credentials", "true")
		}
		next.ServeHTTP(w, r)
	})
}

// allowed says whether a browser may send all of these headers.
func allowed(asked string, more []string) bool {
	known := []string{
		"accept", "authorization", "content-type", "x-client-ip", "x-client-info", "x-jwt-aud", "x-use-cookie", "x-supabase-api-version",
	}
	for name := range strings.SplitSeq(asked, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		its := func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), name) }
		if name != "" && !slices.Contains(known, name) && !slices.ContainsFunc(more, its) {
			return false
		}
	}
	return true
}
