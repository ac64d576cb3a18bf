package standalone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime"
	"daawo/supabase/internal/engine/realtime/bus"
	"daawo/supabase/internal/engine/realtime/changes"
	"daawo/supabase/internal/engine/realtime/messages"
)

// maintainEvery is how often the partitions of realtime.messages are created and dropped.
const maintainEvery = 4 * time.Hour

// Run serves until ctx is done. It calls ready with the address once it listens.
func Run(ctx context.Context, c *Config, log *slog.Logger, ready func(net.Addr)) error {
	pool, err := pool.Open(ctx, pool.Config{URL: c.URL(), MaxConns: c.PoolSize, ApplicationName: "realtime", Log: log})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := schema(ctx, pool); err != nil {
		return err
	}
	store := messages.New(messages.Options{Pool: pool, Log: log})
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	stream, err := changes.Open(changes.Options{Pool: pool, ReplicationURL: c.URL(), Lenient: c.Lenient,
		Registerer: registry, Log: log})
	if err != nil {
		return err
	}
	o := c.options(log, registry)
	o.Changes, o.Messages = stream, store
	if c.NATSURL != "" {
		if o.Bus, err = bus.DialNATS(bus.NATSOptions{URL: c.NATSURL, Prefix: "realtime." + c.Tenant,
			Log: log}); err != nil {
			return err
		}
		defer o.Bus.Close()
	}
	engine, err := realtime.New(o)
	if err != nil {
		return err
	}
	stream.OnBroadcast(engine.FromDatabase, engine.Reverify)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	wait.Go(func() {
		if err := stream.Run(running); err != nil && !errors.Is(err, context.Canceled) {
			log.Error("changes of the database ended", "error", err)
		}
	})
	wait.Go(func() { maintain(running, store, log) })
	return c.serve(ctx, c.handler(engine, registry), engine, log, ready)
}

// options returns the engine's options without its parts.
func (c *Config) options(log *slog.Logger, registry *prometheus.Registry) realtime.Options {
	verifier := keys.NewVerifier(keys.Options{}, c.verifying()...)
	var admin []keys.Key
	for _, secret := range c.Admin {
		admin = append(admin, keys.Secret("", secret))
	}
	administrators := keys.NewVerifier(keys.Options{}, admin...)
	return realtime.Options{
		Verify: func(token string) (*keys.Claims, error) {
			claims, err := verifier.Verify(token)
			if err == nil {
				err = c.checkClaims(claims.Raw)
			}
			return claims, err
		},
		VerifyAdmin: func(token string) error {
			if c.Blocked[token] {
				return errors.New("the token is blocked")
			}
			_, err := administrators.Verify(token)
			return err
		},
		Settings: c.Settings, Tenant: realtime.Tenant{ID: c.Tenant, Database: c.Database},
		HandshakeErrorDelay: c.Handshake, JoinErrorDelay: c.Join, Registerer: registry, Log: log,
	}
}

// checkClaims checks the claims of JWT_CLAIM_VALIDATORS.
func (c *Config) checkClaims(raw json.RawMessage) error {
	if len(c.Claims) == 0 {
		return nil
	}
	var given map[string]any
	if err := json.Unmarshal(raw, &given); err != nil {
		return keys.ErrMalformed
	}
	for name, want := range c.Claims {
		if !reflect.DeepEqual(given[name], want) {
			return fmt.Errorf("%w: claim %s", keys.ErrMalformed, name)
		}
	}
	return nil
}

// handler adds the metrics, and CORS for pages of every origin, as upstream.
func (c *Config) handler(engine *realtime.Engine, registry *prometheus.Registry) http.Handler {
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	verifier := keys.NewVerifier(keys.Options{}, keys.Secret("", c.Metrics))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		token, ok := cutBearer(r.Header.Get("Authorization"))
		if _, err := verifier.Verify(token); !ok || err != nil {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		metrics.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok")) // the client may have disconnected
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS")
			w.Header().Set("Access-Control-Allow-Headers", "authorization, apikey, content-type, x-client-info")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		engine.ServeHTTP(w, r)
	})
	return mux
}

func cutBearer(header string) (token string, ok bool) {
	const prefix = "Bearer "
	if len(header) < len(prefix) || header[:len(prefix)] != prefix {
		return "", false
	}
	return header[len(prefix):], true
}

// serve serves HTTP until ctx is done, then closes the sockets.
func (c *Config) serve(ctx context.Context, h http.Handler, engine *realtime.Engine, log *slog.Logger,
	ready func(net.Addr)) error {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: max(c.MaxHeader, 4096), ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	ready(listener.Addr())
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(closing), engine.Close(closing))
}

// maintain keeps the partitions of realtime.messages until ctx ends.
func maintain(ctx context.Context, store *messages.Store, log *slog.Logger) {
	for {
		if err := store.Maintain(ctx); err != nil && ctx.Err() == nil {
			log.Warn("partitions of realtime.messages", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(maintainEvery):
		}
	}
}

// requiredMigration is the number of upstream's tenant migration that the engine needs at least.
// The schema that it makes has later ones.
const requiredMigration = 20260709120000

// examine reports whether the role may read the ledger of migrations, which upstream's own role for
// the schema may not, and whether the schema has what the last migrations made.
func examine(ctx context.Context, tx pgx.Tx) (readable, complete bool, err error) {
	err = tx.QueryRow(ctx, `
		select has_table_privilege('realtime.schema_migrations', 'select'),
		       to_regprocedure('realtime.send_binary(bytea, text, text, boolean)') is not null and exists (
		         select from pg_attribute
		         where attrelid = to_regclass('realtime.messages') and attname = 'binary_payload'
		             and not attisdropped)
		`).Scan(&readable, &complete)
	return readable, complete, err
}

// schema creates the schema in a database without it, as upstream's migrations of a tenant do. It
// returns an error if the schema is older than the engine needs. It accepts a newer schema.
func schema(ctx context.Context, db *pool.Pool) error {
	return db.Tx(ctx, pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			`select pg_advisory_xact_lock(hashtextextended('realtime.schema_migrations', 0))`); err != nil {
			return err
		}
		var present bool
		if err := tx.QueryRow(ctx,
			`select to_regclass('realtime.schema_migrations') is not null`).Scan(&present); err != nil {
			return err
		}
		if present {
			readable, complete, err := examine(ctx, tx)
			switch {
			case err != nil:
				return err
			case !readable && !complete:
				return errors.New("realtime schema is incomplete, and this role may not read its migrations: run " +
					"once with DB_USER=supabase_admin")
			case !readable:
				return nil
			}
			var last *int64
			if err := tx.QueryRow(ctx, `select max(version) from realtime.schema_migrations`).Scan(&last); err != nil {
				return err
			}
			if last != nil && *last < requiredMigration {
				return fmt.Errorf("realtime schema is at migration %d, but %d is required: run supabase/realtime "+
					"v2.129.8 or newer once to migrate it", *last, requiredMigration)
			}
			if last != nil {
				return nil
			}
		}
		return migrate.ExecPlatform(ctx, tx, "06_realtime.sql", "40_realtime*.sql")
	})
}
